// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/plan"
	"github.com/callvet/callvet/panel/gates"
)

// ask takes flags as a command line has them.
func ask(metric string, flags map[string]float64) plan.Ask {
	q := plan.Ask{Metric: metric, Power: 0.8, Tasks: 1000, Given: slices.Sorted(maps.Keys(flags))}
	for name, x := range flags {
		switch name {
		case "bound":
			q.Bound = x
		case "truth":
			q.Truth = x
		case "power":
			q.Power = x
		case "sd":
			q.SD = x
		case "judge-sens":
			q.Sens = x
		case "judge-spec":
			q.Spec = x
		case "labels":
			q.Labels = int(x)
		case "tasks":
			q.Tasks = int(x)
		case "baseline-diff":
			q.Diff = x
		case "discordant":
			q.Discordant = x
		case "max-rate":
			q.MaxRate = x
		default:
			panic(name)
		}
	}
	return q
}

// TestMeans holds the number of tasks against the least n with
// n >= ((t(0.975) + t(0.8)) sd / distance)^2, n-1 degrees of freedom, done by hand.
func TestMeans(t *testing.T) {
	t.Parallel()
	p, err := plan.Make(ask("cost_per_attempt", map[string]float64{"bound": 0.05, "truth": 0.04, "sd": 0.02}))
	if err != nil || p.Mean == nil || p.Rate != nil {
		t.Fatal(p, err)
	}
	if p.Mean.Tasks != 34 { // (2.0345 + 0.8530)^2 * 4 = 33.4
		t.Errorf("%d tasks", p.Mean.Tasks)
	}
	p, err = plan.Make(ask("cost_per_attempt", map[string]float64{"baseline-diff": 0.05, "sd": 0.2}))
	if err != nil || p.Paired.Tasks != 128 { // (1.9788 + 0.8446)^2 * 16 = 127.5
		t.Errorf("paired: %v %v", p, err)
	}
	p, err = plan.Make(ask("latency_mean", map[string]float64{"baseline-diff": 0.05, "sd": 0.2}))
	if err != nil || p.Paired.Tasks != 128 || p.Rate != nil {
		t.Errorf("paired times: %v %v", p, err)
	}
	q := ask("calls_per_attempt", map[string]float64{"bound": 1.5})
	q.Given, q.Pilot = append(q.Given, "from"), &plan.Pilot{File: "pilot.jsonl", Mean: 1.2, SD: 0.6, Tasks: 20}
	if p, err = plan.Make(q); err != nil || p.Mean.Tasks != 34 || !p.Mean.FromPilot {
		t.Errorf("pilot: %+v %v", p, err)
	}
	var out bytes.Buffer
	p.Print(&out)
	for _, want := range []string{"gate calls_per_attempt <= 1.5", "34 tasks pass with a chance of 80.0 %", "the pilot's mean", "20 tasks tell a spread only roughly"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

// TestRefused: what a metric has no use for is an error that names what it has.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		metric     string
		flags      map[string]float64
		says, hint string
	}{
		"no spread":              {"cost_per_attempt", map[string]float64{"bound": 0.05, "truth": 0.04}, "how many tasks it needs depends on its spread", "--sd"},
		"no truth":               {"cost_per_attempt", map[string]float64{"bound": 0.05, "sd": 1}, "--truth: what", ""},
		"mean on the wrong side": {"tokens_per_attempt", map[string]float64{"bound": 5, "truth": 6, "sd": 1}, "wrong side", ""},
		"a judge of amounts":     {"cost_per_pass", map[string]float64{"bound": 1, "judge-sens": 0.9}, "--judge-sens is of no use for cost_per_pass, which is a mean amount", "true_success"},
		"paired amounts":         {"cost_per_attempt", map[string]float64{"baseline-diff": 0.05}, "spread of the tasks' differences", "--sd"},
		"bound of mean times":    {"latency_mean", map[string]float64{"bound": 800}, "which is a mean that is known only against a baseline", "latency_p50"},
		"bound of incidents":     {"safety_incidents", map[string]float64{"bound": 0.1}, "--bound is of no use for safety_incidents, which is a count of incidents", "--max-rate"},
		"rate with max-rate":     {"pass_rate", map[string]float64{"max-rate": 0.1}, "--max-rate is of no use for pass_rate, which is a rate", "--bound"},
		"over-call, max-rate":    {"over_call_rate", map[string]float64{"bound": 0.1, "max-rate": 0.1}, "--max-rate is of no use", "--bound: the most"},
		"quantile with a bound":  {"latency_p90", map[string]float64{"bound": 800}, "which is a quantile", "--metric pass_rate --bound 0.90"},
		"sd of a rate":           {"pass_rate", map[string]float64{"bound": 0.8, "sd": 1}, "--sd is of no use", "the spread of a rate follows"},
		"labels without a judge": {"true_success", map[string]float64{"bound": 0.8, "labels": 100}, "--labels is of no use", "--judge-sens"},
		"discordant alone":       {"pass_rate", map[string]float64{"bound": 0.8, "discordant": 0.1}, "--discordant is of no use", "--baseline-diff"},
		"half a judge":           {"true_success", map[string]float64{"bound": 0.8, "judge-sens": 0.9}, "a judge has both", ""},
		"judge of an upper one":  {"over_call_rate", map[string]float64{"bound": 0.1, "judge-sens": 0.9, "judge-spec": 0.9}, "held from above", ""},
		"no better than chance":  {"true_success", map[string]float64{"bound": 0.8, "judge-sens": 0.5, "judge-spec": 0.5}, "no better than chance", ""},
		"misspelt":               {"tokens_per_atempt", nil, `no metric is called "tokens_per_atempt"`, "--metric tokens_per_attempt"},
	} {
		_, err := plan.Make(ask(tc.metric, tc.flags))
		var h *callvet.Hinted
		if err == nil || !strings.Contains(err.Error(), tc.says) || tc.hint != "" && (!errors.As(err, &h) || !strings.Contains(h.Hint, tc.hint)) {
			t.Errorf("%s: %v (%v)", name, err, h)
		}
	}
}

// TestEveryMetric: each metric that gates know has a plan or a reason, and none
// that is no rate is planned as one.
func TestEveryMetric(t *testing.T) {
	t.Parallel()
	for _, m := range gates.Metrics() {
		p, err := plan.Make(ask(m, map[string]float64{"bound": 0.5}))
		switch amount := plan.Amount(m) || strings.HasSuffix(m, "_p50") || strings.HasSuffix(m, "_p90") || strings.HasSuffix(m, "_incidents") || strings.HasSuffix(m, "_mean"); {
		case amount && err == nil:
			t.Errorf("%s is planned as a rate: %+v", m, p.Rate)
		case !amount && (err != nil || p.Rate == nil):
			t.Errorf("%s: %v", m, err)
		}
	}
	if p, err := plan.Make(ask("native_format_rate", map[string]float64{"bound": 0.9})); err != nil || p.Rate.AtMost {
		t.Errorf("native format is better when it is higher: %+v %v", p, err)
	}
}
