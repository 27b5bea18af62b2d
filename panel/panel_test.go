// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

func oneCall(id, tool string, tags ...string) callvet.Case {
	return callvet.Case{
		ID: id, Tags: tags, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: id}},
		Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{tool}}}}}},
	}
}

// attempt makes a cell with a trace that called the tools; the verdict is as given.
func attempt(i, repeat int, v callvet.Verdict, tools ...string) *callvet.Cell {
	c := &callvet.Cell{Case: i, Repeat: repeat}
	c.Trace.Outcome = callvet.OutcomeAbstained
	for _, t := range tools {
		c.Trace.Outcome = callvet.OutcomeCalled
		c.Trace.Turns = append(c.Trace.Turns,
			callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: t}}})
	}
	c.Trace.Format, c.Trace.WallMS, c.Trace.Attempts = callvet.FormatPass, float64(100+i), 1
	c.Result.Verdict = v
	value := 0.0
	if v == callvet.VerdictPass {
		value = 1
	}
	c.Result.Scores = []callvet.Score{
		{Name: "overall", Value: value, Scored: true},
		{Name: "arg_accuracy", Reason: "no expected arguments"},
	}
	return c
}

func pointers(cases []callvet.Case) func(yield func(*callvet.Case) bool) {
	return func(yield func(*callvet.Case) bool) {
		for i := range cases {
			if !yield(&cases[i]) {
				return
			}
		}
	}
}

// TestTwins: a tag with the content of a field has no table of its own, unless tags were asked for.
func TestTwins(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	for i := range 20 {
		c := oneCall(fmt.Sprintf("c%02d", i), "weather", []string{"es-AR", "pt-BR"}[i%2])
		c.Fields = map[string]string{"language": c.Tags[0]}
		if i < 9 {
			c.Tags = append(c.Tags, "hard")
		}
		c.Fields["difficulty"] = "hard" // of all
		cases = append(cases, c)
	}
	for _, tc := range []struct {
		by   []string
		want string
	}{
		{nil, "language=es-AR language=pt-BR tag=hard"},
		{[]string{"language", "tag"}, "language=es-AR language=pt-BR tag=es-AR tag=hard tag=pt-BR"},
	} {
		l := NewLedger("A", []string{"m"}, tc.by)
		for i := range cases {
			l.Add(&cases[i], attempt(i, 0, callvet.VerdictPass, "weather"))
		}
		var differences []string
		for _, s := range Diff(l, l, 0).Targets[0].Slices {
			differences = append(differences, s.Key+"="+s.Value)
		}
		if got := strings.Join(differences, " "); got != tc.want {
			t.Errorf("differences by %v: %s", tc.by, got)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	for i := range 20 {
		c := oneCall(fmt.Sprintf("c%02d", i), "weather")
		c.Fields = map[string]string{"category": []string{"x", "y"}[i%2]}
		cases = append(cases, c)
	}
	ledger := func(run string, cases []callvet.Case, fails ...int) *Ledger {
		l := NewLedger(run, []string{"m"}, nil)
		for i := range cases {
			v := callvet.VerdictPass
			if slices.Contains(fails, i) {
				v = callvet.VerdictFail
			}
			l.Add(&cases[i], attempt(i, 0, v, "weather"))
		}
		return l
	}
	changed := slices.Clone(cases[1:])
	changed[18].Input = []callvet.Turn{{Role: callvet.RoleUser, Content: "another question"}}
	d := Diff(ledger("A", cases, 5), ledger("B", changed, 0, 1, 2, 3, 5, 6, 8), 0)
	if d := cmp.Diff([]string{"c00"}, d.OnlyBaseline); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"c19"}, d.Changed); d != "" {
		t.Error(d)
	}
	o := d.Targets[0].Overall
	if o.Cases != 18 || o.NewlyFailing != 7 || o.NewlyPassing != 1 || o.Test != "mcnemar_midp" ||
		o.Verdict != ChangeWorse {
		t.Errorf("overall %+v", o)
	}
	if math.Abs(o.Change.Point+6.0/18) > 1e-12 || o.Change.Upper >= 0 {
		t.Errorf("change %+v", o.Change)
	}
	var kinds []string
	for _, c := range d.Targets[0].Changes {
		kinds = append(kinds, c.Case+" "+c.Kind)
	}
	if len(kinds) != 8 || kinds[0] != "c01 newly_failing" || kinds[7] != "c05 newly_passing" {
		t.Errorf("changes %q", kinds)
	}
	if len(d.Targets[0].Slices) != 2 || *d.Targets[0].Slices[0].PHolm < d.Targets[0].Slices[0].P {
		t.Errorf("slices %+v", d.Targets[0].Slices)
	}
	same := Diff(ledger("A", cases, 5), ledger("B", cases, 5), 0).Targets[0].Overall
	if same.P != 1 || same.Verdict != ChangeUnclear || same.Change.Lower >= 0 || same.Change.Upper <= 0 {
		t.Errorf("identical runs: %+v", same)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}
