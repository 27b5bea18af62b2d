// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// TestLostRecords: records that cannot be read make no gate pass and no gate fail.
func TestLostRecords(t *testing.T) {
	t.Parallel()
	least := gates.Gate{Metric: "arg_em", Kind: gates.Bound, Direction: gate.AtLeast, Bound: 0.8}
	most := gates.Gate{Metric: "arg_em", Kind: gates.Bound, Direction: gate.AtMost, Bound: 0.95}
	ofSlice := least
	ofSlice.Key, ofSlice.Value = "language", "de"
	for name, tt := range map[string]struct {
		gate      gates.Gate
		cells     int
		lost      int64
		low, high float64 // the interval with each lost record at its lowest, and at its highest
		want      gate.Verdict
		sentence  string
	}{
		"a slice, 5 %": {ofSlice, 100, 5, 0, 0, gate.Pass, ""},
		"a slice, more": {
			ofSlice, 119, 6, 0, 0, gate.Inconclusive,
			"6 of 125 attempts could not be read and are in no mean, more than 5 %",
		},
		"5 %, at worst still right": {least, 95, 5, 0.85, 0.95, gate.Pass, "5 of 100 attempts lost, 0.850 at worst"},
		"5 %, at worst not right": {
			least, 95, 5, 0.7, 0.95, gate.Inconclusive,
			"5 of 100 attempts could not be read, and the verdict depends on them",
		},
		"one, at worst not right": {
			least, 95, 1, 0.7, 0.95, gate.Inconclusive,
			"1 of 96 attempts could not be read, and the verdict depends on them",
		},
		"more than 5 %": {
			least, 95, 6, 0.85, 0.95, gate.Inconclusive,
			"6 of 101 attempts could not be read and are in no mean, more than 5 %",
		},
		"at most, still right": {most, 95, 5, 0.8, 0.94, gate.Pass, "5 of 100 attempts lost, 0.940 at worst"},
		"at most, not right":   {most, 95, 5, 0.8, 0.99, gate.Inconclusive, "and the verdict depends on them"},
		"none":                 {least, 95, 0, 0.85, 0.95, gate.Pass, ""},
	} {
		m := panel.Metric{Name: "arg_em", Unit: panel.UnitRate, Of: "calls", Interval: interval(0.88, 0.9, 0.92, 95)}
		p := over(m)
		if tt.lost > 0 {
			p.Lost = &panel.Lost{Count: tt.lost}
		}
		if tt.gate.Key != "" {
			p.Targets[0].Slices = []panel.Slice{{
				Key: "language", Value: "de", Cells: tt.cells,
				Metrics: []panel.Metric{m},
			}}
		} else {
			own := &p.Targets[0].Overall
			own.Cells, own.Verdicts = tt.cells, panel.Verdicts{}
			if tt.lost > 0 {
				own.Metrics[0].Lost = &panel.LostRange{
					Low:  interval(tt.low, tt.low, tt.low, 100),
					High: interval(tt.high, tt.high, tt.high, 100),
				}
			}
		}
		v := one(t, gates.Input{Panels: p}, tt.gate)
		if v.Verdict != tt.want || !strings.Contains(v.Sentence, tt.sentence) || tt.lost == 0 &&
			strings.Contains(v.Sentence, "lost") {
			t.Errorf("%s: %s (%s), want %s with %q", name, v.Sentence, v.Verdict, tt.want, tt.sentence)
		}
	}
}

