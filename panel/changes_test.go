// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// TestKindsOfChange: half of the attempts is enough to pass, a case that changed without crossing it passes
// less or more often, and it is flaky where a side both passed and failed.
func TestKindsOfChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, now, kind string
		flaky             bool
		failing, passing  int
	}{
		{"p", "f", NewlyFailing, false, 1, 0},
		{"pf", "ff", NewlyFailing, true, 1, 0},
		{"pp", "pff", NewlyFailing, true, 1, 0},
		{"f", "p", NewlyPassing, false, 0, 1},
		{"ff", "pf", NewlyPassing, true, 0, 1},
		{"pp", "pf", LessOften, true, 0, 0},
		{"pfff", "ff", LessOften, true, 0, 0},
		{"pf", "pp", MoreOften, true, 0, 0},
		{"ff", "pff", MoreOften, true, 0, 0},
		{"ff", "fff", BothFail, false, 0, 0},
		{"pff", "fpf", BothFail, true, 0, 0},
		{"pf", "fp", BothPass, true, 0, 0},
		{"pp", "p", BothPass, false, 0, 0},
	} {
		tc := DiffWith(attemptsAt(c.before), attemptsAt(c.now), DiffConfig{Unchanged: 9}).Targets[0]
		all := append(tc.Changes, tc.Unchanged...)
		if len(all) != 1 || all[0].Kind != c.kind || (all[0].Stability == "flaky") != c.flaky ||
			(len(tc.Unchanged) == 1) != (c.kind == BothFail || c.kind == BothPass) {
			t.Errorf("%s, then %s: %+v", c.before, c.now, all)
		}
		if o := tc.Overall; o.NewlyFailing != c.failing || o.NewlyPassing != c.passing {
			t.Errorf("%s, then %s: %d newly failing, %d newly passing", c.before, c.now, o.NewlyFailing, o.NewlyPassing)
		}
	}
}

