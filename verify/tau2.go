// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// rewardInfo is the second benchmark's record of its own judgement.
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

// agentRun is one file of trajectories, judged again.
type agentRun struct {
	c                                    *proof.Check
	stem, name, domain                   string
	n, success, toolCalls, toolErrors    int
	attempts, missed, needed             int
	basis                                map[string]int
	ledger                               *panel.Ledger
	reward                               map[string]float64 // by task, as recorded
	actions, communicates, rewards, sums string             // subjects
}

func newAgentRun(c *proof.Check, path string) *agentRun {
	r := &agentRun{c: c, stem: jsonl.Stem(path), basis: map[string]int{}, reward: map[string]float64{}}
	r.name, r.domain, _ = strings.Cut(r.stem, "__")
	r.ledger = panel.NewLedger(r.stem, []string{r.name}, []string{})
	r.actions, r.communicates = "tau2 "+r.stem+" action checks", "tau2 "+r.stem+" communicate checks"
	r.rewards, r.sums = "tau2 "+r.stem+" rewards", "tau2 "+r.stem+" successes"
	return r
}

// due counts the recorded values in the rows of the file.
func (r *agentRun) due(path string) error {
	return jsonl.Each(path, func(row struct {
		Reward *rewardInfo `json:"reward_info"`
	},
	) error {
		if row.Reward == nil {
			return nil
		}
		r.c.Due(r.actions, len(row.Reward.ActionChecks), "its rows")
		r.c.Due(r.communicates, len(row.Reward.CommunicateChecks), "its rows")
		r.c.Due(r.sums, 1, "its rows")
		if row.Reward.Breakdown != nil {
			r.c.Due(r.rewards, 1, "its rows")
		}
		return nil
	})
}

// tauTwo judges every trajectory again from its messages, and compares agents with the same tasks.
func tauTwo(c *proof.Check, d proof.Data) error {
	figures, err := d.Published(tauBench2)
	if err != nil {
		return err
	}
	c.DueFigures(tauBench2, figures, nil)
	files, err := d.Files(tauBench2, filepath.Join("trajectories", "*.jsonl*"))
	if err != nil {
		return err
	}
	var runs []*agentRun
	for _, path := range files {
		r := newAgentRun(c, path)
		if err := r.due(path); err != nil {
			c.Problem(err)
			continue
		}
		c.Problem(eachAttempt(c, path, "tau2", r.attempt))
		r.published(figures)
		r.print()
		runs = append(runs, r)
	}
	compareAgents(c, runs)
	return nil
}

// attempt judges one trajectory: gold steps and facts from the messages, and from these their parts of the
// reward.
func (r *agentRun) attempt(a *trace.Attempt) error {
	r.attempts++
	var info rewardInfo
	if a.Foreign == nil { // broken off and never judged
		r.count(a, &info)
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
		return fmt.Errorf("%d gold steps and %d facts for %d and %d checks: %w", len(o.Steps), len(o.Facts),
			len(info.ActionChecks), len(info.CommunicateChecks), callvet.ErrInvalid)
	}
	item := fmt.Sprintf("attempt %d of task %s", r.attempts, a.Trace.CaseID)
	for i, s := range o.Steps {
		r.c.Compare(r.actions, fmt.Sprintf("%s: step %d", item, i+1), (s.Call >= 0) == info.ActionChecks[i].Match,
			"made: %v, recorded %v", s.Call >= 0, info.ActionChecks[i].Match)
	}
	for i, found := range o.Facts {
		r.c.Compare(r.communicates, fmt.Sprintf("%s: fact %d", item, i+1), found == info.CommunicateChecks[i].Met,
			"found: %v, recorded %v", found, info.CommunicateChecks[i].Met)
	}
	r.missed, r.needed = r.missed+o.Missed, r.needed+o.Needed
	r.judge(item, &o, &info)
	r.c.Compare(r.sums, item, a.Pass != nil && *a.Pass == whole(info.Reward), "reward %v", info.Reward)
	r.count(a, &info)
	c, cell := a.Entry("")
	r.ledger.Add(&c, &cell)
	r.reward[c.ID] = info.Reward
	return nil
}

// whole reports whether a reward is 1, which counts as a success.
func whole(reward float64) bool { return reward >= 1-1e-6 }

