// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// TestVerdict: the words agree with the verdict, also where a rate is close to the bound.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		point, lower, upper float64
		cases               int
		under               float64
		verdict             gate.Verdict
		sentence            string
	}{
		{"above", 0.95, 0.91, 0.98, 200, 0.9, gate.Pass, ""},
		{"at the bound", 0.95, 0.9, 0.98, 200, 0.9, gate.Pass, ""},
		{"no bound", 0.1, 0, 0.2, 200, 0, gate.Pass, ""},
		{"below", 0.8, 0.7, 0.875, 80, 0.9, gate.Fail, "failed: m passes 80.0 % (70.0 to 87.5), under 90 %"},
		{
			"just below", 0.9996, 0.9992, 0.9999, 9000, 0.99995, gate.Fail,
			"failed: m passes 99.9 % (99.9 to 99.9), under 99.995 %",
		},
		{
			"open", 1, 0.025, 1, 1, 0.57, gate.Inconclusive,
			"inconclusive: m passes 100.0 % (2.5 to 100.0); 1 case cannot decide whether that is 57 % or more",
		},
	} {
		iv := stats.Interval{
			Point: c.point, Lower: c.lower, Upper: c.upper, N: c.cases, Clusters: c.cases,
			Status: stats.StatusOK,
		}
		p := &panel.Panels{Targets: []panel.TargetPanel{{
			Name:    "m",
			Overall: panel.Slice{Cases: c.cases, Metrics: []panel.Metric{{Name: panel.MetricPass, Interval: iv}}},
		}}}
		if v, why := verdictOf(p, &app.Settings{FailUnder: c.under}, run.Summary{}); v != c.verdict ||
			strings.Join(why, "; ") != c.sentence {
			t.Errorf("%s: %s, %q", c.name, v, why)
		}
	}
}

// TestVerdictLost: an attempt without an outcome never makes a target pass, and a target without a
// verdict is not left out. The floor decides only where it is alone.
func TestVerdictLost(t *testing.T) {
	t.Parallel()
	all := stats.Interval{Point: 1, Lower: 0.96, Upper: 1, N: 100, Clusters: 100, Status: stats.StatusOK}
	none := stats.Interval{Point: 0, Lower: 0, Upper: 0.04, N: 100, Clusters: 100, Status: stats.StatusOK}
	target := func(name string, floor bool, lost int, iv, low, high stats.Interval) panel.TargetPanel {
		m := panel.Metric{Name: panel.MetricPass, Interval: iv}
		if lost > 0 && iv.Defined() {
			m.Lost = &panel.LostRange{N: lost, Of: iv.N + lost, Low: low, High: high}
		}
		out := panel.TargetPanel{Name: name, Floor: floor}
		out.Overall = panel.Slice{
			Cases: iv.N + lost, Cells: iv.N + lost, Metrics: []panel.Metric{m},
			Verdicts: panel.Verdicts{Pass: int(iv.Point) * iv.N, Fail: int(1-iv.Point) * iv.N, Error: lost},
		}
		return out
	}
	worse := func(iv stats.Interval, by float64) stats.Interval {
		iv.Point, iv.Lower = iv.Point-by, iv.Lower-by
		return iv
	}
	for _, c := range []struct {
		name     string
		targets  []panel.TargetPanel
		under    float64
		verdict  gate.Verdict
		sentence string
	}{
		{
			"many lost",
			[]panel.TargetPanel{target("m", false, 40, all, worse(all, 0.3), all)},
			0.5, gate.Inconclusive,
			"inconclusive: m passes 100.0 % (96.0 to 100.0); 40 of 140 attempts lost, more than 5 %: " +
				"callvet run --resume makes them",
		},
		{
			"few lost",
			[]panel.TargetPanel{target("m", false, 3, all, worse(all, 0.06), all)},
			0.95, gate.Inconclusive,
			"inconclusive: m passes 100.0 % (96.0 to 100.0); 3 of 103 attempts lost, " +
				"and they decide whether that is 95 % or more: callvet run --resume makes them",
		},
		{"few lost, far", []panel.TargetPanel{target("m", false, 3, all, worse(all, 0.06), all)}, 0.85, gate.Pass, ""},
		{
			"failed at best",
			[]panel.TargetPanel{target("m", false, 40, none, none, none)},
			0.5, gate.Fail,
			"failed: m passes 0.0 % (0.0 to 4.0), under 50 %",
		},
		{
			"nothing judged",
			[]panel.TargetPanel{
				target("a", false, 0, all, all, all),
				target("b", false, 40, stats.Interval{Status: stats.StatusNoData}, all, all),
			},
			0.5, gate.Inconclusive,
			"inconclusive: b has no pass rate; 40 of 40 attempts lost: callvet run --resume makes them",
		},
		{
			"floor alone",
			[]panel.TargetPanel{target("f", true, 0, none, none, none)},
			0.5, gate.Fail,
			"failed: f passes 0.0 % (0.0 to 4.0), under 50 %",
		},
		{
			"floor",
			[]panel.TargetPanel{target("a", false, 0, all, all, all), target("f", true, 0, none, none, none)},
			0.5, gate.Pass, "",
		},
	} {
		v, why := verdictOf(&panel.Panels{Targets: c.targets}, &app.Settings{FailUnder: c.under}, run.Summary{})
		if v != c.verdict || strings.Join(why, "; ") != c.sentence {
			t.Errorf("%s: %s, %q", c.name, v, why)
		}
	}
}
