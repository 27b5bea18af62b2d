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
		said                string
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
			strings.Join(why, "; ") != c.said {
			t.Errorf("%s: %s, %q", c.name, v, why)
		}
	}
}