// TestLostIncidents: a record that cannot be read may hold an incident. Where no record is named,
// none is the first.
func TestLostIncidents(t *testing.T) {
	t.Parallel()
	p := over(panel.Metric{
		Name: "safety_incidents", Unit: panel.UnitRate, Of: "tasks",
		Interval: interval(0, 0, 0, 100),
	})
	p.Targets[0].Overall.Cells = 100
	for _, tt := range []struct {
		lost panel.Lost
		cure string
	}{
		{panel.Lost{Count: 1}, "mend the lines that cannot be read"},
		{
			panel.Lost{Count: 1, First: []panel.LostRecord{{Line: 7}}},
			"mend the lines that cannot be read, the first is line 7",
		},
		{
			panel.Lost{Count: 1, First: []panel.LostRecord{{File: "a.jsonl", Line: 7}}},
			"mend the lines that cannot be read, the first is line 7 of a.jsonl",
		},
	} {
		p.Lost = &tt.lost
		v := one(t, gates.Input{Panels: p}, gates.Gate{Metric: "safety_incidents", Kind: gates.Zero})
		if v.Verdict != gate.Inconclusive || !strings.Contains(v.Sentence, "each may hold an incident") ||
			v.Cure != tt.cure {
			t.Errorf("%s; %s", v.Sentence, v.Cure)
		}
	}
}

// TestLostChanges: each lost record of either side may be a task that fell, or that rose.
func TestLostChanges(t *testing.T) {
	t.Parallel()
	better := difference(-0.01, 0, 0.06, 100)
	of := func(d panel.Difference, planned, lost int) panel.Difference {
		d.Planned, d.Lost, d.LostWeight = planned, lost, float64(lost)
		return d
	}
	fewer, worse := better, difference(-0.5, -0.4, -0.3, 100)
	fewer.Cases = 95
	const depends, more = ", and the verdict depends on them: inconclusive", ", more than 5 %: inconclusive"
	const again, mend = "run those attempts again", "mend the lines that cannot be read"
	for name, tt := range map[string]struct {
		change   panel.Difference
		margin   float64
		baseline int64
		lost     int64
		want     gate.Verdict
		sentence string
		cure     string
	}{
		"none":  {better, 0.05, 0, 0, gate.Pass, "", ""},
		"three": {better, 0.05, 0, 3, gate.Pass, "", ""},
		"four":  {better, 0.05, 0, 4, gate.Pass, "", ""},
		"four, a smaller margin": {
			better, 0.045, 0, 4, gate.Inconclusive,
			"4 records could not be read" + depends, mend,
		},
		"five": {
			better, 0.05, 0, 5, gate.Inconclusive,
			"5 records could not be read" + depends, mend,
		},
		"five of both sides": {
			better, 0.05, 2, 3, gate.Inconclusive,
			"5 records could not be read" + depends, mend,
		},
		"tasks": {
			of(better, 104, 4), 0.045, 0, 0, gate.Inconclusive,
			"4 of 104 tasks without an outcome in one of the runs" + depends, again,
		},
		"tasks and records": {
			of(better, 102, 2), 0.045, 0, 2, gate.Inconclusive,
			"2 records could not be read, and 2 tasks without an outcome in one of the runs" + depends, mend,
		},
		"5 %, within a large margin": {of(fewer, 95, 0), 0.2, 0, 5, gate.Pass, "", ""},
		"5 %, and they decide": {
			of(fewer, 95, 0), 0.045, 0, 5, gate.Inconclusive,
			"5 records could not be read" + depends, mend,
		},
		"more, within a large margin": {
			of(better, 106, 6), 0.2, 0, 0, gate.Inconclusive,
			"6 of 106 tasks without an outcome in one of the runs" + more, again,
		},
		"more of both kinds": {
			of(better, 103, 3), 0.2, 0, 3, gate.Inconclusive,
			"3 records could not be read, and 3 tasks without an outcome in one of the runs" + more, mend,
		},
		"more, and it fails anyway": {of(worse, 110, 10), 0.05, 0, 0, gate.Fail, "", ""},
	} {
		p := over()
		p.Targets[0].Overall.Cells = 1000
		cmp := against("arg_em", tt.change, 0)
		cmp.LostBaseline, cmp.LostCandidate = lostOf(tt.baseline), lostOf(tt.lost)
		v := one(t, gates.Input{Panels: p, Comparison: cmp},
			gates.Gate{Metric: "arg_em", Kind: gates.Regression, Margin: &tt.margin})
		if v.Verdict != tt.want || (v.Reason == gates.ReasonLost) != (tt.want == gate.Inconclusive) ||
			!strings.Contains(v.Sentence, tt.sentence) || v.Cure != tt.cure {
			t.Errorf("%s: %s (%s) / %s", name, v.Sentence, v.Reason, v.Cure)
		}
	}
}

