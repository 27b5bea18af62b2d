// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet-verify/jsonl"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score/trajectory"
)

// rewardInfo is what the second benchmark records of its own judgement.
type rewardInfo struct {
	Reward       float64
	ActionChecks []struct {
		Match bool `json:"action_match"`
	} `json:"action_checks"`
	CommunicateChecks []struct {
		Met bool
	} `json:"communicate_checks"`
	Basis     []string           `json:"reward_basis"`
	Breakdown map[string]float64 `json:"reward_breakdown"`
}

// tauScore is what is published of one agent in one domain.
type tauScore struct {
	N, Success int
	Published  *float64       `json:"published_pass_1_pct"`
	ToolCalls  int            `json:"n_tool_calls"`
	ToolErrors int            `json:"n_tool_errors"`
	Basis      map[string]int `json:"reward_basis"`
}

// agentRun is one file of trajectories, judged again.
type agentRun struct {
	name, domain                    string
	score                           tauScore
	actions, facts, rewards, passes tally
	unbroken                        int // rewards without a breakdown
	missed, needed                  int
	ledger                          *panel.Ledger
	reward                          map[string]float64 // by task, as recorded
}

// tauTwo judges every trajectory again from its messages, and compares agents
// that did the same tasks.
func tauTwo(out io.Writer, set string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(set, "*", "trajectories", "*.jsonl*"))
	if err != nil || len(files) == 0 {
		return false, errors.Join(err, fmt.Errorf("verify tau: %w: no trajectories under %s", callvet.ErrNotFound, set))
	}
	var runs []*agentRun
	var total agentRun
	scores := tally{}
	for _, path := range files {
		r := &agentRun{reward: map[string]float64{}}
		r.name, r.domain, _ = strings.Cut(jsonl.Stem(path), "__")
		r.ledger = panel.NewLedger(jsonl.Stem(path), []string{r.name}, []string{})
		r.score.Basis = map[string]int{}
		if err := eachAttempt(out, path, "tau2", &r.passes, r.attempt); err != nil {
			return false, err
		}
		half := filepath.Dir(filepath.Dir(path))
		published := map[string]tauScore{}
		err := readInto(filepath.Join(half, "scores.json"), &published)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		mark := "not published"
		if want, ok := published[jsonl.Stem(path)]; ok {
			mark = "as published"
			if !scores.count(r.as(want)) {
				mark = fmt.Sprintf("DIFFERS from %+v", want)
			}
		}
		r.print(out, filepath.Base(half), mark)
		total.merge(r)
		runs = append(runs, r)
	}
	fmt.Fprintf(out, "tau2: agents %s as published; action checks %s, communicate checks %s, rewards %s (%d without a breakdown), successes %s as recorded\n",
		scores, total.actions, total.facts, total.rewards, total.unbroken, total.passes)
	pairs := compareAgents(out, runs)
	return scores.all() && total.actions.all() && total.facts.all() && total.rewards.all() && total.passes.all() && pairs, nil
}

// attempt judges one trajectory: gold steps and facts from the messages, and
// from them the parts of the reward that they make up.
func (r *agentRun) attempt(a *trace.Attempt) error {
	var info rewardInfo
	if a.Foreign == nil { // broken off and never judged
		r.count(a, &info)
		r.unbroken++
		return nil
	}
	if err := json.Unmarshal(a.Foreign, &info); err != nil {
		return fmt.Errorf("read recorded verdict: %w", err)
	}
	o, err := follow(a)
	if err != nil {
		return err
	}
	if len(o.Steps) != len(info.ActionChecks) || len(o.Facts) != len(info.CommunicateChecks) {
		return fmt.Errorf("%d gold steps and %d facts for %d and %d checks: %w", len(o.Steps), len(o.Facts), len(info.ActionChecks), len(info.CommunicateChecks), callvet.ErrInvalid)
	}
	for i, s := range o.Steps {
		r.actions.count((s.Call >= 0) == info.ActionChecks[i].Match)
	}
	for i, told := range o.Facts {
		r.facts.count(told == info.CommunicateChecks[i].Met)
	}
	r.missed, r.needed = r.missed+o.Missed, r.needed+o.Needed
	r.judge(&o, &info)
	r.passes.count(a.Pass != nil && *a.Pass == (info.Reward >= 1-1e-6))
	r.count(a, &info)
	c, cell := a.Entry("")
	r.ledger.Add(&c, &cell)
	r.reward[c.ID] = info.Reward
	return nil
}

