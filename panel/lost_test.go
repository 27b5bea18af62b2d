// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

func TestLostSentence(t *testing.T) {
	t.Parallel()
	at := func(lines ...int64) (out []LostRecord) {
		for _, n := range lines {
			out = append(out, LostRecord{Line: n})
		}
		return out
	}
	named := at(7)
	named[0].File = "a.jsonl"
	for _, c := range []struct {
		lost *Lost
		want string
	}{
		{nil, ""},
		{&Lost{}, ""},
		{&Lost{Count: 1, First: at(7)}, "1 record is lost: line 7"},
		{&Lost{Count: 1, First: named}, "1 record is lost: a.jsonl:7"},
		{&Lost{Count: 3, First: at(7, 8, 9)}, "3 records are lost: line 7, line 8, line 9"},
		{&Lost{Count: 4, First: at(7, 8, 9, 10)}, "4 records are lost: line 7, line 8, line 9, …"},
		{&Lost{Count: 2, First: at(7)}, "2 records are lost: line 7, …"},
	} {
		if got := c.lost.Sentence(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestLostOfComparison: the lost records of both sides count, those of one run once.
func TestLostOfComparison(t *testing.T) {
	t.Parallel()
	a, b := &Lost{Count: 1, First: []LostRecord{{Line: 7}}}, &Lost{Count: 2, First: []LostRecord{{Line: 8}}}
	for name, c := range map[string]struct {
		of   Comparison
		want *Lost
	}{
		"neither":   {Comparison{}, nil},
		"baseline":  {Comparison{LostBaseline: a}, a},
		"candidate": {Comparison{LostCandidate: b}, b},
		"both": {
			Comparison{LostBaseline: a, LostCandidate: b},
			&Lost{Count: 3, First: []LostRecord{{Line: 7}, {Line: 8}}},
		},
	} {
		if d := cmp.Diff(c.want, c.of.Lost()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	ledger := func(lost *Lost) *Ledger {
		l := NewLedger("run", []string{"m"}, nil)
		l.Add(&callvet.Case{ID: "t"}, &callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}})
		l.Lose(lost)
		return l
	}
	one := ledger(a)
	if d := Diff(one, one, 0); d.Lost().Records() != 1 ||
		strings.Count(strings.Join(d.Warnings, "\n"), "is lost") != 1 {
		t.Errorf("a run with itself: %+v %v", d.Lost(), d.Warnings)
	}
	if d := Diff(one, ledger(b), 0); d.Lost().Records() != 3 || d.LostBaseline != a {
		t.Errorf("two runs: %+v", d.Lost())
	}
}

func TestLostRangeJSON(t *testing.T) {
	t.Parallel()
	iv := func(x float64) stats.Interval {
		return stats.Interval{Point: x, Lower: x, Upper: x, N: 4, Confidence: 0.95, Status: stats.StatusOK}
	}
	m := Metric{Name: "pass_rate", Unit: UnitRate, Interval: iv(0.5), Lost: &LostRange{Low: iv(0.25), High: iv(0.75)}}
	for _, has := range []bool{true, false} {
		if !has {
			m.Lost = nil
		}
		b, err := json.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Lost *struct{ Low, High struct{ Point float64 } }
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if (got.Lost != nil) != has || has && (got.Lost.Low.Point != 0.25 || got.Lost.High.Point != 0.75) {
			t.Errorf("%s", b)
		}
	}
	for _, lost := range []LostRange{{Low: iv(math.Inf(1)), High: iv(0.5)}, {Low: iv(0.5), High: iv(math.Inf(-1))}} {
		m.Lost = &lost
		if b, err := json.Marshal(&m); err == nil && !json.Valid(b) {
			t.Errorf("%s", b)
		}
	}
}

func TestReasonedBlocked(t *testing.T) {
	t.Parallel()
	for r, want := range map[Reasoned]bool{
		{Outcome: callvet.OutcomeError, Reason: string(callvet.FaultFiltered)}:       true,
		{Outcome: callvet.OutcomeError, Reason: string(callvet.FaultTimeout)}:        false,
		{Outcome: callvet.OutcomeUnparseable, Reason: string(callvet.FaultFiltered)}: false,
	} {
		if got := r.Blocked(); got != want {
			t.Errorf("%+v: %t", r, got)
		}
	}
}
