// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// Judging is the stored description of a judge's run.
type Judging struct {
	Judge judge.Judge `json:"judge"`
	// Identity is that of the judge with its model, as labels and calibrations have it.
	Identity labels.Judge `json:"identity"`
	// About is the run or the file that was judged, Version counts judgings of it by this
	// very judge, from 1.
	About   string `json:"about"`
	Version int    `json:"version"`
	// Against is the run or the file whose attempts it was compared with; "": none.
	Against string `json:"against,omitempty"`
	// Under is that of the request. Skipped counts attempts that were not asked about, by
	// the reason.
	Under   *float64       `json:"under,omitempty"`
	Skipped map[string]int `json:"skipped,omitempty"`
	// Audit is there when the attempts were changed to see whether that moves the judge.
	Audit *AuditPlan `json:"audit,omitempty"`
	// Live: attempts are judged while others run; the judging has answers, and no questions yet.
	Live bool `json:"live,omitempty"`
}

// identity is what makes the judge with its model another one when it changes.
func identity(j *judge.Judge, t *callvet.Target, samples int) labels.Judge {
	out := labels.Judge{
		Name: j.Name, Model: t.Name, PromptHash: j.Hash(), Threshold: j.Threshold,
		Params: map[string]float64{"samples": float64(max(samples, 1))},
	}
	p := &t.Params
	put := func(name string, v *float64) {
		if v != nil {
			out.Params[name] = *v
		}
	}
	put("temperature", p.Temperature)
	put("top_p", p.TopP)
	if p.MaxTokens != nil {
		out.Params["max_tokens"] = float64(*p.MaxTokens)
	}
	if p.Seed != nil {
		out.Params["seed"] = float64(*p.Seed)
	}
	if p.ReasoningEffort != "" || len(p.Stop) > 0 || len(p.Extra) > 0 {
		b, err := json.Marshal([]any{out.PromptHash, p.ReasoningEffort, p.Stop, p.Extra})
		if err != nil {
			panic(err) // they were checked to be JSON
		}
		sum := sha256.Sum256(b)
		out.PromptHash = hex.EncodeToString(sum[:8])
	}
	return out
}

// RunRequest is what the request asks of a run.
func (q *JudgeRequest) RunRequest() *RunRequest {
	return &RunRequest{Repeats: q.Samples, Keep: q.Keep, Prices: q.Prices, NoCache: q.NoCache, Settings: q.Settings}
}

