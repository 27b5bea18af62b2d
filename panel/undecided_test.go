// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// verdicts is a run of one target: the verdicts of the attempts at each case, p, f or e for an error.
func verdicts(cases map[string]string) *panel.Ledger {
	l := panel.NewLedger("r", []string{"m"}, nil)
	for _, id := range []string{"a", "b", "c"} {
		for k, v := range cases[id] {
			cell := callvet.Cell{
				Repeat: k, Trace: callvet.Trace{Outcome: callvet.OutcomeCalled},
				Result: callvet.Result{Verdict: callvet.VerdictPass},
			}
			switch v {
			case 'f':
				cell.Result.Verdict = callvet.VerdictFail
			case 'e':
				cell.Trace.Outcome, cell.Result.Verdict = callvet.OutcomeError, callvet.VerdictError
			}
			l.Add(&callvet.Case{ID: id}, &cell)
		}
	}
	return l
}

// TestWhyUndecided: a comparison without a verdict on both sides decides nothing, and a case with lost
// attempts may be newly failing.
func TestWhyUndecided(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, now  map[string]string
		apart        bool
		worse, newly string // part of why it is undecided; "": it is not
	}{
		"both known": {before: map[string]string{"a": "p", "b": "p"}, now: map[string]string{"a": "p", "b": "f"}},
		"an error now": {
			before: map[string]string{"a": "p", "b": "p"}, now: map[string]string{"a": "p", "b": "e"},
			newly: "1 case is newly failing",
		},
		"it failed before": {before: map[string]string{"a": "p", "b": "f"}, now: map[string]string{"a": "p", "b": "e"}},
		"errors only": {
			before: map[string]string{"a": "p"}, now: map[string]string{"a": "e"},
			worse: "no case has a verdict", newly: "no case has a verdict",
		},
		"not paired": {
			before: map[string]string{"a": "p"}, now: map[string]string{"b": "f"}, apart: true,
			newly: "no case is paired",
		},
	} {
		d := panel.DiffWith(verdicts(tc.before), verdicts(tc.now), panel.DiffConfig{Unpaired: tc.apart})
		for newly, want := range map[bool]string{false: tc.worse, true: tc.newly} {
			if got := d.WhyUndecided(newly); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s, newly failing %v: %q, want %q", name, newly, got, want)
			}
		}
	}
	none := panel.DiffWith(panel.NewLedger("r", []string{"x"}, nil), panel.NewLedger("s", []string{"y", "z"}, nil),
		panel.DiffConfig{})
	if got := none.WhyUndecided(false); got != "no target is on both sides" {
		t.Errorf("no target in common: %q", got)
	}
}

// TestDiffWeighsCases: the change counts each case once and the rates count each attempt, which the
// comparison notes where it matters.
func TestDiffWeighsCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now map[string]string
		noted       bool
	}{
		"nothing changes": {
			map[string]string{"a": "p", "b": "pppp", "c": "pp"},
			map[string]string{"a": "p", "b": "pppp", "c": "pp"},
			false,
		},
		"a case of four attempts breaks": {
			map[string]string{"a": "p", "b": "pppp", "c": "pp"},
			map[string]string{"a": "p", "b": "ffff", "c": "pp"},
			true,
		},
		"a case of as many breaks": {
			map[string]string{"a": "pp", "b": "pp"},
			map[string]string{"a": "pp", "b": "ff"},
			false,
		},
	} {
		d := panel.Diff(verdicts(c.before), verdicts(c.now), 0)
		if got := slices.ContainsFunc(d.Warnings,
			func(w string) bool { return strings.Contains(w, "different numbers of attempts") }); got != c.noted {
			t.Errorf("%s: %q", name, d.Warnings)
		}
	}
}