// judge multiplies the reward. What is checked in the database and by
// assertions on the environment is taken from the record.
func (r *agentRun) judge(o *trajectory.Outcome, info *rewardInfo) {
	if info.Breakdown == nil {
		r.unbroken++
		return
	}
	parts := maps.Clone(info.Breakdown)
	whole := func(ok bool) float64 {
		if ok {
			return 1
		}
		return 0
	}
	if _, has := parts["ACTION"]; has {
		parts["ACTION"] = whole(!slices.ContainsFunc(o.Steps, func(s trajectory.StepOutcome) bool { return s.Call < 0 }))
	}
	if _, has := parts["COMMUNICATE"]; has {
		parts["COMMUNICATE"] = whole(!slices.Contains(o.Facts, false))
	}
	got, ok := trajectory.Reward(info.Basis, parts)
	r.rewards.count(ok && closeTo(got, info.Reward))
}

func (r *agentRun) count(a *trace.Attempt, info *rewardInfo) {
	r.score.N++
	if a.Pass != nil && *a.Pass {
		r.score.Success++
	}
	for _, c := range slices.Concat(a.Trace.Calls(), a.UserCalls) { // the published counts have both
		r.score.ToolCalls++
		if c.Status == callvet.StatusExecErr {
			r.score.ToolErrors++
		}
	}
	if len(info.Basis) > 0 {
		r.score.Basis[basisKey(info.Basis)]++
	}
}

// as reports whether the figures are the published ones.
func (r *agentRun) as(want tauScore) bool {
	s := &r.score
	basis := maps.Clone(want.Basis)
	maps.DeleteFunc(basis, func(name string, _ int) bool { return name != strings.ToUpper(name) || name == "" }) // no basis, in whatever words
	return s.N == want.N && s.Success == want.Success && s.ToolCalls == want.ToolCalls && s.ToolErrors == want.ToolErrors && maps.Equal(s.Basis, basis) &&
		(want.Published == nil || closeTo(*want.Published, 100*float64(s.Success)/float64(s.N)))
}

func (r *agentRun) print(out io.Writer, half, mark string) {
	fmt.Fprintf(out, "tau2  %-8s %-34s %-8s %2d of %2d succeed, %4d calls, %2d errors  %s; actions %s, facts %s, rewards %s; miss rate %d of %d\n", half, r.name, r.domain,
		r.score.Success, r.score.N, r.score.ToolCalls, r.score.ToolErrors, mark, r.actions, r.facts.orNone(), r.rewards, r.missed, r.needed)
}

func (r *agentRun) merge(o *agentRun) {
	r.actions.add(o.actions)
	r.facts.add(o.facts)
	r.rewards.add(o.rewards)
	r.passes.add(o.passes)
	r.unbroken += o.unbroken
}

// compareAgents prints the paired difference of every two agents that did the
// same tasks of a domain, and checks it against the recorded rewards.
func compareAgents(out io.Writer, runs []*agentRun) bool {
	var t tally
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *agentRun) int { // a variant is named after its baseline
		return cmp.Or(cmp.Compare(a.domain, b.domain), cmp.Compare(len(a.name), len(b.name)))
	})
	for i, base := range runs {
		for _, cand := range runs[i+1:] {
			if base.domain != cand.domain {
				continue
			}
			d := panel.Diff(base.ledger, cand.ledger, 0)
			if len(d.Targets) == 0 || d.Targets[0].Overall.Cases < 2 {
				continue // another edition of the tasks under the same ids
			}
			o := &d.Targets[0].Overall
			lost, won := changedRewards(base, cand, d.Changed)
			mark := ""
			if !t.count(lost == o.NewlyFailing && won == o.NewlyPassing && o.Test == "mcnemar_midp") {
				mark = fmt.Sprintf("  DIFFERS: recorded %d lost, %d won", lost, won)
			}
			fmt.Fprintf(out, "paired %-8s %s → %s: %d tasks, %.1f %% → %.1f %%, %d lost, %d won, %+.1f pp [%+.1f, %+.1f], mid-p %.4f%s\n", base.domain, base.name, cand.name, o.Cases,
				100*o.Baseline.Point, 100*o.Candidate.Point, lost, won, 100*o.Change.Point, 100*o.Change.Lower, 100*o.Change.Upper, o.P, mark)
		}
	}
	fmt.Fprintf(out, "tau2: paired comparisons %s as the recorded rewards have them\n", t.orNone())
	return t.same == t.n
}

func changedRewards(base, cand *agentRun, left []string) (lost, won int) {
	for id, before := range base.reward {
		after, both := cand.reward[id]
		if !both || slices.Contains(left, id) {
			continue
		}
		switch was, is := before >= 1-1e-6, after >= 1-1e-6; {
		case was && !is:
			lost++
		case is && !was:
			won++
		}
	}
	return lost, won
}
