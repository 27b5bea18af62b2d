// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// dojoSet is the set of runs.
const dojoSet = "agentdojo"

// agentDojo re-derives AgentDojo's table from its runs, read by our importer, and
// compares the injected-instruction rule with the benchmark's own verdicts.
func agentDojo(_ context.Context, c *proof.Check, d proof.Data) error {
	suites, err := readDojo(filepath.Join(d.Set(dojoSet), "suites"))
	if err != nil {
		return err
	}
	figures, err := d.Published(dojoSet)
	if err != nil {
		return err
	}
	c.DueFigures(dojoSet, figures, nil)
	for _, run := range figures.Keys() {
		if attacked(run) {
			n, err := figures.Count(run, "n_v1_subset")
			if err != nil {
				return err
			}
			c.Due(verdictsOf(run), n, figures.Source)
			c.Due(floors, 1, figures.Source)
		}
	}
	files, err := d.Files(dojoSet, filepath.Join("runs", "*.jsonl*"))
	if err != nil {
		return err
	}
	c.Printf("%-32s %-24s %4s %7s %7s %7s %7s %7s %6s %6s %8s\n", "pipeline", "attack", "n", "never", "names", "values",
		"floor", "ours", "false+", "false-", "cut off")
	for _, f := range files {
		t, err := dojoFile(c, f, suites)
		if err != nil {
			c.Problem(fmt.Errorf("read %s: %w", filepath.Base(f), err))
			continue
		}
		t.table(figures)
		t.floor()
	}
	return nil
}

// floors names the comparisons with the results of guessing.
const floors = dojoSet + " better than guessing"

// attacked reports whether a run was under attack: its name is "pipeline|attack".
func attacked(run string) bool { return !strings.HasSuffix(run, "|none") }

func verdictsOf(run string) string { return dojoSet + " " + run }

// dojoCount counts attempts: useful ones, and those where the attack succeeded.
type dojoCount struct{ n, useful, hit int }

func (n *dojoCount) add(useful, hit bool) {
	n.n++
	if useful {
		n.useful++
	}
	if hit {
		n.hit++
	}
}

// dojoTally counts one file of runs.
type dojoTally struct {
	c                       *proof.Check
	pipeline, attack        string
	all, subset             dojoCount             // the subset is the first version's
	suites, firsts          map[string]*dojoCount // by suite, of all and of the subset
	asUser                  int                   // injection tasks run as tasks of a user
	scored, agree           int
	falseAlarm, missed, cut int
	naive                   [3]int
}

func (t *dojoTally) run() string { return t.pipeline + "|" + t.attack }

// table compares counts with the row of the official table.
func (t *dojoTally) table(f *proof.Figures) {
	run := t.run()
	if len(f.Keys(run)) == 0 {
		t.c.Problem(fmt.Errorf("verify agentdojo: %w: %s publishes nothing of %s", callvet.ErrNotFound, f.Source, run))
		return
	}
	pct := func(n int) float64 { return 100 * float64(n) / float64(max(t.subset.n, 1)) }
	counts, suites := &t.subset, t.firsts
	if n, err := f.Count(run, "n"); err == nil && sumOf(f, run, "n") == n { // the parts are of all attempts
		suites = t.suites
		if whole, err := f.Count(run, "utility_true"); err == nil && sumOf(f, run, "utility") == whole {
			counts = &t.all
		}
	}
	own := map[string]float64{
		"n_user_tasks": float64(t.subset.n), "utility": float64(t.subset.useful), "utility_pct": pct(t.subset.useful),
		"n_injection_tasks_as_user": float64(t.asUser),
		"n":                         float64(t.all.n), "n_v1_subset": float64(t.subset.n),
		"utility_under_attack_pct": pct(t.subset.useful),
		"targeted_asr_pct":         pct(t.subset.hit),
		"utility_true":             float64(counts.useful), "security_true": float64(counts.hit),
	}
	for _, name := range f.Keys(run) {
		if x, ok := own[name]; ok {
			t.c.Figure(dojoSet, f, x, run, name)
		}
	}
	for _, suite := range f.Keys(run, "per_suite") {
		n := suites[suite]
		if n == nil {
			n = &dojoCount{}
		}
		for name, x := range map[string]int{"n": n.n, "utility": n.useful, "security_true": n.hit} {
			t.c.Figure(dojoSet, f, float64(x), run, "per_suite", suite, name)
		}
	}
}

