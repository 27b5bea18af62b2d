// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package findings_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/findings"
)

func name(n uint32) string { return [...]string{"(none)", "send", "get"}[n] }

func score(known map[callvet.StepMetric]bool) (s callvet.StepScore) {
	for m, yes := range known {
		s.Set(m, yes)
	}
	return s
}

func add(c *findings.Counts, call findings.Call) {
	if c.Look(call.Score) {
		c.Add(&call)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	c := findings.New()
	good := score(map[callvet.StepMetric]bool{callvet.StepArgEM: true, callvet.StepExecuted: true, callvet.StepRejected: false, callvet.StepNeeded: true, callvet.StepSelection: true})
	bad := score(map[callvet.StepMetric]bool{callvet.StepArgEM: false, callvet.StepExecuted: true, callvet.StepNeeded: true, callvet.StepSelection: true})
	chat := score(map[callvet.StepMetric]bool{callvet.StepNeeded: false, callvet.StepSelection: false, callvet.StepExecuted: false})
	for i := range 10 {
		add(&c, findings.Call{Line: int64(100 - i), Score: good, Tool: 1})
		add(&c, findings.Call{Line: int64(100 - i), Score: bad, Tool: 2, Paths: []string{"to"}, Task: []byte("t"), Call: []byte("c")})
	}
	add(&c, findings.Call{Line: 3, Score: chat, Tool: 1, Timeout: true})
	c.Repeated(true, &findings.Call{Tool: 1})
	c.Repeated(false, &findings.Call{Tool: 1, Line: 9})
	type row struct {
		Code      string
		Count, Of int
		Share     float64
		Lines     []int64
		Evidence  []string
	}
	var got []row
	for _, f := range c.Findings(name, func(e *panel.Example) { e.File = "f" }) {
		r := row{f.Code, f.Count, f.Of, f.Share, nil, f.Evidence}
		for _, e := range f.Examples {
			if e.File != "f" {
				t.Error("an example was not located")
			}
			r.Lines = append(r.Lines, e.Line)
		}
		got = append(got, r)
	}
	want := []row{
		{"S3", 10, 20, 10.0 / 11, []int64{91, 92, 93, 94, 95}, []string{"10 of 20 calls (50.00 %)", "11 steps have something wrong with them", "tools hit most: get (10)", "arguments hit most: to (10)"}},
		{"S4", 1, 21, 1.0 / 11, []int64{3}, []string{"1 of 21 calls (4.76 %)", "11 steps have something wrong with them", "1 of them timed out", "tools hit most: send (1)"}},
		{"S5", 1, 21, 1.0 / 11, []int64{3}, []string{"1 of 21 calls (4.76 %)", "11 steps have something wrong with them", "tools hit most: send (1)"}},
		{"S7", 1, 2, 0, []int64{9}, []string{"1 of 2 repeated calls gave another result", "tools hit most: send (1)"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMerge: counts do not depend on how calls were parted, nor on their order.
func TestMerge(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	whole, parts := findings.New(), [3]findings.Counts{findings.New(), findings.New(), findings.New()}
	for i := range 200 {
		var s callvet.StepScore
		for m := range callvet.StepMetrics {
			if r.IntN(2) == 0 {
				s.Set(m, r.IntN(3) > 0)
			}
		}
		call := findings.Call{Line: int64(i*7919%200 + 1), Score: s, Tool: uint32(r.IntN(3)), Paths: []string{"p"}, Timeout: r.IntN(2) == 0}
		add(&whole, call)
		add(&parts[r.IntN(3)], call)
	}
	merged := findings.New()
	for i := range parts {
		merged.Merge(&parts[2-i])
	}
	if diff := cmp.Diff(whole, merged); diff != "" {
		t.Error(diff)
	}
}
