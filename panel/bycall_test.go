// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/stats"
)

// TestChangeByCall: a rate of calls is the ratio of its totals on each side, here 9 of 12 calls and 9 of
// 18. The cases differ, in 24ths, by -8, 0, -5, 2, -9 and -16: the change of the rates, and each case's
// surplus of right calls now over 3 calls a case, less the surplus before over 2 calls a case. The squares
// of their distances from the mean -6 sum up to 214.
func TestChangeByCall(t *testing.T) {
	t.Parallel()
	before := []values{{1, 2}, {2, 2}, {0, 1}, {3, 4}, {1, 1}, {2, 2}}
	now := []values{{1, 4}, {3, 3}, {0, 2}, {3, 4}, {1, 2}, {1, 3}}
	d := &changeOfMetric("arg_em", false, before, now).Overall
	if differ(d.Change.Point, -0.25) || differ(d.Change.SE, math.Sqrt(214./30)/24) {
		t.Errorf("change %+v", d.Change)
	}
	// Of the 64 ways to choose signs 8 give a sum of 36 or more: 0 counts either way, 2 as well.
	if d.Test != "sign_flip" || differ(d.P, 8./64) || d.Cases != 6 || d.Change.Status != stats.StatusOK ||
		d.Change.Method != "paired_ratio_of_totals" {
		t.Errorf("%+v", d)
	}
	if d.Baseline.N != 12 || d.Candidate.N != 18 || d.Fell != 3 || d.Rose != 0 {
		t.Errorf("%d calls, then %d; %d fell, %d rose", d.Baseline.N, d.Candidate.N, d.Fell, d.Rose)
	}
}

// TestCasesByCall: a case counts where a side has a call, and where the metric has a value by attempt
// only where both sides have one.
func TestCasesByCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		metric      string
		each        bool
		before, now []values
		cases       int
		oneSided    int
		point       float64
		fell, rose  int
	}{
		"no call on either side": {
			"arg_em", false,
			[]values{{1, 2}, {0, 0}},
			[]values{{2, 2}, {0, 0}},
			1,
			0, 0.5, 0, 1,
		},
		"no call before": {
			"arg_em", false,
			[]values{{1, 2}, {0, 0}},
			[]values{{1, 2}, {2, 2}},
			2, 0,
			0.25, 0, 1,
		},
		"no call now": {
			"arg_em", false,
			[]values{{1, 2}, {2, 2}},
			[]values{{1, 2}, {0, 0}},
			2, 0,
			-0.25, 1, 0,
		},
		"more calls now": {
			"arg_em", false,
			[]values{{1, 2}, {1, 1}},
			[]values{{1, 2}, {0, 2}},
			2, 0,
			-5. / 12, 1, 0,
		},
		"attempts on both sides": {
			"judged_pass", true,
			[]values{{2, 2}, {1, 1}},
			[]values{{1, 2}, {0, 1}},
			2, 0,
			-0.75, 2, 0,
		},
		"no attempt before": {
			"judged_pass", true,
			[]values{{2, 2}, {0, 0}},
			[]values{{1, 2}, {1, 1}},
			1, 1,
			-0.5, 1, 0,
		},
		"no attempt now": {
			"judged_pass", true,
			[]values{{2, 2}, {1, 1}},
			[]values{{1, 2}, {0, 0}},
			1, 1,
			-0.5, 1, 0,
		},
		"an amount on one side": {
			MetricCost, true,
			[]values{{2, 1}, {0, 0}},
			[]values{{3, 1}, {3, 1}},
			1,
			1, 0.5, 0, 1,
		},
	} {
		m := changeOfMetric(c.metric, c.each, c.before, c.now)
		if d := &m.Overall; d.Cases != c.cases || m.OneSided != c.oneSided || differ(d.Change.Point, c.point) ||
			d.Fell != c.fell || d.Rose != c.rose {
			t.Errorf("%s: %d cases, %d one-sided, %d fell, %d rose, %+v", name, d.Cases, m.OneSided, d.Fell,
				d.Rose, d.Change)
		}
	}
}

// TestNoCallsOnASide: a side without any call has no rate, so that nothing is decided.
func TestNoCallsOnASide(t *testing.T) {
	t.Parallel()
	d := &changeOfMetric("arg_em", false, same(8, values{2, 2}), same(8, values{0, 0})).Overall
	want := stats.Interval{
		Lower: -1, Upper: 1, Clusters: 8, Confidence: 0.95, Method: "paired_ratio_of_totals",
		Status: stats.StatusZeroDenominator,
	}
	if diff := cmp.Diff(want, d.Change); diff != "" || d.P != 1 || d.Verdict != ChangeUnclear ||
		d.Test != "paired_ratio_t" {
		t.Errorf("%s %+v", diff, d)
	}
}