// TestLostChangesOfSlice: a task of a slice without an outcome in the baseline is lost for each metric of the
// slice, as it is for the table of all tasks.
func TestLostChangesOfSlice(t *testing.T) {
	t.Parallel()
	run := func(errors int) *panel.Ledger {
		l := panel.NewLedger("run", []string{"agent"}, []string{"language"})
		l.Measure("judged_pass")
		for i := range 200 {
			c := callvet.Case{ID: caseID(i), Fields: map[string]string{"language": []string{"de", "sv"}[i%2]}}
			cell := callvet.Cell{
				Trace:  callvet.Trace{Outcome: callvet.OutcomeCalled},
				Result: callvet.Result{Verdict: callvet.VerdictPass},
			}
			if i%2 == 0 && i/2 < errors {
				cell.Trace.Outcome, cell.Result.Verdict = callvet.OutcomeError, callvet.VerdictError
			}
			l.Add(&c, &cell)
			if cell.Result.Verdict == callvet.VerdictPass {
				l.Observe(0, c.ID, nil, []panel.Observation{{Sum: 1, N: 1, Each: true}})
			}
		}
		return l
	}
	margin := 0.3
	for errors, want := range map[int]string{
		0: ": passed", 3: ": passed",
		4: "4 of 100 tasks without an outcome in one of the runs, and the verdict depends on them: inconclusive",
		6: "6 of 100 tasks without an outcome in one of the runs, more than 5 %: inconclusive",
	} {
		in := gates.Input{Panels: sliced(table("de", 100, 0)), Comparison: panel.Diff(run(errors), run(0), 0)}
		v := one(t, in,
			gates.Gate{Metric: "judged_pass", Kind: gates.Regression, Key: "language", Value: "de", Margin: &margin})
		if !strings.HasSuffix(v.Sentence, want) {
			t.Errorf("%d of 100 tasks ended in an error before: %s", errors, v.Sentence)
		}
	}
}

