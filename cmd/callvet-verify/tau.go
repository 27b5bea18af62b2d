// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet-verify/jsonl"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/score/trajectory"
	"github.com/callvet/callvet/stats"
)

// tau imports recorded runs of τ-bench and τ²-bench and holds pass^k, gold
// steps, communicated facts and rewards against what is recorded or published.
func tau(out io.Writer, data string) (bool, error) {
	sets := filepath.Join(data, "sets")
	one, err := tauOne(out, filepath.Join(sets, "taubench_v1_airline"))
	if err != nil {
		return false, err
	}
	two, err := tauTwo(out, filepath.Join(sets, "tau2"))
	return one && two, err
}

// eachAttempt imports a file, which has to be of the format, and tells what could
// not be carried. Lines that cannot be read are misses.
func eachAttempt(out io.Writer, path, format string, misses *tally, do func(*trace.Attempt) error) error {
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
		fmt.Fprintf(out, "%s:%d: %s\n", jsonl.Stem(path), l.Line, l.Reason)
	}
	misses.n += int(r.Log.Bad)
	for what, n := range r.Lost {
		fmt.Fprintf(out, "%s: not carried: %s (%d)\n", jsonl.Stem(path), what, n)
	}
	return nil
}

// follow holds an attempt against its own gold by the rules of the family.
func follow(a *trace.Attempt) (trajectory.Outcome, error) {
	var g trajectory.Gold
	if a.Gold != nil {
		g.Facts = a.Gold.Facts
		for _, s := range a.Gold.Steps {
			g.Steps = append(g.Steps, trajectory.Step{Tool: s.Tool, Args: s.Args, Compare: s.Compare, User: s.By == "user"})
		}
	}
	return trajectory.Check(&g, &a.Trace, a.UserCalls, trajectory.Tau)
}

// passHat is how a set of trials publishes pass^k.
type passHat struct {
	values        map[string]float64
	tasks, trials int
}

// UnmarshalJSON reads [{"pass^1": …}, tasks, trials].
func (p *passHat) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil || len(parts) != 3 {
		return errors.Join(err, fmt.Errorf("pass^k with its counts: %w", callvet.ErrInvalid))
	}
	return errors.Join(json.Unmarshal(parts[0], &p.values), json.Unmarshal(parts[1], &p.tasks), json.Unmarshal(parts[2], &p.trials))
}

// tauOne holds pass^1 to pass^4 of the first benchmark, half by half and, where
// all halves are there, together.
func tauOne(out io.Writer, set string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(set, "*", "*.jsonl*"))
	if err != nil || len(files) == 0 {
		return false, errors.Join(err, fmt.Errorf("verify tau: %w: no runs under %s", callvet.ErrNotFound, set))
	}
	published := map[string]json.RawMessage{}
	if err := readInto(filepath.Join(set, "scores.json"), &published); err != nil {
		return false, err
	}
	var all []stats.Trials
	var numbers, facts tally
	for _, path := range files {
		trials, told, err := tauTrials(out, path)
		if err != nil {
			return false, err
		}
		facts.add(told)
		half := filepath.Base(filepath.Dir(path))
		t, err := passHats(out, half, trials, published[half])
		if err != nil {
			return false, err
		}
		numbers.add(t)
		all = append(all, trials...)
	}
	if len(files) > 1 {
		t, err := passHats(out, "all", all, published["recomputed_all"])
		if err != nil {
			return false, err
		}
		numbers.add(t)
	}
	fmt.Fprintf(out, "tau: pass^k %s as published; communicated facts %s as recorded\n", numbers, facts)
	return numbers.all() && facts.all(), nil
}

// tauTrials counts passes by task, and compares which facts were told with the
// source's own verdict, where it has one.
func tauTrials(out io.Writer, path string) ([]stats.Trials, tally, error) {
	var facts tally
	var order []string
	byTask := map[string]*stats.Trials{}
	err := eachAttempt(out, path, "tau", &facts, func(a *trace.Attempt) error {
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
			facts.count(o.Facts[i] == info.Info.Outputs[f])
		}
		return nil
	})
	trials := make([]stats.Trials, len(order))
	for i, id := range order {
		trials[i] = *byTask[id]
	}
	return trials, facts, err
}

// passHats prints pass^k with its intervals and compares it with the published
// one, which is rounded to six digits.
func passHats(out io.Writer, half string, trials []stats.Trials, published json.RawMessage) (tally, error) {
	var t tally
	var want passHat
	if published != nil {
		if err := json.Unmarshal(published, &want); err != nil {
			return t, fmt.Errorf("read published pass^k of %s: %w", half, err)
		}
		n := 0
		for _, c := range trials {
			n += c.N
		}
		if !t.count(len(trials) == want.tasks && n == want.trials) {
			fmt.Fprintf(out, "differs: %s: %d tasks and %d trials, published %d and %d\n", half, len(trials), n, want.tasks, want.trials)
		}
	}
	for k := 1; k <= 4; k++ {
		iv, skipped := stats.MeanPassHatK(trials, k, 0.95, stats.DefaultRho0)
		name, mark := fmt.Sprintf("pass^%d", k), "not published"
		if w, ok := want.values[name]; ok {
			mark = "as published"
			if !t.count(math.Abs(iv.Point-w) < 1e-6 && skipped == 0) {
				mark = fmt.Sprintf("DIFFERS from %v", w)
			}
		}
		fmt.Fprintf(out, "tau   %-8s %s = %.6f  95 %% interval [%.4f, %.4f]  %d tasks, %d left out  %s\n", half, name, iv.Point, iv.Lower, iv.Upper, iv.Clusters, skipped, mark)
	}
	return t, nil
}

func readInto(path string, v any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read published scores: %w", err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// closeTo compares rewards, which are products of a few fractions.
func closeTo(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// basisKey names a reward basis whatever its order.
func basisKey(basis []string) string {
	sorted := slices.Clone(basis)
	slices.Sort(sorted)
	key := ""
	for i, b := range sorted {
		if i > 0 {
			key += "+"
		}
		key += b
	}
	return key
}
