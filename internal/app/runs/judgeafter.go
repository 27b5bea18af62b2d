// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/panel"
)

// decidesRubrics reports whether a judge decides rubrics, so that a case may have only a rubric.
func decidesRubrics(j *app.RunJudges) bool { return j != nil && slices.Contains(j.Names, "rubric") }

// judgeRequests returns the requests to the judges of a run.
func judgeRequests(j *app.RunJudges, m *results.Manifest, set *app.Settings, about string) []app.JudgeRequest {
	if j == nil {
		return nil
	}
	var out []app.JudgeRequest
	for _, name := range j.Names {
		q := app.JudgeRequest{
			Side: app.Side{Run: about}, JudgeSpec: app.JudgeSpec{Judges: []string{name}}, Under: j.Under,
			Prices: m.Prices, NoCache: m.NoCache, Keep: m.Keep,
		}
		q.Settings = app.Settings{
			MaxCostUSD: set.MaxCostUSD, MaxCalls: set.MaxCalls, Concurrency: set.Concurrency,
			Rate: set.Rate, TimeoutMS: set.TimeoutMS, Retries: set.Retries,
		}
		q.Models = JudgeTargets(j)
		out = append(out, q)
	}
	return out
}

// JudgeTargets returns the judging models as targets; none without judges.
func JudgeTargets(j *app.RunJudges) (out []app.TargetSpec) {
	if j == nil {
		return nil
	}
	zero := 0.0
	for _, model := range j.Models {
		out = append(out, app.TargetSpec{Target: model, BaseURL: j.BaseURL, DefaultTemperature: &zero})
	}
	return out
}

// checkJudges returns an error for unknown judges of a request, and for models that cannot be
// opened, before any question. It adds the judges to dry, if given.
func checkJudges(ctx context.Context, a *app.App, req *app.RunRequest, dry *DryRun, events app.Events) error {
	j := req.Judges
	if j == nil || len(j.Names) == 0 {
		if j != nil && (len(j.Models) > 0 || j.Under != nil || j.Live) {
			return app.Wrong("judge", "", "which judge? {judge_model}, {judge_under} and {judge_live} are for one")
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
	specs := JudgeTargets(j)
	if err := errors.Join(a.Permitted(specs), a.CheckSecrets(specs)); err != nil {
		return err
	}
	op, err := a.NewOpener(req.Timeout(), req.Prices, req.Suite, events)
	if err != nil {
		return err
	}
	defer op.Close()
	op.Lacks = dry.lacking(true)
	ts, err := op.OpenAll(ctx, specs)
	if err == nil && dry != nil {
		dry.judges = panelOf(j, specs, ts)
	}
	return err
}

// judgeAfter lets the judges judge the run after all attempts. It reports missing verdicts; they
// are not a failure of the run.
func (s *Session) judgeAfter(ctx context.Context, sum *run.Summary, runErr error) {
	if runErr != nil || sum.Status != run.StatusDone {
		return
	}
	for _, q := range judgeRequests(s.Manifest.Judges, s.Manifest, &s.settings, s.Stored.ID) {
		out, err := Judge(ctx, s.app, q, func(ev app.Event) {
			if ev.Session == nil && ev.Ended == nil { // the run goes on unchanged
				s.events.Emit(ev)
			}
		})
		if err != nil {
			s.events.Warn("judge", fmt.Sprintf("judge %s: %v", strings.Join(q.Judges, ", "), err))
			continue
		}
		for i := range out.Judgings {
			v := &out.Judgings[i]
			s.events.Note("judged", "judge %s: %d of %d pass, %d unscored: judging %s", v.JudgeID, v.Pass,
				v.Pass+v.Fail,
				v.Unscored, v.ID)
		}
	}
	if s.Manifest.Judges == nil {
		return
	}
	opinions, err := s.ReadOpinions(context.WithoutCancel(ctx))
	if err != nil { // the results report it
		return
	}
	for i := range opinions.Majorities {
		v := &opinions.Majorities[i]
		s.events.Note("judged", "%s of %d judges: %d of %d pass, %d unscored", v.Judge.Name, len(v.Of), v.Pass,
			v.Pass+v.Fail, v.Unscored)
	}
}

// judgedSummary returns a summary with the verdicts after a judge of rubrics.
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

// setJudges adapts the configuration to a judge's run, or to a run with rubrics for a judge.
func setJudges(m *results.Manifest, cfg *run.Config) {
	if m.Form != nil {
		cfg.Targets = inForm(cfg.Targets, m.Form)
	}
	if j := m.Judging; j != nil {
		cfg.Targets = inForm(cfg.Targets, j.Judge.Form())
		cfg.Compile = func(c *callvet.Case) run.Compiled { return opinionOf(&j.Judge, c) }
	}
	if compile := cfg.Compile; decidesRubrics(m.Judges) {
		cfg.Compile = func(c *callvet.Case) run.Compiled {
			k := compile(c)
			if len(c.Expect.Rubric) > 0 {
				return asking{k}
			}
			return k
		}
	}
}

// asking is a case that only a judge can decide, so its target is asked.
type asking struct{ run.Compiled }

// Idle implements run.Compiled.
func (asking) Idle(bool) string { return "" }

// forJudges reports whether a judge decides the cases of this case's tier. Such cases run when all
// others are over, because it is useless to judge a target that does not call the right tools. A
// case of another tier may have a rubric too; it runs with its tier. Source: Eval Case Interfaces,
// "Implementation Notes".
func forJudges(c *callvet.Case) bool { return c.Tier == callvet.TierRubric }
