// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestUnknownCasesArePairedByID holds that a case changed only where both sides
// tell what it asks.
func TestUnknownCasesArePairedByID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, cand []string // the question of the case in the attempts
		changed    bool
	}{
		"neither records it":   {[]string{""}, []string{""}, false},
		"one records it":       {[]string{""}, []string{"a"}, false},
		"both, the same":       {[]string{"a"}, []string{"a"}, false},
		"both, not the same":   {[]string{"a"}, []string{"b"}, true},
		"a later attempt does": {[]string{"", "a"}, []string{"b"}, true},
		"the first one counts": {[]string{"a", "b"}, []string{"a", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := func(asks []string) *Ledger {
				l := NewLedger("run", []string{"m"}, nil)
				for i, s := range asks {
					l.Add(&callvet.Case{ID: "t", Tags: []string{s}, Context: s},
						&callvet.Cell{Repeat: i, Result: callvet.Result{Verdict: callvet.VerdictPass}})
				}
				return l
			}
			d := Diff(ledger(c.base), ledger(c.cand), 0)
			if got := len(d.Changed) == 1; got != c.changed || d.Targets[0].Overall.Cases == 1 == c.changed {
				t.Errorf("changed %v, compared %d", d.Changed, d.Targets[0].Overall.Cases)
			}
		})
	}
}

// Targets of one name that read different files are compared, and it is reported.
func TestDiffFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, cand []string
		warns      bool
	}{
		"another": {[]string{"", "a"}, []string{"", "b"}, true}, "same": {[]string{"", "a"}, []string{"", "a"}, false},
		"not known": {nil, []string{"", "b"}, false},
	} {
		sides := [2]*Ledger{}
		for i, files := range [][]string{c.base, c.cand} {
			l := NewLedger("run", []string{"m", "r"}, nil)
			l.Files(files)
			l.Add(&callvet.Case{ID: "a"},
				&callvet.Cell{Target: 1, Result: callvet.Result{Verdict: callvet.VerdictPass}})
			sides[i] = l
		}
		d := Diff(sides[0], sides[1], 0)
		if got := slices.ContainsFunc(d.Warnings,
			func(w string) bool { return strings.Contains(w, "r did not read the same files") }); got != c.warns {
			t.Errorf("%s: %v", name, d.Warnings)
		}
	}
}

// Targets that were asked with other prompts are compared, and it is reported; prompts of trace
// files are not known.
func TestDiffPrompts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, cand []string
		warns      int
	}{
		"another": {[]string{"a", "be brief"}, []string{"a", ""}, 1}, "same": {[]string{"a", ""}, []string{"a", ""}, 0},
		"not known": {nil, []string{"a", "b"}, 0},
	} {
		sides := [2]*Ledger{}
		for i, prompts := range [][]string{c.base, c.cand} {
			l := NewLedger("run", []string{"m", "r"}, nil)
			l.Prompts(prompts)
			l.Add(&callvet.Case{ID: "a"},
				&callvet.Cell{Target: 1, Result: callvet.Result{Verdict: callvet.VerdictPass}})
			sides[i] = l
		}
		d := Diff(sides[0], sides[1], 0)
		if n := len(d.Warnings); n != c.warns || n > 0 &&
			!strings.HasPrefix(d.Warnings[0], "r was not asked with the same prompt") {
			t.Errorf("%s: %v", name, d.Warnings)
		}
	}
}

