// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// TestMeasuredCorrelation: 30 tasks of three attempts that all pass are worth 30 attempts, and 50 where
// earlier runs have a correlation of at most 0.4.
func TestMeasuredCorrelation(t *testing.T) {
	t.Parallel()
	var c stats.Clusters
	for range 30 {
		c.AddAttempts(3, 3, true, stats.AttemptsOf(3, 3))
	}
	pass := panel.Metric{
		Name: panel.MetricPass, Unit: panel.UnitRate, Of: "attempts",
		Interval: c.Interval(.95, stats.DefaultRho0), Values: 90,
	}
	calls := pass
	calls.Name, calls.Of = "execution_success", "calls"
	alike := func(runs int, metric string) []panel.Alike {
		return []panel.Alike{{
			Target: "m", Metric: metric,
			Correlation: stats.Correlation{Mean: .3, Upper: .4, Runs: runs},
		}}
	}
	for name, tc := range map[string]struct {
		metric   panel.Metric
		alike    []panel.Alike
		ask      gates.Correlation
		want     gate.Verdict
		sentence string
		note     string
		assumes  []string
	}{
		"not asked": {
			pass, alike(6, panel.MetricPass), "", gate.Inconclusive,
			"by 90 attempts of 30 tasks (n_eff 30)", "",
			[]string{panel.AttemptsAreOne, panel.EffectiveSize},
		},
		"six earlier runs": {
			pass, alike(6, panel.MetricPass), gates.CorrelationMeasured, gate.Pass,
			"(n_eff 50, correlation 0.4, measured on 6 earlier runs)", "",
			[]string{"pass_rate: correlation 0.4, measured on 6 earlier runs", panel.EffectiveSize},
		},
		"five are enough": {
			pass, alike(5, panel.MetricPass), gates.CorrelationMeasured, gate.Pass,
			"(n_eff 50, correlation 0.4, measured on 5 earlier runs)", "",
			[]string{"pass_rate: correlation 0.4, measured on 5 earlier runs", panel.EffectiveSize},
		},
		"four are too few": {
			pass, alike(4, panel.MetricPass), gates.CorrelationMeasured, gate.Inconclusive,
			"(n_eff 30)", "it needs 5 earlier runs that show it, and there are 4; it is 1",
			[]string{panel.AttemptsAreOne, panel.EffectiveSize},
		},
		"of another metric": {
			pass, alike(6, "error_rate"), gates.CorrelationMeasured, gate.Inconclusive, "(n_eff 30)",
			"and there are 0; it is 1",
			[]string{panel.AttemptsAreOne, panel.EffectiveSize},
		},
		"calls have none": {
			calls, alike(6, calls.Name), gates.CorrelationMeasured, gate.Inconclusive, "(n_eff 30)",
			"only a rate with one yes or no by attempt has a correlation",
			[]string{panel.AttemptsAreOne, panel.EffectiveSize},
		},
	} {
		p := &panel.Panels{
			Confidence: .95,
			Targets: []panel.TargetPanel{{
				Name:    "m",
				Overall: panel.Slice{Cases: 30, Cells: 90, Metrics: []panel.Metric{tc.metric}},
			}},
		}
		p.Repeat(3)
		r, problems := gates.Evaluate(gates.Input{Panels: p, Task: "task", Alike: tc.alike}, []gates.Gate{
			{Metric: tc.metric.Name, Kind: gates.Bound, Direction: gate.AtLeast, Bound: .92, Correlation: tc.ask},
		})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		v := &r.Verdicts[0]
		if v.Verdict != tc.want || !strings.Contains(v.Sentence, tc.sentence) ||
			(v.Correlation != nil) != (tc.want == gate.Pass) {
			t.Errorf("%s: %s %s %+v", name, v.Verdict, v.Sentence, v.Correlation)
		}
		if noted := strings.Join(v.Notes, "\n"); (tc.note == "") == strings.Contains(noted, "correlation") ||
			!strings.Contains(noted, tc.note) {
			t.Errorf("%s: notes %q", name, noted)
		}
		if !slices.Equal(r.Notes, tc.assumes) {
			t.Errorf("%s: assumes %q", name, r.Notes)
		}
	}
}