// TestUnchangedAndUnjudged: as many cases that did not change are listed as were asked for, those that fail
// first, and cases without a verdict with the side that lacks it.
func TestUnchangedAndUnjudged(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int][]string{
		0: nil, 1: {"c2"}, 2: {"c2", "c0"}, 3: {"c2", "c0", "c1"},
		9: {"c2", "c0", "c1"},
	} {
		l := attemptsAt("p", "p", "f")
		tc := DiffWith(l, l, DiffConfig{Unchanged: asked}).Targets[0]
		var got []string
		for _, c := range tc.Unchanged {
			got = append(got, c.Case)
		}
		if d := cmp.Diff(want, got); d != "" || tc.UnchangedCases != min(3, asked*3) {
			t.Errorf("%d asked for: %d there are, %s", asked, tc.UnchangedCases, d)
		}
	}
	got := Diff(attemptsAt("p", "e", "p", "e", "u", "l"), attemptsAt("p", "p", "e", "l", "p", "s"),
		0).Targets[0].Unjudged
	want := []UnjudgedCase{{"c1", "baseline"}, {"c2", "candidate"}, {"c3", "both"}, {"c4", "baseline"}, {"c5", "both"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	measured := measuredLedger("arg_em", false, same(3, values{1, 1}))
	if got := Diff(measured, measured, 0).Targets[0].Unjudged; len(got) > 0 {
		t.Errorf("cases without an attempt: %+v", got)
	}
}

// TestJudge: a difference is better or worse where its interval leaves out 0 and its p value is below the
// level; where it can say nothing it is unclear.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cases        int
		lower, upper float64
		p            float64
		status       stats.Status
		want         Change
	}{
		"better":                {9, 0.1, 0.3, 0.2, stats.StatusOK, ChangeBetter},
		"worse":                 {9, -0.3, -0.1, 0.2, stats.StatusOK, ChangeWorse},
		"an end at 0":           {9, 0, 0.3, 0.2, stats.StatusOK, ChangeUnclear},
		"the other end at 0":    {9, -0.3, 0, 0.2, stats.StatusOK, ChangeUnclear},
		"0 is inside":           {9, -0.1, 0.1, 0.2, stats.StatusOK, ChangeUnclear},
		"just at the level":     {9, 0.1, 0.3, 0.25, stats.StatusOK, ChangeUnclear},
		"above the level":       {9, 0.1, 0.3, 0.5, stats.StatusOK, ChangeUnclear},
		"the interval is none":  {9, 0.1, 0.3, 0.2, stats.StatusTooFew, ChangeUnclear},
		"no case is comparable": {0, 0.1, 0.3, 0.2, stats.StatusOK, ChangeNone},
	} {
		d := Difference{
			Cases: c.cases, P: c.p,
			Change: stats.Interval{Lower: c.lower, Upper: c.upper, Confidence: 0.75, Status: c.status},
		}
		if got := d.judge(); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestChangeOfAmounts: a change of amounts is a share of the baseline. It has the ends of the ratio of the
// case means; where fewer than five cases changed it has room for more of them.
func TestChangeOfAmounts(t *testing.T) {
	t.Parallel()
	before := make([]values, 12)
	for i := range before {
		before[i] = values{float64(1 + i%4), 1}
	}
	with := func(by ...float64) []values {
		out := slices.Clone(before)
		for i, x := range by {
			out[i].sum += x
		}
		return out
	}
	for name, c := range map[string]struct {
		now        []values
		status     stats.Status
		fell, rose int
	}{
		"five rise":                 {with(1, 2, 3, 4, 5), stats.StatusOK, 0, 5},
		"four rise":                 {with(1, 2, 3, 4), stats.StatusCapped, 0, 4},
		"three rise and three fall": {with(1, 2, 3, 0, -0.5, -1, -1), stats.StatusOK, 3, 3},
		"one rises and one falls":   {with(1, -1), stats.StatusCapped, 1, 1},
	} {
		d := &changeOfMetric(MetricCost, true, before, c.now).Overall
		var r stats.Ratio
		for i := range before {
			r.Add(c.now[i].sum, before[i].sum)
		}
		ratio := r.Interval(0.95)
		// Few changes: none of the rest does by more than the largest did, which is a share of the mean of 2.5.
		lower, upper := max(-1, ratio.Lower-1), ratio.Upper-1
		if c.status == stats.StatusCapped {
			most := slices.Max([]float64{c.now[0].sum - before[0].sum, c.now[3].sum - before[3].sum, 1}) / 2.5
			room := func(n int) float64 { return most * stats.ClopperPearson(n, 12, 0.95, stats.TwoSided).Upper }
			lower, upper = max(-1, min(lower, -room(c.fell))), max(upper, room(c.rose))
		}
		if d.Change.Status != c.status || d.Fell != c.fell || d.Rose != c.rose ||
			differ(d.Change.Point, ratio.Point-1) || differ(d.Change.Lower, lower) || differ(d.Change.Upper, upper) {
			t.Errorf("%s: %d fell, %d rose, %+v, want [%v, %v]", name, d.Fell, d.Rose, d.Change, lower, upper)
		}
	}
	// No case of twelve changes: at most 26.46 % of cases like them do, and by the largest amount, 4, where
	// the mean is 2.5.
	d := &changeOfMetric(MetricCost, true, before, before).Overall
	if room := 0.2646484693970511 * 4 / 2.5; d.Change.Point != 0 || differ(d.Change.Lower, -room) ||
		differ(d.Change.Upper, room) || d.Change.Status != stats.StatusCapped {
		t.Errorf("nothing changes: %+v", d.Change)
	}
	d = &changeOfMetric(MetricCost, true, before[:1], before[:1]).Overall
	if d.Change.Status != stats.StatusSingleCluster || d.Verdict != ChangeUnclear {
		t.Errorf("one case: %+v", d.Change)
	}
	var half []values
	for _, v := range before {
		half = append(half, values{v.sum / 2, 1})
	}
	d = &changeOfMetric(MetricCost, true, before, half).Overall
	if d.Change.Point != -0.5 || d.Change.Lower != -1 || !math.IsInf(d.Change.Upper, 1) ||
		d.Change.Status != stats.StatusNoSpread || d.Verdict != ChangeUnclear {
		t.Errorf("each costs half: %+v", d.Change)
	}
	if got := notNegative(stats.Interval{Lower: -2}).Lower; got != 0 {
		t.Errorf("an amount is at least %v", got)
	}
	if got := notNegative(stats.Interval{Lower: math.Inf(-1)}).Lower; !math.IsInf(got, -1) {
		t.Errorf("no end became %v", got)
	}
}

// TestOrderOfCases: the interval of a change is the same in any order of the cases, and equal changes are
// equal whatever rounding makes of them.
func TestOrderOfCases(t *testing.T) {
	t.Parallel()
	paired := func(changes ...Share) Difference {
		before := make([]Share, len(changes))
		for i := range changes {
			before[i] = Share{Sum: float64(changes[i].N / 4 * (i % 2)), N: changes[i].N, Binary: true}
			changes[i].Sum, changes[i].Binary = changes[i].Sum+before[i].Sum, true
		}
		return Paired(before, changes, 0.95)
	}
	one, two, three := Share{Sum: 1, N: 2}, Share{Sum: 2, N: 2}, Share{Sum: 0, N: 2}
	want := paired(one, one, one, two, two, three, three)
	for _, order := range [][]Share{
		{two, two, three, three, one, one, one},
		{three, one, two, one, three, two, one},
		{one, two, three, one, two, three, one},
	} {
		if got := paired(order...); differ(got.Change.Lower, want.Change.Lower) ||
			differ(got.Change.Upper, want.Change.Upper) || got.Change.Method != want.Change.Method {
			t.Errorf("in another order %+v, want %+v", got.Change, want.Change)
		}
	}
	if want.Change.Status != stats.StatusCapped {
		t.Errorf("four of seven cases change otherwise than three: %+v", want.Change)
	}
	// From one to two of three attempts, or from two to all three: a third more each time. All 20 cases do,
	// and the interval has room for others, as that of 20 whole cases of 20 has.
	var before, now []Share
	for i := range 20 {
		passes := float64(1 + i%2)
		before, now = append(before, Share{passes, 3, true}), append(now, Share{passes + 1, 3, true})
	}
	score := stats.TangoCounts(20, 0, 20, 0.95)
	if d := Paired(before, now, 0.95); d.Change.Status != stats.StatusCapped || differ(d.Change.Lower, score.Lower/3) ||
		differ(d.Change.Upper, 1./3) {
		t.Errorf("each a third more: %+v, want a third of %+v", d.Change, score)
	}
	for n, test := range map[int]string{14: "sign_flip", 15: "paired_t"} {
		if d := Paired(before[:n], now[:n], 0.95); d.Test != test {
			t.Errorf("%d cases: %s, want %s", n, d.Test, test)
		}
	}
}

// TestWidened: with one attempt a case the interval of a change reaches to the ends of Newcombe's and to
// those of Tango's.
func TestWidened(t *testing.T) {
	t.Parallel()
	for _, c := range []stats.Pairs{
		{Both: 20, Neither: 10, BaselineOnly: 3},
		{Both: 20, Neither: 10, CandidateOnly: 3},
		{Both: 2, Neither: 20, BaselineOnly: 2, CandidateOnly: 7},
		{Both: 30, BaselineOnly: 9, CandidateOnly: 1},
		{Both: 12},
		{CandidateOnly: 4, BaselineOnly: 4},
	} {
		var before, now []string
		for kind, n := range map[string]int{
			"pp": c.Both, "ff": c.Neither, "pf": c.BaselineOnly,
			"fp": c.CandidateOnly,
		} {
			before, now = append(before, slices.Repeat([]string{kind[:1]}, n)...),
				append(now, slices.Repeat([]string{kind[1:]}, n)...)
		}
		d := Diff(attemptsAt(before...), attemptsAt(now...), 0).Targets[0].Overall
		a, b := stats.Newcombe(c, 0.95), stats.Tango(c, 0.95)
		if differ(d.Change.Lower, min(a.Lower, b.Lower)) || differ(d.Change.Upper, max(a.Upper, b.Upper)) ||
			d.Cases != c.N() {
			t.Errorf("%+v: %+v, want %+v and %+v", c, d.Change, a, b)
		}
	}
	// Of twelve cases eight rise by half, two fall by half and two stay: Tango's interval of 8 and 2 of 12
	// cases, by half a case each; all of them are unlike but for eight.
	var before, now []Share
	for i := range 12 {
		from, to := 1., 2.
		if i >= 8 {
			from, to = 1, []float64{0, 0, 1, 1}[i-8]
		}
		before, now = append(before, Share{from, 2, true}), append(now, Share{to, 2, true})
	}
	d, score := Paired(before, now, 0.95), stats.TangoCounts(8, 2, 12, 0.95)
	if d.Change.Lower > score.Lower/2+1e-9 || d.Change.Upper < score.Upper/2-1e-9 ||
		d.Change.Lower < score.Lower/2-0.2 {
		t.Errorf("%+v, want at least %+v by half", d.Change, score)
	}
}

// TestWidenedOfFewCases: the interval of two cases with several attempts is widened, and one case has none.
func TestWidenedOfFewCases(t *testing.T) {
	t.Parallel()
	before, now := []Share{{1, 4, true}, {2, 4, true}}, []Share{{2, 4, true}, {4, 4, true}}
	for n, want := range map[int]stats.Status{1: stats.StatusTooFew, 2: stats.StatusCapped} {
		if d := Paired(before[:n], now[:n], 0.95); d.Change.Status != want || d.Verdict != ChangeUnclear {
			t.Errorf("%d cases: %s %+v", n, d.Verdict, d.Change)
		}
	}
}

// TestNewlyFailingOfShares: of sides without ledgers a case passes with half of its values, too.
func TestNewlyFailingOfShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, now      Share
		failing, passing int
	}{
		{Share{2, 4, true}, Share{1, 4, true}, 1, 0},
		{Share{1, 4, true}, Share{2, 4, true}, 0, 1},
		{Share{3, 4, true}, Share{2, 4, true}, 0, 0},
		{Share{1, 4, true}, Share{0, 4, true}, 0, 0},
	} {
		if d := Paired([]Share{c.before}, []Share{c.now}, 0.95); d.NewlyFailing != c.failing ||
			d.NewlyPassing != c.passing {
			t.Errorf("%v, then %v: %d newly failing, %d newly passing", c.before, c.now, d.NewlyFailing, d.NewlyPassing)
		}
	}
}