// A target that leaves a layer out is judged by less, which is reported.
func TestDiffLayers(t *testing.T) {
	t.Parallel()
	ledger := func(layers ...string) *Ledger {
		l := NewLedger("run", []string{"r"}, nil)
		cell := &callvet.Cell{
			Trace:  callvet.Trace{Decision: &callvet.Decision{}},
			Result: callvet.Result{Verdict: callvet.VerdictPass},
		}
		for _, name := range layers {
			cell.Result.Assertions = append(cell.Result.Assertions,
				callvet.Assertion{Name: name, Layer: callvet.LayerRouting})
		}
		l.Add(&callvet.Case{ID: "a"}, cell)
		return l
	}
	full := ledger(callvet.SelectRoute, callvet.SelectAgents, callvet.SelectTools)
	if d := Diff(ledger(callvet.SelectTools, callvet.SelectSubRoute), full, 0); len(d.Warnings) != 1 ||
		d.Warnings[0] != "r is judged by sub-route, tools, r by agents, route, tools: passes and composites are not of the same layers" {
		t.Error(d.Warnings)
	}
	if d := Diff(ledger(callvet.SelectTools, callvet.SelectAgents, callvet.SelectRoute), full, 0); len(d.Warnings) > 0 {
		t.Error(d.Warnings)
	}
}

// Runs with verdicts by different rules are compared, and it is reported.
func TestDiffRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, cand int
		warned     bool
	}{"the same": {2, 2, false}, "older": {1, 2, true}, "newer": {2, 1, true}, "not known": {0, 2, false}} {
		ledger := func(version int) *Ledger {
			l := NewLedger("run", []string{"m"}, nil)
			l.Add(&callvet.Case{ID: "t"}, &callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}})
			l.Rules(version)
			return l
		}
		d := Diff(ledger(c.base), ledger(c.cand), 0)
		if got := slices.ContainsFunc(d.Warnings,
			func(w string) bool { return strings.Contains(w, "of the rules") }); got != c.warned {
			t.Errorf("%s: %q", name, d.Warnings)
		}
	}
}

// Targets that were asked with other parameters, or other tools, are compared, and a warning names
// what differs.
func TestDiffSettingsAndTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base, cand []Settings
		tools      [2]string
		want       []string
	}{
		"the same":      {[]Settings{{"temperature": "0"}}, []Settings{{"temperature": "0"}}, [2]string{"x", "x"}, nil},
		"not known":     {nil, []Settings{{"temperature": "0"}}, [2]string{"", "x"}, nil},
		"not known now": {[]Settings{{"temperature": "0"}}, nil, [2]string{"x", ""}, nil},
		"other values": {
			[]Settings{{"temperature": "0", "top_p": "1"}},
			[]Settings{{"temperature": "1", "top_p": "1"}},
			[2]string{},
			[]string{"m was not asked with the same parameters in both runs (temperature): a difference may be theirs"},
		},
		"on one side": {
			[]Settings{{"seed": "1"}},
			[]Settings{{"tool_choice": "none"}},
			[2]string{},
			[]string{"m was not asked with the same parameters in both runs (seed, tool_choice): a difference may be theirs"},
		},
		"other tools": {
			nil, nil,
			[2]string{"x", "y"},
			[]string{"the tools of the suite are not the same in both runs: a difference may be that of the tools"},
		},
	} {
		sides := [2]*Ledger{}
		for i, settings := range [][]Settings{c.base, c.cand} {
			l := NewLedger("run", []string{"m"}, nil)
			l.Settings(settings)
			l.Tools(c.tools[i])
			l.Add(&callvet.Case{ID: "a"}, &callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}})
			sides[i] = l
		}
		if d := cmp.Diff(c.want, Diff(sides[0], sides[1], 0).Warnings); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestDiffRemarks: what is true of several targets is one sentence.
func TestDiffRemarks(t *testing.T) {
	t.Parallel()
	sides := [2]*Ledger{}
	for i, prompt := range []string{"before", "after"} {
		l := NewLedger("run", []string{"a", "b", "c"}, nil)
		l.Prompts([]string{prompt, prompt, "same"})
		for target := range 3 {
			l.Add(&callvet.Case{ID: "x"},
				&callvet.Cell{Target: target, Result: callvet.Result{Verdict: callvet.VerdictPass}})
		}
		sides[i] = l
	}
	want := []string{"a, b were not asked with the same prompt in both runs: a difference may be the prompt's"}
	if d := cmp.Diff(want, Diff(sides[0], sides[1], 0).Warnings); d != "" {
		t.Error(d)
	}
}
