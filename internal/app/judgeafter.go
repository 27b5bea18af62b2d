// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/panel"
)

// RunJudges are judges that are asked about a run before its results are shown.
type RunJudges struct {
	// Names are judges that are built in, Models those who judge.
	Names  []string `json:"judge"`
	Models []string `json:"judge_model"`
	// BaseURL is the endpoint of the models, "" for their own.
	BaseURL string `json:"judge_base_url,omitempty"`
	// Under limits the judging to attempts whose automatic score is less, or not known.
	Under *float64 `json:"judge_under,omitempty"`
	// Live asks about each attempt as soon as it is stored, while others run, and not when
	// all are over.
	Live bool `json:"judge_live,omitempty"`
}

// decidesRubrics reports whether rubrics get a judge, so that a case may have only a rubric.
func (j *RunJudges) decidesRubrics() bool { return j != nil && slices.Contains(j.Names, "rubric") }

// requests are those of the judges about a run.
func (j *RunJudges) requests(m *Manifest, set *Settings, about string) []JudgeRequest {
	if j == nil {
		return nil
	}
	var out []JudgeRequest
	for _, name := range j.Names {
		q := JudgeRequest{
			Side: Side{Run: about}, JudgeSpec: JudgeSpec{Judges: []string{name}}, Under: j.Under,
			Prices: m.Prices, NoCache: m.NoCache, Keep: m.Keep,
		}
		q.Settings = Settings{
			MaxCostUSD: set.MaxCostUSD, MaxCalls: set.MaxCalls, Concurrency: set.Concurrency,
			Rate: set.Rate, TimeoutMS: set.TimeoutMS, Retries: set.Retries,
		}
		q.Models = j.Targets()
		out = append(out, q)
	}
	return out
}

// Targets are the models that judge, as targets; none without judges.
func (j *RunJudges) Targets() (out []TargetSpec) {
	if j == nil {
		return nil
	}
	zero := 0.0
	for _, model := range j.Models {
		out = append(out, TargetSpec{Target: model, BaseURL: j.BaseURL, DefaultTemperature: &zero})
	}
	return out
}

// checkJudges refuses unknown judges of a request, and models that cannot be opened, before any
// question. It adds the judges to dry, if given.
func (a *App) checkJudges(ctx context.Context, req *RunRequest, dry *DryRun, events Events) error {
	j := req.Judges
	if j == nil || len(j.Names) == 0 {
		if j != nil && (len(j.Models) > 0 || j.Under != nil || j.Live) {
			return wrong("judge", "", "which judge? {judge_model}, {judge_under} and {judge_live} are for one")
		}
		req.Judges = nil
		return nil
	}
	if len(j.Models) == 0 {
		return &callvet.FieldError{
			Field: "judge_model", Text: "no model judges",
			Fix: "{judge_model} openai/gpt-5-mini",
		}
	}
	for _, name := range j.Names {
		if _, err := judge.Builtin(name); err != nil {
			return err
		}
	}
	specs := j.Targets()
	if err := errors.Join(a.permitted(specs), a.unspelled(specs)); err != nil {
		return err
	}
	op, err := a.newOpener(req.timeout(), req.Prices, req.Suite, events)
	if err != nil {
		return err
	}
	defer op.close()
	op.lacks = dry.lacking(true)
	ts, err := op.openAll(ctx, specs)
	if err == nil && dry != nil {
		dry.judges = panelOf(j, specs, ts)
	}
	return err
}

// judgeAfter asks the judges of the run after all attempts. It reports missing verdicts; they are
// not a failure of the run.
func (s *Session) judgeAfter(ctx context.Context, sum *run.Summary, runErr error) {
	if runErr != nil || sum.Status != run.StatusDone {
		return
	}
	for _, q := range s.Manifest.Judges.requests(s.Manifest, &s.settings, s.Stored.ID) {
		out, err := s.app.JudgeRun(ctx, q, func(ev Event) {
			if ev.Session == nil && ev.Ended == nil { // the run goes on as it is
				s.events.emit(ev)
			}
		})
		if err != nil {
			s.events.warn("judge", fmt.Sprintf("judge %s: %v", strings.Join(q.Judges, ", "), err))
			continue
		}
		for i := range out.Judgings {
			v := &out.Judgings[i]
			s.events.note("judged", "judge %s: %d of %d pass, %d unscored: judging %s", v.JudgeID, v.Pass,
				v.Pass+v.Fail,
				v.Unscored, v.ID)
		}
	}
	if s.Manifest.Judges == nil {
		return
	}
	said, err := s.readOpinions(context.WithoutCancel(ctx))
	if err != nil { // the results report it
		return
	}
	for i := range said.majorities {
		v := &said.majorities[i]
		s.events.note("judged", "%s of %d judges: %d of %d pass, %d unscored", v.Judge.Name, len(v.Of), v.Pass,
			v.Pass+v.Fail, v.Unscored)
	}
}

// judgedSummary is a summary with the verdicts that a judge of rubrics left.
func judgedSummary(sum run.Summary, p *panel.Panels) run.Summary {
	sum.Pass, sum.Fail, sum.Error, sum.NotRun, sum.InPart = 0, 0, 0, 0, 0
	for i := range p.Targets {
		v := &p.Targets[i].Overall.Verdicts
		sum.Pass, sum.Fail, sum.Error, sum.NotRun = sum.Pass+v.Pass, sum.Fail+v.Fail, sum.Error+v.Error,
			sum.NotRun+v.NotRun
		sum.InPart += p.Targets[i].Overall.NotEvaluated.Passed
	}
	return sum
}

// judges makes a run one of a judge, or one whose rubrics a judge decides, where it is.
func (m *Manifest) judges(cfg *run.Config) {
	if j := m.Judging; j != nil {
		cfg.Targets = inForm(cfg.Targets, &j.Judge)
		cfg.Compile = func(c *callvet.Case) run.Compiled { return opinionOf(&j.Judge, c) }
	}
	if compile := cfg.Compile; m.Judges.decidesRubrics() {
		cfg.Compile = func(c *callvet.Case) run.Compiled {
			k := compile(c)
			if len(c.Expect.Rubric) > 0 {
				return asking{k}
			}
			return k
		}
	}
}

// asking is a case that a judge can decide although nothing else does: its target is asked.
type asking struct{ run.Compiled }

// Idle implements run.Compiled.
func (asking) Idle(bool) string { return "" }
