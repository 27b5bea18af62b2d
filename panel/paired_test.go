// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// Pairs without ledgers give the same results as with them: by one value a case, and by several.
func TestPairedIsDiff(t *testing.T) {
	t.Parallel()
	for _, repeats := range []int{1, 2} {
		sides := [2]*panel.Ledger{}
		shares := [2][]panel.Share{}
		for s := range sides {
			sides[s] = panel.NewLedger("x", []string{"m"}, []string{})
			for i := range 25 {
				share := panel.Share{Binary: true}
				for n := range repeats {
					verdict := callvet.VerdictFail
					if (i*7+s*i+n)%5 < 2+s {
						verdict, share.Sum = callvet.VerdictPass, share.Sum+1
					}
					share.N++
					sides[s].Add(&callvet.Case{ID: fmt.Sprint(i)},
						&callvet.Cell{Case: i, Repeat: n, Result: callvet.Result{Verdict: verdict}})
				}
				shares[s] = append(shares[s], share)
			}
		}
		want := panel.Diff(sides[0], sides[1], 0.95).Targets[0].Overall
		got := panel.Paired(shares[0], shares[1], 0.95)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(panel.Difference{})); diff != "" || got.Rose == 0 {
			t.Errorf("%d a case: %s", repeats, diff)
		}
	}
}

// Three cases that all change show nothing, and neither do three unchanged ones: a mean without
// variance is no certainty.
func TestPairedOfFew(t *testing.T) {
	t.Parallel()
	same := func(sum float64, n int, binary bool) []panel.Share {
		return []panel.Share{{sum, n, binary}, {sum, n, binary}, {sum, n, binary}, {}}
	}
	for name, c := range map[string]struct {
		before, after []panel.Share
		p             float64
	}{
		"rates":           {same(1, 1, true), same(0, 1, true), 0.125},
		"several":         {same(2, 2, true), same(0, 2, true), 0.25},
		"numbers":         {same(0.5, 1, false), same(0.25, 1, false), 0.25},
		"nothing changes": {same(0.5, 1, false), same(0.5, 1, false), 1},
	} {
		got := panel.Paired(c.before, c.after, 0.95)
		if math.Abs(got.P-c.p) > 1e-12 || got.Verdict != panel.ChangeUnclear || got.Cases != 3 ||
			got.Change.Upper-got.Change.Lower < 0.5 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := panel.Paired(same(1, 1, true)[3:], same(1, 1, true)[3:], 0.95); got.Verdict != panel.ChangeNone ||
		got.P != 1 {
		t.Errorf("%+v", got)
	}
}