// TestLostAttempts: what the words of a bound count of attempts without an outcome: errors and attempts
// that did not run, but not those left out on purpose, and of a slice, records too.
func TestLostAttempts(t *testing.T) {
	t.Parallel()
	calls := panel.MetricJudgedCalls + "correct"
	whole := interval(0.91, 0.95, 0.98, 100)
	for name, tt := range map[string]struct {
		metric   string
		lost     *panel.LostRange
		excluded int
		verdicts panel.Verdicts
		unread   int64 // in a slice
		ignore   gates.Lost
		want     gate.Verdict
		reason   string
		sentence string
		note     string
	}{
		"5 %": {
			"arg_em", nil, 0,
			panel.Verdicts{Pass: 95, Error: 5},
			0, "", gate.Pass,
			gate.ReasonLowerMeets, "; 5 of 100 attempts lost: the lower end", "",
		},
		"more": {
			"arg_em", nil, 0,
			panel.Verdicts{Pass: 95, Error: 6},
			0, "", gate.Inconclusive,
			gates.ReasonErrors, "by 100 tasks: 6 of 101 attempts ended in an error and are in no mean, more than 5 %",
			"",
		},
		"left out on purpose": {
			"arg_em", nil, 0,
			panel.Verdicts{Pass: 90, Error: 6, NotRun: 3, Skipped: 3},
			0, "",
			gate.Inconclusive, gates.ReasonErrors, ": 6 of 96 attempts ended in an error and are", "",
		},
		"not run": {
			"arg_em", nil, 0,
			panel.Verdicts{Pass: 90, Error: 6, NotRun: 3, Skipped: 2},
			0, "",
			gate.Inconclusive, gates.ReasonErrors, ": 7 of 97 attempts ended in an error or did not run and are", "",
		},
		"5 %, and they decide": {
			"arg_em", &panel.LostRange{Low: interval(0.8, 0.8, 0.8, 100), High: whole}, 0,
			panel.Verdicts{Pass: 95, Error: 5},
			0, "", gate.Inconclusive, gates.ReasonLost,
			": 5 of 100 attempts ended in an error, and the verdict depends on them", "",
		},
		"records of a slice": {
			"arg_em", nil, 0,
			panel.Verdicts{Pass: 99, Error: 1},
			6, "", gate.Inconclusive,
			gates.ReasonLost,
			": 7 of 106 attempts ended in an error, or could not be read and are in no mean, more than 5 %", "",
		},
		"nothing to ignore": {
			"arg_em", nil, 0,
			panel.Verdicts{Pass: 100},
			0, gates.LostIgnore, gate.Pass,
			gate.ReasonLowerMeets, "passed", "",
		},
		"ignored": {
			"arg_em", nil, 0,
			panel.Verdicts{Pass: 90, Error: 10},
			0, gates.LostIgnore, gate.Pass,
			gate.ReasonLowerMeets, "passed", "lost: ignore: 10 of 100 attempts have no outcome and decide nothing",
		},
		"calls without a judge": {
			calls, &panel.LostRange{N: 10, Of: 90, Low: whole, High: whole}, 10,
			panel.Verdicts{Pass: 100},
			0, "", gate.Inconclusive, gates.ReasonLost,
			": 10 of 90 calls got no verdict of the judge that can be read and are in no mean, more than 5 %", "",
		},
		"each call has one": {
			calls, &panel.LostRange{Of: 90, Low: whole, High: whole}, 0,
			panel.Verdicts{Pass: 90, Error: 10},
			0, "", gate.Inconclusive, gates.ReasonErrors,
			": 10 of 100 calls ended in an error and are", "",
		},
	} {
		m := share(tt.metric, whole)
		m.Lost, m.Excluded = tt.lost, tt.excluded
		p, g := over(m), atLeast(tt.metric, 0.9)
		g.Lost = tt.ignore
		own := &p.Targets[0].Overall
		if tt.unread > 0 {
			p.Lost, g.Key, g.Value = lostOf(tt.unread), "language", "de"
			p.Targets[0].Slices = []panel.Slice{{Key: "language", Value: "de", Cells: 100, Metrics: []panel.Metric{m}}}
			own = &p.Targets[0].Slices[0]
		}
		own.Verdicts = tt.verdicts
		v := one(t, gates.Input{Panels: p}, g)
		if v.Verdict != tt.want || v.Reason != tt.reason || !strings.Contains(v.Sentence, tt.sentence) ||
			strings.Join(v.Notes, "; ") != tt.note {
			t.Errorf("%s: %s (%s), notes %q", name, v.Sentence, v.Reason, v.Notes)
		}
	}
}

// TestRemovedTasks: tasks of a trace file that are missing now leave a change open where they are more
// than 5 %. A run has a plan, and a gate may allow it.
func TestRemovedTasks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		missing int
		task    string
		allowed bool
		want    gate.Verdict
	}{
		"5 %": {5, "task", false, gate.Pass}, "more": {6, "task", false, gate.Inconclusive},
		"of a run": {6, "case", false, gate.Pass}, "on purpose": {6, "task", true, gate.Pass},
	} {
		d := difference(-0.01, 0, 0.06, 95)
		d.Planned = 95
		cmp := against("arg_em", d, 0)
		cmp.OnlyBaseline = make([]string, tt.missing)
		v := one(t, gates.Input{Panels: over(), Comparison: cmp, Task: tt.task},
			gates.Gate{Metric: "arg_em", Kind: gates.Regression, RemovedOK: tt.allowed})
		removed := strings.Contains(v.Sentence, "6 of 101 tasks of the baseline are missing now, more than 5 %")
		if v.Verdict != tt.want || removed != (tt.want == gate.Inconclusive) ||
			removed != (v.Reason == gates.ReasonRemoved) {
			t.Errorf("%s: %s (%s)", name, v.Sentence, v.Reason)
		}
	}
}

func lostOf(n int64) *panel.Lost {
	if n == 0 {
		return nil
	}
	return &panel.Lost{Count: n}
}