// TestByTaskChange: a metric by task counts a task as right where all its known calls are, and leaves one
// without a known call out.
func TestByTaskChange(t *testing.T) {
	t.Parallel()
	m := changeOfMetric("arg_em_by_task", false, []values{{2, 2}, {3, 3}, {1, 3}, {0, 0}},
		[]values{{1, 2}, {5, 5}, {0, 1}, {1, 1}})
	if d := &m.Overall; d.Cases != 3 || d.Baseline.N != 3 || differ(d.Baseline.Point, 2./3) ||
		differ(d.Candidate.Point, 1./3) || d.Fell != 1 || m.OneSided != 1 {
		t.Errorf("%d one-sided, %+v", m.OneSided, m.Overall)
	}
}

// TestTwoRates: the p value of two equal rates is Fisher's where a count below 5 is expected, else that of
// the test of two proportions, by hand.
func TestTwoRates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ p1, n1, p0, n0, want float64 }{
		// 45 of 100 pass together: z is 0.1 over the root of 0.45 * 0.55 * (1/50 + 1/50).
		"two proportions": {0.4, 50, 0.5, 50, 0.3148786413},
		// 96 of 200 pass together.
		"other sizes": {0.4, 40, 0.5, 160, 0.2575179822},
		// 2 of 10 and 6 of 10: four are expected in each, and Fisher's test is exact.
		"four are expected":  {0.2, 10, 0.6, 10, 0.1698023339},
		"counts are rounded": {0.2, 10.4, 0.6, 9.6, 0.1698023339},
		"none passes":        {0, 100, 0, 100, 1},
		// None of 40,000 and 4 of 40,000.
		"too many for an exact test": {0, 40_000, 0.0001, 40_000, 0.0454948649},
	} {
		if got := twoRates(c.p1, c.n1, c.p0, c.n0); differ(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	part := func(point float64, n int) stats.Interval {
		return stats.Interval{Point: point, N: n, NEff: float64(n) / 2, Status: stats.StatusOK}
	}
	whole := part(0.5, 100)
	if v := versus(part(0.8, 50), whole); v == nil || differ(v.Rest, 0.2) || !(v.P < 0.001) {
		t.Errorf("half of all: %+v", v)
	}
	// 20 of 100 values, worth half as many: 0.8 of 10, and 0.425 of 40 for the rest. Half of all pass, so that
	// five of the ten are expected to.
	if v := versus(part(0.8, 20), whole); v == nil || differ(v.Rest, 0.425) || differ(v.P, 0.0338948535) {
		t.Errorf("a fifth: %+v", v)
	}
	empty := part(0.8, 20)
	empty.NEff = 0
	for name, iv := range map[string]stats.Interval{
		"all": whole, "none": part(0, 0), "worth nothing": empty,
		"no estimate": {N: 5, NEff: 5, Status: stats.StatusNoData},
	} {
		if v := versus(iv, whole); v != nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestPairsOfTargets: without a name in common two runs of one target each are compared, and no others.
func TestPairsOfTargets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, now []string
		want        []Pair
	}{
		{[]string{"a", "b"}, []string{"b", "c"}, []Pair{{"b", "b"}}},
		{[]string{"a"}, []string{"b"}, []Pair{{"a", "b"}}},
		{[]string{"a", "b"}, []string{"c"}, []Pair{}},
		{[]string{"a"}, []string{"b", "c"}, []Pair{}},
		{[]string{"a", "a"}, []string{"a"}, []Pair{{"a", "a"}}},
	} {
		if d := cmp.Diff(c.want, Namesakes(NewLedger("r", c.before, nil), NewLedger("s", c.now, nil))); d != "" {
			t.Errorf("%v and %v: %s", c.before, c.now, d)
		}
	}
	l := attemptsAt("p")
	for asked, want := range map[float64]float64{0: 0.95, 1: 0.95, 0.8: 0.8, -1: 0.95, math.NaN(): 0.95} {
		if got := Diff(l, l, asked).Confidence; got != want {
			t.Errorf("confidence %v is %v, want %v", asked, got, want)
		}
	}
}

// TestAttemptsOfTarget: the passes and judged attempts of a target at a case, by its name.
func TestAttemptsOfTarget(t *testing.T) {
	t.Parallel()
	l := judgedLedger("r", []string{"m", "n"}, 1, 3, false, func(target, _ int) int { return 1 + target })
	for name, want := range map[string][2]int{"m c0": {1, 3}, "n c0": {2, 3}, "o c0": {}, "m c9": {}} {
		if passes, judged := l.Attempts(name[:1], name[2:]); [2]int{passes, judged} != want {
			t.Errorf("%s: %d of %d, want %v", name, passes, judged, want)
		}
	}
	before, now := attemptsAt("p", "p"), NewLedger("s", []string{"m"}, nil)
	now.Add(&callvet.Case{ID: "c0"},
		&callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass, NotEvaluated: 1}})
	now.Add(&callvet.Case{ID: "c1"}, &callvet.Cell{Target: 1, Result: callvet.Result{Verdict: callvet.VerdictPass}})
	want := []string{"m: attempts that passed with assertions that were not evaluated, so that they passed the others only: 0 of the baseline, 1 now"}
	d := Diff(before, now, 0)
	if diff := cmp.Diff(want, d.Warnings); diff != "" || fmt.Sprint(d.OnlyBaseline) != "[c1]" {
		t.Errorf("%s, only in the baseline %v", diff, d.OnlyBaseline)
	}
}
