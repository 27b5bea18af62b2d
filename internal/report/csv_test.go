// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/csv"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// Rows of targets that select tools contain the question, and the expected and the given tools.
// Each column has a name of its own, and no text is a formula.
func TestCSVOfDecisions(t *testing.T) {
	t.Parallel()
	rows := []Row{
		{
			Case: &callvet.Case{
				ID: "a", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "=1+1"}},
				Fields: map[string]string{"category": "c", "difficulty": "d", "language": "sv"},
				Expect: callvet.Expect{Selection: &callvet.Selection{
					Route: "r", SubRoute: "s",
					Agents: []string{"g", "h"}, Tools: []string{"x"}, Acceptable: []string{"y", "z"},
				}},
			},
			Cell: &callvet.Cell{Trace: callvet.Trace{Decision: &callvet.Decision{
				Route: "r2", SubRoute: "s2", Agents: []string{"i"}, Asked: 2,
				Tools: []callvet.Ranked{{Tool: "@x", Score: 0.5}, {Tool: "w"}, {Tool: "beyond"}},
				Odd:   []string{"upside down"},
			}}},
		},
		{
			Case: &callvet.Case{ID: "b", Expect: callvet.Expect{ToolsCalled: []string{"x", "y"}}},
			Cell: &callvet.Cell{},
		},
	}
	v := &View{
		Targets: []callvet.Target{{Name: "t", Selects: true}},
		Cells: func(...callvet.Verdict) iter.Seq2[Row, error] {
			return func(yield func(Row, error) bool) {
				for _, r := range rows {
					if !yield(r, nil) {
						return
					}
				}
			}
		},
	}
	var b bytes.Buffer
	if err := CSV(&b, v); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	got := [2]map[string]string{{}, {}}
	for j, name := range all[0] {
		if _, twice := got[0][name]; twice {
			t.Errorf("two columns are called %s", name)
		}
		got[0][name], got[1][name] = all[1][j], all[2][j]
	}
	for name, want := range map[string]string{
		"query": "'=1+1", "category": "c", "difficulty": "d", "language": "sv", "expected_route": "r",
		"expected_sub_route": "s", "expected_agents": "g; h", "expected_tools": "x",
		"acceptable_tools": "y; z", "given_route": "r2", "given_sub_route": "s2", "given_agents": "i",
		"given_tools": "'@x; w", "given_scores": "0.5; 0", "strange": "upside down",
	} {
		if diff := cmp.Diff(want, got[0][name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got[1]["expected_tools"] != "x; y" || got[1]["given_tools"] != "" {
		t.Errorf("%v", got[1])
	}
}
