// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

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
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// identity returns the identity of the judge with its model: if a part of it changes, it is a
// different judge.
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

// runRequestOf returns the run request for a judging.
func runRequestOf(q *app.JudgeRequest) *app.RunRequest {
	return &app.RunRequest{Repeats: q.Samples, Keep: q.Keep, Prices: q.Prices, NoCache: q.NoCache, Settings: q.Settings}
}

// openJudging opens the judging model, for a new or a resumed judging. Close the session.
func openJudging(ctx context.Context, a *app.App, req *app.JudgeRequest, what *results.Judging, about string,
	model app.TargetSpec,
	events app.Events,
) (_ *Session, err error) {
	rr := runRequestOf(req)
	op, err := a.NewOpener(rr.Timeout(), req.Prices, about, events)
	if err != nil {
		return nil, err
	}
	s := &Session{
		yield: make(chan struct{}), app: a, events: events, op: op, settings: rr.Settings, noWait: true,
		judging: what, judges: about,
	}
	if s.targets, err = op.OpenAll(ctx, []app.TargetSpec{model}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if len(s.targets) != 1 || s.targets[0].Selects || s.targets[0].Floor {
		return nil, errors.Join(app.Wrong("models", model.Target,
			"it answers no question: a judge is a model or an agent"),
			s.Close())
	}
	what.Identity = identity(&what.Judge, &s.targets[0].Target, rr.Repeats)
	return s, nil
}

// begin resumes an unfinished judging in before that open accepts, or creates one with the
// questions in made. It returns the resumed one, nil for a new one.
func (s *Session) begin(ctx context.Context, req *app.JudgeRequest, made *callvet.Suite, model app.TargetSpec,
	before []results.JudgingRun, open func(*results.JudgingRun) bool,
) (*results.JudgingRun, error) {
	what := s.judging
	what.Version = 1
	for i := range before {
		b := &before[i]
		if b.What.Identity.ID() != what.Identity.ID() || b.What.Against != what.Against {
			continue
		}
		if b.Run.State() != store.StatusDone && open(b) {
			return b, nil
		}
		what.Version = b.What.Version + 1
	}
	db, err := s.app.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	rr := runRequestOf(req)
	rr.Made, rr.Suite = made, what.About
	return nil, s.start(ctx, db, rr, nil, []app.TargetSpec{model})
}

// CarryOutJudging carries out or resumes one judging by one model.
func CarryOutJudging(ctx context.Context, a *app.App, req *app.JudgeRequest, what *results.Judging, about string,
	made *callvet.Suite,
	model app.TargetSpec, events app.Events,
) (_ *results.JudgingView, err error) {
	s, err := openJudging(ctx, a, req, what, about, model, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	before, _, err := results.ReadJudgings(ctx, db, about,
		func(j *results.Judging) bool { return (j.Audit != nil) == (what.Audit != nil) })
	if err != nil {
		return nil, err
	}
	hash, err := store.SuiteHashFrom(made, withoutErrors(slices.Values(pointers(made.Cases))))
	if err != nil {
		return nil, err
	}
	b, err := s.begin(ctx, req, made, model, before, func(b *results.JudgingRun) bool {
		return !req.Again && (b.What.Live || b.Run.SuiteHash == hash)
	})
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		reportNewJudge(what, before, events)
		return s.judge(ctx)
	case b.What.Live:
		if err := placeAnswers(ctx, a, db, b, made, what); err != nil {
			return nil, err
		}
	default:
		events.Note("judging-resumed", "going on with judging %s, which did not end", b.Run.ID)
	}
	if err := s.resumeJudging(ctx, b.Run.ID, req); err != nil {
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

// resumeJudging resumes an unfinished judging, with the settings of the request.
func (s *Session) resumeJudging(ctx context.Context, id string, req *app.JudgeRequest) error {
	if err := s.Close(); err != nil {
		return err
	}
	set := &req.Settings
	s.resume = &ResumeRequest{Run: id, NoWait: true, Changes: app.Changes{
		MaxCostUSD: &set.MaxCostUSD, MaxCalls: &set.MaxCalls, Concurrency: &set.Concurrency, Rate: &set.Rate,
		TimeoutMS: &set.TimeoutMS, Retries: set.Retries, KeepErrors: &set.KeepErrors,
	}}
	return s.openStored(ctx)
}

// reportNewJudge reports if an earlier judge with the same name had a different identity: facts
// about the earlier judge do not apply to this one.
func reportNewJudge(what *results.Judging, before []results.JudgingRun, events app.Events) {
	for i := len(before) - 1; i >= 0; i-- {
		b := before[i].What.Identity
		if b.Name != what.Identity.Name {
			continue
		}
		if d := b.Differs(what.Identity); len(d) > 0 && b.Model == what.Identity.Model {
			events.Note("new-judge", "judge %s differs from %s before (%s): it needs a calibration of its own",
				what.Identity.ID(), b.ID(), strings.Join(d, ", "))
		}
		return
	}
}

// judge carries out a judging and reports the result.
func (s *Session) judge(ctx context.Context) (*results.JudgingView, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer app.Cached[running](s.app).add(s.Stored.ID, cancel)()
	sum, runErr, err := s.attempts(ctx, cancel)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	red, err := results.RedactorOf(s.app, s.Manifest, nil)
	if err != nil {
		return nil, err
	}
	s.op.ReportLearned(red)
	if s.Stored, err = s.DB.Run(ctx, s.Stored.ID); err != nil {
		return nil, err
	}
	v, err := results.ViewJudging(ctx, s.app, s.DB, &results.JudgingRun{Run: s.Stored, What: s.Manifest.Judging})
	if err != nil {
		return nil, err
	}
	v.Stopped = sum.Stopped
	if runErr == nil && sum.Status == run.StatusDone && v.Answered == 0 {
		return v, fmt.Errorf("nothing was judged: %s ended in an error", plain.Count(v.Errors, "question", "questions"))
	}
	return v, runErr
}

// judgingsOf returns the stored judgings with verdicts.
func judgingsOf(ctx context.Context, db *store.DB, about string) ([]results.JudgingRun, error) {
	out, _, err := results.ReadJudgings(ctx, db, about, results.HasVerdicts)
	return out, err
}