// judge multiplies the parts of the reward. The checks of the database and of the environment are read from the
// record.
func (r *agentRun) judge(item string, o *score.TrajectoryOutcome, info *rewardInfo) {
	if info.Breakdown == nil {
		return
	}
	parts := maps.Clone(info.Breakdown)
	part := func(ok bool) float64 {
		if ok {
			return 1
		}
		return 0
	}
	if _, has := parts["ACTION"]; has {
		parts["ACTION"] = part(!slices.ContainsFunc(o.Steps,
			func(s score.TrajectoryStepOutcome) bool { return s.Call < 0 }))
	}
	if _, has := parts["COMMUNICATE"]; has {
		parts["COMMUNICATE"] = part(!slices.Contains(o.Facts, false))
	}
	got, ok := score.TrajectoryReward(info.Basis, parts)
	// Rewards are recorded exactly: products of a few fractions.
	r.c.Compare(r.rewards, item, ok && math.Abs(got-info.Reward) < 1e-9, "%v, recorded %v", got, info.Reward)
}

func (r *agentRun) count(a *trace.Attempt, info *rewardInfo) {
	r.n++
	if a.Pass != nil && *a.Pass {
		r.success++
	}
	for _, c := range slices.Concat(a.Trace.Calls(), a.UserCalls) { // the published counts have both
		r.toolCalls++
		if c.Status == callvet.StatusExecErr {
			r.toolErrors++
		}
	}
	r.basis[basisKey(info.Basis)]++
}

// published compares results with every published figure of the agent.
func (r *agentRun) published(f *proof.Figures) {
	share := float64(r.success) / float64(max(r.n, 1))
	own := map[string]float64{
		"n": float64(r.n), "success": float64(r.success), "pass^1": share, "published_pass_1_pct": 100 * share,
		"n_tool_calls": float64(r.toolCalls), "n_tool_errors": float64(r.toolErrors),
	}
	for _, name := range f.Keys(r.stem) {
		if x, ok := own[name]; ok && f.Has(r.stem, name) {
			r.c.Figure(tauBench2, f, x, r.stem, name)
		}
	}
	for _, basis := range f.Keys(r.stem, "reward_basis") {
		key := basisKey(strings.Split(basis, "+"))
		if basis != strings.ToUpper(basis) { // no basis, in any spelling
			key = ""
		}
		r.c.Figure(tauBench2, f, float64(r.basis[key]), r.stem, "reward_basis", basis)
	}
	if len(f.Keys(r.stem)) == 0 {
		r.c.Problem(fmt.Errorf("verify tau: %w: %s publishes nothing of %s", callvet.ErrNotFound, f.Source, r.stem))
	}
}

func (r *agentRun) print() {
	of := func(subject string) string {
		agree, n, _ := r.c.Tally(subject)
		return fmt.Sprintf("%d of %d", agree, n)
	}
	r.c.Printf(
		"tau2  %-34s %-8s %2d of %2d succeed, %4d calls, %2d errors; actions %s, facts %s, rewards %s; miss rate %d of %d\n", r.name, r.domain,
		r.success, r.n, r.toolCalls, r.toolErrors, of(r.actions), of(r.communicates), of(r.rewards), r.missed, r.needed)
}

// compareAgents prints the paired difference of every two agents with the same tasks of a domain, and compares
// it with the recorded rewards.
func compareAgents(c *proof.Check, runs []*agentRun) {
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
			c.Due("tau2 paired", 1, "the tasks that two agents share")
			c.Compare("tau2 paired", base.stem+" "+cand.stem,
				lost == o.NewlyFailing && won == o.NewlyPassing && o.Test == "mcnemar_midp",
				"%d lost, %d won, recorded %d and %d", o.NewlyFailing, o.NewlyPassing, lost, won)
			c.Printf(
				"paired %-8s %s → %s: %d tasks, %.1f %% → %.1f %%, %d lost, %d won, %+.1f pp [%+.1f, %+.1f], mid-p %.4f\n", base.domain, base.name, cand.name, o.Cases,
				100*o.Baseline.Point, 100*o.Candidate.Point, lost, won, 100*o.Change.Point, 100*o.Change.Lower,
				100*o.Change.Upper, o.P)
		}
	}
}

func changedRewards(base, cand *agentRun, left []string) (lost, won int) {
	for id, before := range base.reward {
		after, both := cand.reward[id]
		if !both || slices.Contains(left, id) {
			continue
		}
		switch was, is := whole(before), whole(after); {
		case was && !is:
			lost++
		case is && !was:
			won++
		}
	}
	return lost, won
}
