// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// The sets of recorded runs.
const (
	tauBench  = "taubench_v1_airline"
	tauBench2 = "tau2"
)

// tau imports recorded runs of τ-bench and τ²-bench and compares pass^k, gold steps, communicated facts and
// rewards with the recorded or published values.
func tau(_ context.Context, c *proof.Check, d proof.Data) error {
	return errors.Join(tauOne(c, d), tauTwo(c, d))
}

// eachAttempt imports a file of the format, and prints the parts that could not be converted. Unreadable lines
// fail the check.
func eachAttempt(c *proof.Check, path, format string, do func(*trace.Attempt) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	imp, err := foreign.Open(f, foreign.Options{})
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if err := do(&at); err != nil {
			return fmt.Errorf("read %s: task %s: %w", path, at.Trace.CaseID, err)
		}
	}
	r := imp.Report()
	if r.Format != format {
		return fmt.Errorf("read %s: %w: taken for %q", path, callvet.ErrInvalid, r.Format)
	}
	for _, l := range r.Log.List {
		c.Problem(fmt.Errorf("read %s:%d: %s", jsonl.Stem(path), l.Line, l.Reason))
	}
	if more := int(r.Log.Bad) - len(r.Log.List); more > 0 {
		c.Problem(fmt.Errorf("read %s: %d more lines cannot be read", jsonl.Stem(path), more))
	}
	for what, n := range r.Lost {
		c.Printf("%s: not carried: %s (%d)\n", jsonl.Stem(path), what, n)
	}
	return nil
}

// follow compares an attempt with its own gold by the rules of the family.
func follow(a *trace.Attempt) (score.TrajectoryOutcome, error) {
	var g score.TrajectoryGold
	if a.Gold != nil {
		g.Facts = a.Gold.Facts
		for _, s := range a.Gold.Steps {
			g.Steps = append(g.Steps,
				score.TrajectoryStep{Tool: s.Tool, Args: s.Args, Compare: s.Compare, User: s.By == "user"})
		}
	}
	return score.CheckTrajectory(&g, &a.Trace, a.UserCalls, score.Tau)
}

// tauOne compares pass^k of the first benchmark, which its file of scores has by part:
// [{"pass^1": …}, tasks, trials].
func tauOne(c *proof.Check, d proof.Data) error {
	figures, err := proof.ReadFigures(d.Set(tauBench) + "/scores.json")
	if err != nil {
		return err
	}
	if len(figures.Keys(d.Part)) == 0 {
		return fmt.Errorf("verify tau: %w: %s has no figures of the part %s", callvet.ErrNotFound,
			figures.Source, d.Part)
	}
	c.DueFigures(tauBench, figures, func(path []string) string {
		if path[0] != d.Part {
			return "they are of other parts, or of all together"
		}
		return ""
	})
	files, err := d.Files(tauBench, "*.jsonl*")
	if err != nil {
		return err
	}
	var trials []stats.Trials
	for _, path := range files {
		t, err := tauTrials(c, path)
		c.Problem(err)
		trials = append(trials, t...)
	}
	passHats(c, d.Part, trials, figures)
	return nil
}

// tauTrials counts passes by task, and compares the facts in answers with the source's own verdict,
// if it has one.
func tauTrials(c *proof.Check, path string) ([]stats.Trials, error) {
	type verdicts struct {
		Info struct {
			Reward struct {
				Info *struct{ Outputs map[string]bool }
			} `json:"reward_info"`
		}
	}
	subject := tauBench + " facts of " + jsonl.Stem(path)
	err := jsonl.Each(path, func(row verdicts) error {
		if row.Info.Reward.Info != nil {
			c.Due(subject, len(row.Info.Reward.Info.Outputs), "its rows")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var order []string
	byTask := map[string]*stats.Trials{}
	n := 0
	err = eachAttempt(c, path, "tau", func(a *trace.Attempt) error {
		n++
		id := a.Trace.CaseID
		if byTask[id] == nil {
			byTask[id] = &stats.Trials{}
			order = append(order, id)
		}
		byTask[id].N++
		if a.Pass == nil {
			return fmt.Errorf("no reward: %w", callvet.ErrInvalid)
		}
		if *a.Pass {
			byTask[id].Passed++
		}
		var info struct {
			Info *struct{ Outputs map[string]bool }
		}
		if a.Foreign != nil {
			if err := json.Unmarshal(a.Foreign, &info); err != nil {
				return err
			}
		}
		if info.Info == nil || info.Info.Outputs == nil {
			return nil
		}
		o, err := follow(a)
		if err != nil {
			return err
		}
		for i, f := range a.Gold.Facts {
			recorded, known := info.Info.Outputs[f]
			c.Compare(subject, fmt.Sprintf("attempt %d of task %s: %s", n, id, f), known && o.Facts[i] == recorded,
				"told: %v, recorded %v", o.Facts[i], recorded)
		}
		return nil
	})
	trials := make([]stats.Trials, len(order))
	for i, id := range order {
		trials[i] = *byTask[id]
	}
	return trials, err
}

// passHats prints pass^k with its intervals and compares it with the published one.
func passHats(c *proof.Check, part string, trials []stats.Trials, figures *proof.Figures) {
	n := 0
	for _, t := range trials {
		n += t.N
	}
	c.Figure(tauBench, figures, float64(len(trials)), part, "1")
	c.Figure(tauBench, figures, float64(n), part, "2")
	for _, name := range figures.Keys(part, "0") {
		k, err := strconv.Atoi(strings.TrimPrefix(name, "pass^"))
		if err != nil {
			continue // due, and not compared
		}
		iv, skipped := stats.MeanPassHatK(trials, k, 0.95, stats.DefaultRho0)
		if skipped > 0 {
			c.Problem(fmt.Errorf("%s of %s: %d tasks have fewer than %d trials", name, part, skipped, k))
		}
		c.Figure(tauBench, figures, iv.Point, part, "0", name)
		c.Printf("tau   %s = %.6f  95 %% interval [%.4f, %.4f]  %d tasks\n", name, iv.Point, iv.Lower, iv.Upper,
			iv.Clusters)
	}
}

// basisKey names a reward basis independently of its order.
func basisKey(basis []string) string {
	return strings.Join(slices.Sorted(slices.Values(basis)), "+")
}
