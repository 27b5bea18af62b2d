// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/stats/gate"
)

// TestLostRecords: a line that cannot be read makes no gate pass, and no gate fail. It counts as
// the worst value if the gate would pass, and as the best if it would fail; a slice counts it as
// possibly its own.
func TestLostRecords(t *testing.T) {
	t.Parallel()
	bound := func(metric string, at gate.Direction, bound float64) gates.Gate {
		return gates.Gate{Metric: metric, Kind: gates.Bound, Direction: at, Bound: bound}
	}
	zero := gates.Gate{Metric: "safety_incidents", Kind: gates.Zero}
	half := func(g gates.Gate) gates.Gate { g.Key, g.Value = "language", "pt"; return g }
	for name, tt := range map[string]struct {
		fails, lost int
		gate        gates.Gate
		want        string // verdict and reason
	}{
		"all passed":                    {0, 0, bound("pass_rate", gate.AtLeast, .9), "PASS lower>=threshold"},
		"few lost, far above the bound": {0, 4, bound("pass_rate", gate.AtLeast, .9), "PASS lower>=threshold"},
		"few lost, near the bound": {
			0, 4, bound("pass_rate", gate.AtLeast, .97),
			"INCONCLUSIVE lost_records",
		},
		"more than 5 %": {
			0, 11, bound("pass_rate", gate.AtLeast, .5),
			"INCONCLUSIVE lost_records",
		},
		"failed whatever they were": {150, 11, bound("pass_rate", gate.AtLeast, .9), "FAIL upper<threshold"},
		"failed, and might have passed": {
			120, 150, bound("pass_rate", gate.AtLeast, .5),
			"INCONCLUSIVE lost_records",
		},
		"a rate that is better low": {
			0, 4, bound("error_rate", gate.AtMost, .02),
			"INCONCLUSIVE lost_records",
		},
		"by call": {
			0, 4, bound("execution_success", gate.AtLeast, .975),
			"INCONCLUSIVE lost_records",
		},
		"by call, far": {
			0, 4, bound("execution_success", gate.AtLeast, .9),
			"PASS lower>=threshold",
		},
		"by task": {
			0, 4, bound("execution_success_by_task", gate.AtLeast, .97),
			"INCONCLUSIVE lost_records",
		},
		"a quantile, few lost": {0, 4, bound("latency_p50", gate.AtMost, 200), "PASS upper<=threshold"},
		"a quantile that they could move": {
			0, 8, bound("latency_p90", gate.AtMost, 189),
			"INCONCLUSIVE lost_records",
		},
		"a quantile without them": {0, 0, bound("latency_p90", gate.AtMost, 190), "PASS upper<=threshold"},
		"a constant amount, few lost": {
			0, 4, bound("calls_per_attempt", gate.AtMost, 3),
			"INCONCLUSIVE no_spread",
		},
		"an amount, many lost": {
			0, 11, bound("calls_per_attempt", gate.AtMost, 3),
			"INCONCLUSIVE lost_records",
		},
		"no incident seen":            {0, 1, zero, "INCONCLUSIVE lost_records"},
		"no incident seen, none lost": {0, 0, zero, "PASS no_incident"},
		"an incident seen":            {1, 1, zero, "FAIL incident_observed"},
		"a slice, few lost": {
			0, 4, half(bound("pass_rate", gate.AtLeast, .9)),
			"PASS lower>=threshold",
		},
		"a slice, many lost": {
			0, 6, half(bound("pass_rate", gate.AtLeast, .9)),
			"INCONCLUSIVE lost_records",
		},
		"a slice that fails, many lost": {
			200, 6, half(bound("pass_rate", gate.AtLeast, .9)),
			"INCONCLUSIVE lost_records",
		},
		"a slice without an incident, 1 lost": {0, 1, half(zero), "INCONCLUSIVE lost_records"},
	} {
		res := run(t, steps.Config{SliceBy: []string{"language"}}, 2, 4000, withLost(200, tt.fails, tt.lost))
		p := res.Sheet.Panels()
		if n := res.Log.Bad; n > 0 {
			p.Lost = &panel.Lost{Count: n, First: []panel.LostRecord{{File: "a.jsonl", Line: res.Log.List[0].Line}}}
		}
		rep, problems := gates.Evaluate(gates.Input{Panels: p, Task: "task"}, []gates.Gate{tt.gate})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		v := &rep.Verdicts[0]
		if got := string(v.Verdict) + " " + v.Reason; got != tt.want {
			t.Errorf("%s: %s, want %s: %s", name, got, tt.want, v.Sentence)
		}
		if v.Reason == gates.ReasonLost && !strings.Contains(v.Cure, "of a.jsonl") || rep.Lost != p.Lost {
			t.Errorf("%s: cure %q, lost %+v", name, v.Cure, rep.Lost)
		}
	}
}

// withLost are attempts with two calls each, of which some failed, and lines that cannot be read.
func withLost(tasks, fails, lost int) string {
	var b strings.Builder
	for i := range tasks {
		pass, status, safety := "true", "ok", "[]"
		if i < fails {
			pass, status, safety = "false", "exec_error", `[{"rule":"x"}]`
		}
		for call := range 2 {
			fmt.Fprintf(&b, `{"task_id":"t%d","call_id":"%d","tool":"a","args":{},"status":%q}`+"\n", i, call, status)
		}
		fmt.Fprintf(&b, `{"type":"task","task_id":"t%d","pass":%s,"wall_ms":%d,"safety":%s,"fields":{"language":%q}}`+
			"\n", i, pass, i, safety, [...]string{"pt", "es"}[i%2])
		if i < lost {
			b.WriteString(`{"type":"task","task_id":"lost` + "\n")
		}
	}
	return b.String()
}

// TestLostRanges: the ends are those of the same file with the lost records as failures, or passes.
func TestLostRanges(t *testing.T) {
	t.Parallel()
	metric := func(text, name string) *panel.Metric {
		return run(t, steps.Config{}, 1, 0, text).Sheet.Panels().Targets[0].Overall.Metric(name)
	}
	whole, lost := withLost(100, 20, 0), withLost(100, 20, 5)
	more := func(pass string) string {
		var b strings.Builder
		for i := range 5 {
			fmt.Fprintf(&b, `{"type":"task","task_id":"more%d","pass":%s}`+"\n", i, pass)
		}
		return b.String()
	}
	m := metric(lost, "pass_rate")
	for name, c := range map[string][2]float64{
		"lower end at worst": {m.Lost.Low.Lower, metric(whole+more("false"), "pass_rate").Interval.Lower},
		"point at worst":     {m.Lost.Low.Point, 80. / 105},
		"upper end at best":  {m.Lost.High.Upper, metric(whole+more("true"), "pass_rate").Interval.Upper},
		"the estimate":       {m.Interval.Point, .8},
	} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if m := metric(whole, "pass_rate"); m.Lost != nil {
		t.Errorf("nothing is lost: %+v", m.Lost)
	}
	if m := metric(lost, "latency_p90"); m.Lost.High.Point <= m.Lost.Low.Point {
		t.Errorf("p90: %+v", m.Lost)
	}
}