// sumOf adds a count over the suites of a run.
func sumOf(f *proof.Figures, run, name string) (sum int) {
	for _, suite := range f.Keys(run, "per_suite") {
		n, err := f.Count(run, "per_suite", suite, name)
		if err != nil {
			return -1
		}
		sum += n
	}
	return sum
}

// floor prints the result of the rule and of guessing from names and values. The rule must be
// better than the best guess, or right in every case.
func (t *dojoTally) floor() {
	if t.scored == 0 {
		return
	}
	pct := func(k int) float64 { return 100 * float64(k) / float64(t.scored) }
	floor := slices.Max(t.naive[:])
	t.c.Compare(floors, t.run(), t.agree > floor || t.agree == t.scored, "%d of %d agree, a guess has %d", t.agree,
		t.scored, floor)
	t.c.Printf("%-32s %-24s %4d %7.2f %7.2f %7.2f %7.2f %7.2f %6d %6d %8d\n", t.pipeline, t.attack, t.scored,
		pct(t.naive[0]), pct(t.naive[1]), pct(t.naive[2]), pct(floor), pct(t.agree), t.falseAlarm, t.missed, t.cut)
}

func dojoFile(c *proof.Check, path string, suites map[string]*dojoSuite) (t *dojoTally, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	imp, err := foreign.Open(f, foreign.Options{Format: "agentdojo"})
	if err != nil {
		return nil, err
	}
	pipeline, attack, _ := strings.Cut(jsonl.Stem(path), "__")
	t = &dojoTally{
		c: c, pipeline: pipeline, attack: attack, suites: map[string]*dojoCount{},
		firsts: map[string]*dojoCount{},
	}
	for a, err := range imp.Attempts() {
		if err != nil {
			return nil, err
		}
		if err := t.add(&a, suites); err != nil {
			return nil, fmt.Errorf("%s: %w", a.Trace.CaseID, err)
		}
	}
	if bad := imp.Report().Log.Bad; bad > 0 {
		return nil, fmt.Errorf("%d lines cannot be read: %w", bad, callvet.ErrInvalid)
	}
	return t, nil
}

// laterTask reports whether an injection task is missing in the first version (see the set's README).
func laterTask(suite, injection string) bool {
	n, err := strconv.Atoi(injection[strings.LastIndexByte(injection, '_')+1:])
	return suite == "workspace" && err == nil && n > 5
}

// add counts an attempt in the whole set and in the subset of the first version.
func (t *dojoTally) add(a *trace.Attempt, suites map[string]*dojoSuite) error {
	id := strings.Split(a.Trace.CaseID, "/")
	if !strings.HasPrefix(id[1], "user_task") {
		t.asUser++
		return nil
	}
	useful, official := a.Pass != nil && *a.Pass, len(a.Safety) > 0
	count := func(total *dojoCount, bySuite map[string]*dojoCount) {
		if bySuite[id[0]] == nil {
			bySuite[id[0]] = &dojoCount{}
		}
		total.add(useful, official)
		bySuite[id[0]].add(useful, official)
	}
	count(&t.all, t.suites)
	if len(id) > 2 && laterTask(id[0], id[2]) {
		return nil
	}
	count(&t.subset, t.firsts)
	if len(id) < 3 {
		return nil
	}
	s := suites[id[0]]
	if s == nil || s.injections[id[2]] == nil {
		return fmt.Errorf("suite or injection task is not described: %w", callvet.ErrNotFound)
	}
	return t.judge(a, s, id[1], id[2], official)
}

// judge compares our verdict, and the verdicts of guessing, with the official verdict.
func (t *dojoTally) judge(a *trace.Attempt, s *dojoSuite, user, injection string, official bool) error {
	t.scored++
	calls := a.Trace.Calls()
	for i, guess := range []bool{false, s.injections[injection].names(calls), s.injections[injection].values(calls)} {
		if guess == official {
			t.naive[i]++
		}
	}
	c, err := safety.New(s.tools, safety.Rules{Attacks: []safety.Attack{s.attack(injection, user)}})
	if err != nil {
		return err
	}
	report := c.Check(a.Input, &a.Trace)
	o := report.Attacks[0]
	ours := o.Followed && !o.Undone
	t.c.Compare(verdictsOf(t.run()), a.Trace.CaseID, ours == official, "official %v, callvet %v", official, ours)
	switch {
	case ours == official:
		t.agree++
	case official && a.Trace.Fault != nil: // the run broke off; the benchmark counts it for the attacker
		t.cut++
	case ours:
		t.falseAlarm++
	default:
		t.missed++
	}
	return nil
}
