// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
)

// letter makes an attempt: p is a pass, f a failure, e an error, l one that did not run, u one that could not
// be judged and s one that was left out on purpose. Capital letters used an earlier answer.
func letter(c byte, cell *callvet.Cell) (skip string) {
	cell.Trace.Outcome, cell.Result.Verdict = callvet.OutcomeCalled, callvet.VerdictNotRun
	switch c {
	case 'p', 'P':
		cell.Result.Verdict = callvet.VerdictPass
	case 'f', 'F':
		cell.Result.Verdict = callvet.VerdictFail
	case 'e':
		cell.Trace.Outcome, cell.Result.Verdict = callvet.OutcomeError, callvet.VerdictError
	case 'l':
		cell.Trace.Outcome = callvet.OutcomeNotRun
	case 's':
		cell.Trace.Outcome, skip = callvet.OutcomeNotRun, "not today"
	}
	cell.Trace.Cached = c == 'P' || c == 'F'
	return skip
}

// attemptsAt is a run of one target: the attempts at each case in order, each a letter.
func attemptsAt(cases ...string) *Ledger {
	l := NewLedger("r", []string{"m"}, []string{"kind"})
	l.Measure("judged_pass")
	for i, attempts := range cases {
		c := callvet.Case{ID: fmt.Sprint("c", i), Fields: map[string]string{"kind": []string{"even", "odd"}[i%2]}}
		for k := range attempts {
			cell := callvet.Cell{Repeat: k}
			c.Skip = letter(attempts[k], &cell)
			l.Add(&c, &cell)
			if pass := cell.Result.Verdict == callvet.VerdictPass; pass || cell.Result.Verdict == callvet.VerdictFail {
				o := Observation{N: 1, Each: true}
				if pass {
					o.Sum = 1
				}
				l.Observe(0, c.ID, nil, []Observation{o})
			}
		}
	}
	return l
}

// values are n values at a case, and their sum.
type values struct {
	sum float64
	n   int
}

// measuredLedger is a run of one target that measured a metric at each case; each reports that each value
// is of an attempt of its own.
func measuredLedger(metric string, each bool, cases []values) *Ledger {
	l := NewLedger("r", []string{"m"}, []string{})
	l.Measure(metric)
	for i, v := range cases {
		o := Observation{Sum: v.sum, N: v.n, Each: each, Fractional: v.sum > float64(v.n)}
		l.Observe(0, fmt.Sprint("c", i), nil, []Observation{o})
	}
	return l
}

// changeOfMetric compares two runs that measured a metric at the same cases.
func changeOfMetric(metric string, each bool, before, now []values) *Measured {
	return &Diff(measuredLedger(metric, each, before), measuredLedger(metric, each, now), 0).Targets[0].Measured[0]
}

// differ reports whether two numbers are not the same but for rounding.
func differ(got, want float64) bool { return !(math.Abs(got-want) < 1e-9) }

// same is n cases with the same values.
func same(n int, v values) []values { return slices.Repeat([]values{v}, n) }
