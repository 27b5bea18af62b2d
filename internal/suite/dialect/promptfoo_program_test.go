// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestPrograms: JavaScript and Python are carried where they may be, with their variables, names
// and thresholds, and a rubric with its own; what an expression can express is carried always.
func TestPrograms(t *testing.T) {
	t.Parallel()
	const text = `
prompts: ["{{q}}"]
tests:
  - vars: {q: hi, city: Paris}
    assert:
      - {type: javascript, value: 'output.includes(context.vars.city)', metric: Names the city}
      - {type: javascript, value: 'context.vars.city in output'}
      - {type: not-javascript, value: "const n = output.length;\nreturn n > 9\n", threshold: 0.5}
      - {type: python, value: '"{{city}}" in output', metric: Names the city}
      - {type: javascript, value: 'output.length', threshold: 10}
      - {type: javascript, value: 'file://check.js'}
      - {type: llm-rubric, value: 'names {{city}}', threshold: 0.75}
`
	s, _, err := Import(Promptfoo, []byte(text), "p.yaml", Options{Programs: true})
	if err != nil {
		t.Fatal(err)
	}
	half, most := 0.5, 0.75
	vars := json.RawMessage(`{"q":"hi","city":"Paris"}`)
	const names = isText + ` && answer contains "Paris"`
	want := callvet.Expect{
		Scorers: []callvet.Scorer{
			{Name: "Names_the_city", Expr: names},
			{Name: "javascript", JavaScript: `context.vars.city in output`, Vars: vars},
			{
				Name: "javascript-2", JavaScript: "const n = output.length;\nreturn n > 9", Threshold: &half,
				Negated: true,
			},
			{Name: "Names_the_city-2", Python: `"Paris" in output`},
		},
		Rubric: []callvet.RubricDimension{{
			Dimension: "llm-rubric", MaxScore: 1, Criteria: "names Paris",
			Threshold: &most,
		}},
		Unsupported: []callvet.Unsupported{
			{Name: "javascript", Reason: "its threshold 10 is not in [0, 1]", Expected: "output.length"},
			{Name: "javascript", Reason: "it is a program in a file of its own", Expected: "file://check.js"},
		},
	}
	if d := cmp.Diff(want, s.Cases[0].Expect); d != "" {
		t.Error(d)
	}
	s, _, err = Import(Promptfoo, []byte(text), "p.yaml", Options{})
	if e := &s.Cases[0].Expect; err != nil || len(e.Scorers) != 1 || e.Scorers[0].Expr != names ||
		len(e.Unsupported) != 5 || e.Unsupported[0].Reason != "it is a program" {
		t.Errorf("%+v %v", e, err)
	}
}