// openJudging opens the model that judges, for a judging that is new or goes on. Close the session.
func (a *App) openJudging(ctx context.Context, req *JudgeRequest, what *Judging, about string, model TargetSpec,
	events Events,
) (_ *Session, err error) {
	rr := req.RunRequest()
	op, err := a.newOpener(rr.timeout(), req.Prices, about, events)
	if err != nil {
		return nil, err
	}
	s := &Session{
		yield: make(chan struct{}), app: a, events: events, op: op, settings: rr.Settings, noWait: true,
		judging: what, judges: about,
	}
	if s.targets, err = op.openAll(ctx, []TargetSpec{model}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if len(s.targets) != 1 || s.targets[0].Selects || s.targets[0].Floor {
		return nil, errors.Join(wrong("models", model.Target, "it answers no question: a judge is a model or an agent"),
			s.Close())
	}
	what.Identity = identity(&what.Judge, &s.targets[0].Target, rr.Repeats)
	return s, nil
}

// begin resumes an unfinished judging of before that open accepts, or creates one with the
// questions in made. It returns the resumed one, nil for a new one.
func (s *Session) begin(ctx context.Context, req *JudgeRequest, made *callvet.Suite, model TargetSpec,
	before []judgingRun, open func(*judgingRun) bool,
) (*judgingRun, error) {
	what := s.judging
	what.Version = 1
	for i := range before {
		b := &before[i]
		if b.what.Identity.ID() != what.Identity.ID() || b.what.Against != what.Against {
			continue
		}
		if b.run.State() != store.StatusDone && open(b) {
			return b, nil
		}
		what.Version = b.what.Version + 1
	}
	db, err := s.app.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	rr := req.RunRequest()
	rr.Made, rr.Suite = made, what.About
	return nil, s.start(ctx, db, rr, nil, []TargetSpec{model})
}

// judging carries out, or goes on with, one judging by one model.
func (a *App) judging(ctx context.Context, req *JudgeRequest, what *Judging, about string, made *callvet.Suite,
	model TargetSpec, events Events,
) (_ *JudgingView, err error) {
	s, err := a.openJudging(ctx, req, what, about, model, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	before, _, err := judgingsThat(ctx, db, about,
		func(j *Judging) bool { return (j.Audit != nil) == (what.Audit != nil) })
	if err != nil {
		return nil, err
	}
	hash, err := store.SuiteHashFrom(made, withoutErrors(slices.Values(pointers(made.Cases))))
	if err != nil {
		return nil, err
	}
	b, err := s.begin(ctx, req, made, model, before, func(b *judgingRun) bool {
		return !req.Again && (b.what.Live || b.run.SuiteHash == hash)
	})
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		tellNewJudge(what, before, events)
		return s.judge(ctx)
	case b.what.Live:
		if err := a.place(ctx, db, b, made, what); err != nil {
			return nil, err
		}
	default:
		events.note("judging-resumed", "going on with judging %s, which did not end", b.run.ID)
	}
	if err := s.takeUpJudging(ctx, b.run.ID, req); err != nil {
		return nil, err
	}
	return s.judge(ctx)
}

func pointers(cs []callvet.Case) []*callvet.Case {
	out := make([]*callvet.Case, len(cs))
	for i := range cs {
		out[i] = &cs[i]
	}
	return out
}

// takeUpJudging takes a judging up that did not end, with the settings of the request.
func (s *Session) takeUpJudging(ctx context.Context, id string, req *JudgeRequest) error {
	if err := s.Close(); err != nil {
		return err
	}
	set := &req.Settings
	s.resume = &ResumeRequest{Run: id, NoWait: true, Changes: Changes{
		MaxCostUSD: &set.MaxCostUSD, MaxCalls: &set.MaxCalls, Concurrency: &set.Concurrency, Rate: &set.Rate,
		TimeoutMS: &set.TimeoutMS, Retries: set.Retries, KeepErrors: &set.KeepErrors,
	}}
	return s.takeUp(ctx)
}

// tellNewJudge says where a judge of the same name said something before and was another one:
// what is known of that one says nothing of this one.
func tellNewJudge(what *Judging, before []judgingRun, events Events) {
	for i := len(before) - 1; i >= 0; i-- {
		b := before[i].what.Identity
		if b.Name != what.Identity.Name {
			continue
		}
		if d := b.Differs(what.Identity); len(d) > 0 && b.Model == what.Identity.Model {
			events.note("new-judge", "judge %s differs from %s before (%s): it needs a calibration of its own",
				what.Identity.ID(), b.ID(), strings.Join(d, ", "))
		}
		return
	}
}

// judge carries a judging out and reports the result.
func (s *Session) judge(ctx context.Context) (*JudgingView, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer Cached[running](s.app).add(s.Stored.ID, cancel)()
	sum, runErr, err := s.attempts(ctx, cancel)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	red, err := s.app.viewer(s.Manifest, nil)
	if err != nil {
		return nil, err
	}
	s.op.tellLearned(red)
	if s.Stored, err = s.db.Run(ctx, s.Stored.ID); err != nil {
		return nil, err
	}
	v, err := s.app.viewJudging(ctx, s.db, &judgingRun{s.Stored, s.Manifest.Judging})
	if err != nil {
		return nil, err
	}
	v.Stopped = sum.Stopped
	if runErr == nil && sum.Status == run.StatusDone && v.Answered == 0 {
		return v, fmt.Errorf("nothing was judged: %s ended in an error", plain.Count(v.Errors, "question", "questions"))
	}
	return v, runErr
}

// judgingRun is a stored judging.
type judgingRun struct {
	run  store.Run
	what *Judging
}

// answered are judgings that are no audits and have their questions, and so verdicts.
func answered(j *Judging) bool { return j.Audit == nil && !j.Live }

// judgingsOf are the stored ones that have verdicts.
func judgingsOf(ctx context.Context, db *store.DB, about string) ([]judgingRun, error) {
	out, _, err := judgingsThat(ctx, db, about, answered)
	return out, err
}

// LostJudging is a judging that cannot be read. The others count all the same.
type LostJudging struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
}

// judgingsThat are those that are wanted, and those that cannot be read.
func judgingsThat(ctx context.Context, db *store.DB, about string,
	wanted func(*Judging) bool,
) (out []judgingRun, lost []LostJudging, err error) {
	list, err := db.Judgings(ctx, about)
	if err != nil {
		return nil, nil, err
	}
	for i := range list {
		what, err := readJudging(&list[i])
		switch {
		case err != nil:
			lost = append(lost, LostJudging{list[i].ID, err.Error()})
		case wanted(what):
			out = append(out, judgingRun{list[i], what})
		}
	}
	return out, lost, nil
}

// readJudging reads what a run of a judge does.
func readJudging(r *store.Run) (*Judging, error) {
	m, err := readManifest(r)
	if err == nil && m.Judging == nil {
		err = &damagedError{r.ID, "manifest", errors.New("it names no judge")}
	}
	if err != nil {
		return nil, err
	}
	return m.Judging, nil
}
