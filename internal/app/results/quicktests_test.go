// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
)

// TestBetweenTargets: the same call at the same case gives another result to another target. Repeats,
// other cases, other arguments and baselines are not compared.
func TestBetweenTargets(t *testing.T) {
	t.Parallel()
	type did struct{ task, target, args, result string }
	for name, tc := range map[string]struct {
		list []did
		says string // "": no finding
	}{
		"another result": {
			[]did{{"t", "a", `{"of":1,"in":2}`, `1`}, {"t", "b", `{"in":2,"of":1}`, `2`}},
			"between targets: 1 of 1 call that several targets make at a case have another result (tools hit most: price (1))",
		},
		"the first counts": {
			[]did{
				{"t", "a", `{}`, `1`},
				{"t", "a", `{}`, `2`},
				{"t", "b", `{}`, `1`},
				{"t", "b", `{}`, `3`},
				{"t", "c", `{}`, `5`},
			},
			"between targets: 1 of 2 calls that several targets make at a case",
		},
		"in any order": {
			[]did{{"t", "a", `{}`, `1`}, {"u", "a", `{}`, `4`}, {"t", "b", `{}`, `2`}, {"u", "b", `{}`, `4`}},
			"between targets: 1 of 2 calls that several targets make at a case",
		},
		"the same":             {[]did{{"t", "a", `{}`, `{"x":1}`}, {"t", "b", `{}`, `{"x":1.0}`}}, ""},
		"other arguments":      {[]did{{"t", "a", `{"of":1}`, `1`}, {"t", "b", `{"of":2}`, `2`}}, ""},
		"another case":         {[]did{{"t", "a", `{}`, `1`}, {"u", "b", `{}`, `2`}}, ""},
		"one target":           {[]did{{"t", "a", `{}`, `1`}, {"t", "a", `{}`, `2`}}, ""},
		"no result":            {[]did{{"t", "a", `{}`, `1`}, {"t", "b", `{}`, ``}}, ""},
		"a baseline's results": {[]did{{"t", "a", `{}`, `1`}, {"t", "floor", `{}`, `2`}}, ""},
	} {
		b := betweenTargets{anyOrder: true}
		for _, d := range tc.list {
			at := trace.Attempt{Floor: d.target == "floor"}
			at.Trace = callvet.Trace{CaseID: d.task, Target: d.target}
			at.Trace.Turns = []callvet.Turn{{
				Role: callvet.RoleAssistant,
				Calls: []callvet.Call{{
					Tool: "price", Args: json.RawMessage(d.args),
					Result: json.RawMessage(d.result),
				}},
			}}
			b.attempt(&at)
		}
		p := &panel.Panels{Findings: []panel.Finding{{Code: "S1", Count: 9, Failed: 2}, {Code: "B2"}}}
		b.fill(p)
		if found := len(p.Findings) == 3; found != (tc.says != "") {
			t.Errorf("%s: %+v", name, p.Findings)
		} else if f := p.Findings[1]; found &&
			(f.Code != "S7" || !strings.Contains(f.Evidence[0], tc.says) || f.Test == "" || f.Fix == "") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