// TestFewByCall: the interval of a change reaches as far as the two rates together where fewer than five
// cases do otherwise than the rest, and there is none of one case.
func TestFewByCall(t *testing.T) {
	t.Parallel()
	right, others := values{2, 2}, []values{{1, 3}, {1, 4}, {2, 5}, {1, 6}, {2, 7}}
	for name, c := range map[string]struct {
		before, now []values
		together    bool
		status      stats.Status
	}{
		"five of eleven do otherwise": {same(11, right), append(same(6, right), others...), false, stats.StatusOK},
		"four of ten do otherwise": {
			same(10, right), append(same(6, right), others[:4]...), true,
			stats.StatusCapped,
		},
		"nothing changes": {same(10, right), same(10, right), true, stats.StatusCapped},
		"two cases":       {same(2, right), same(2, right), true, stats.StatusCapped},
		"one case":        {same(1, right), same(1, values{1, 2}), false, stats.StatusTooFew},
	} {
		d := &changeOfMetric("arg_em", false, c.before, c.now).Overall
		if strings.HasSuffix(d.Change.Method, "+mover") != c.together || d.Change.Status != c.status {
			t.Errorf("%s: %+v", name, d.Change)
		}
	}
	// No case of ten changes: at most 30.85 % of cases like them do (1 less the tenth root of 0.025).
	d := &changeOfMetric("arg_em", false, same(10, right), same(10, right)).Overall
	if room := 1 - math.Pow(0.025, 0.1); differ(d.Change.Lower, -room) || differ(d.Change.Upper, room) {
		t.Errorf("nothing changes: %+v, want the ends %v from 0", d.Change, room)
	}
	if d := &changeOfMetric("arg_em", false, same(1, right), same(1, values{1, 2})).Overall; d.Change.Lower != -1 ||
		d.Change.Upper != 1 {
		t.Errorf("one case: %+v", d.Change)
	}
}

// TestChangeOfCounts: a change of counts has the interval of the cases' differences, of the two means
// where fewer than five cases do otherwise than the rest, and where fewer than five changed it has room
// for more of them.
func TestChangeOfCounts(t *testing.T) {
	t.Parallel()
	one, two, three := values{1, 1}, values{2, 1}, values{3, 1}
	for name, c := range map[string]struct {
		before, now []values
		method      string
		status      stats.Status
		fell, rose  int
	}{
		"all make one call more": {
			same(12, one), same(12, two), "paired_mean_t+mover",
			stats.StatusCapped, 0, 12,
		},
		"five of twelve change": {
			same(12, one),
			append(same(7, one), values{2, 1}, values{3, 1}, values{4, 1}, values{5, 1}, values{6, 1}),
			"paired_mean_skewed_t", stats.StatusOK, 0, 5,
		},
		"three fall and three rise": {
			same(12, two), append(same(6, two), one, one, one, three, three, three),
			"paired_mean_skewed_t", stats.StatusOK, 3, 3,
		},
		"all change, four of ten other ways": {
			same(10, one),
			append(same(6, two), values{3, 1}, values{4, 1}, values{5, 1}, values{6, 1}), "paired_mean_skewed_t+mover",
			stats.StatusCapped, 0, 10,
		},
		"two cases, one changes": {
			same(2, one),
			[]values{one, two},
			"paired_mean_skewed_t",
			stats.StatusCapped, 0, 1,
		},
		"one case": {same(1, one), same(1, two), "paired_mean_t", stats.StatusTooFew, 0, 1},
	} {
		d := &changeOfMetric("calls_per_attempt", true, c.before, c.now).Overall
		if d.Change.Method != c.method || d.Change.Status != c.status || d.Fell != c.fell || d.Rose != c.rose {
			t.Errorf("%s: %d fell, %d rose, %+v", name, d.Fell, d.Rose, d.Change)
		}
	}
	// Six events are what twelve cases of one call are worth, and twelve events those of two calls. Their
	// Poisson means have the intervals [0.3670, 2.2972] and [1.0334, 3.6142] by case.
	d := &changeOfMetric("calls_per_attempt", true, same(12, one), same(12, two)).Overall
	if d.Change.Point != 1 || differ(d.Change.Lower, -0.6176904322080468) ||
		differ(d.Change.Upper, 2.733877806288892) || d.Verdict != ChangeUnclear {
		t.Errorf("all make one call more: %+v", d.Change)
	}
	// None of twelve cases makes fewer calls: at most 26.46 % of cases like them do, each by two calls.
	d = &changeOfMetric("calls_per_attempt", true, same(12, one), append(same(11, one), values{3, 1})).Overall
	if differ(d.Change.Lower, -2*0.2646484693970511) || d.Rose != 1 {
		t.Errorf("one makes two calls more: %+v", d.Change)
	}
	// Each case has three calls in two attempts, so that its attempts differ; none has no call.
	d = &changeOfMetric("calls_per_attempt", true, same(12, values{3, 2}), same(12, values{3, 2})).Overall
	if d.Baseline.Status != stats.StatusZeroVariance || d.Candidate.Status != stats.StatusZeroVariance {
		t.Errorf("three calls in two attempts: %+v, %+v", d.Baseline, d.Candidate)
	}
	d = &changeOfMetric("calls_per_attempt", true, same(12, values{0, 2}), same(12, values{0, 2})).Overall
	if d.Baseline.N != 12 || d.Candidate.N != 12 {
		t.Errorf("no calls in two attempts count as one attempt: %+v, %+v", d.Baseline, d.Candidate)
	}
}
