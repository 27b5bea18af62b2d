// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package onepath

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// shape is a random run: cases of all kinds, and targets with right, wrong and missing answers.
type shape struct {
	targets, repeats int
	cases            []map[string]any
	scripts          []map[string]any
}

func scriptName(i int) string { return fmt.Sprintf("model-%d.json", i) }

func (s *shape) files() map[string]string {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
	tool := func(name string, required ...string) map[string]any {
		if required == nil {
			required = []string{}
		}
		return map[string]any{
			"name": name, "description": name, "family": name[:1],
			"parameters": map[string]any{
				"type": "object", "additionalProperties": false, "required": required,
				"properties": map[string]any{
					"city": map[string]any{"type": "string"}, "days": map[string]any{"type": "integer"},
					"note": map[string]any{"type": "string"},
				},
			},
		}
	}
	limited := tool("limited")
	limited["rate_limit"], limited["latency_budget_ms"] = map[string]any{"calls": 1, "per_seconds": 60}, 5
	out := map[string]string{"suite.json": text(map[string]any{
		"callvet": 1, "name": "chance", "cases": s.cases,
		"tools": []any{tool("weather", "city"), tool("forecast", "city"), tool("book", "city"), limited},
		"mocks": []any{
			map[string]any{"tool": "weather", "result": map[string]any{"temp": 21}},
			map[string]any{"tool": "forecast", "error": "the service is down"},
			map[string]any{"tool": "limited", "error": "429 too many requests", "latency_ms": 9},
			map[string]any{"tool": "book", "result": map[string]any{"ref": "B1"}},
		},
	})}
	for i, script := range s.scripts {
		out[scriptName(i)] = text(script)
	}
	return out
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func shapeOf(r *rand.Rand) *shape {
	s := &shape{targets: 1 + r.IntN(3), repeats: pick(r, 1, 1, 2, 3)}
	n := pick(r, 1, 2, 5, 9, 14)
	mode := pick(r, "mixed", "mixed", "mixed", "right", "wrong", "down")
	for i := range n {
		s.cases = append(s.cases, caseOf(r, i))
	}
	for t := range s.targets {
		var rules []any
		for i := range s.cases {
			for k := range s.repeats {
				rule := answer(r, mode, s.cases[i])
				rule["case"], rule["repeat"] = s.cases[i]["id"], k
				rules = append(rules, rule)
			}
		}
		s.scripts = append(s.scripts, map[string]any{"model": fmt.Sprintf("model-%d", t), "rules": rules})
	}
	return s
}

// caseOf makes a case of one of the kinds that suites have.
func caseOf(r *rand.Rand, i int) map[string]any {
	city := pick(r, "Rome", "Oslo", "Lima")
	c := map[string]any{"id": fmt.Sprintf("c%02d", i), "prompt": fmt.Sprintf("Question %d about %s", i, city)}
	if r.IntN(2) == 0 {
		c["tags"] = []string{pick(r, "es-AR", "pt-BR", "hard", "intent:refund", "tier:gold")}
	}
	if r.IntN(2) == 0 {
		c["fields"] = map[string]any{"category": pick(r, "a", "b")}
	}
	if r.IntN(3) == 0 {
		c["tier"] = pick(r, "golden", "labeled")
	}
	args := map[string]any{"city": city}
	switch r.IntN(9) {
	case 0:
		c["expected_tool"] = nil
	case 1:
		c["expect"] = map[string]any{"tools_called": []string{"weather", "forecast"}}
	case 2:
		c["expect"] = map[string]any{"tools_acceptable": [][]string{{"weather"}, {"forecast", "book"}}}
	case 3:
		c["expect"] = map[string]any{"calls": []any{
			map[string]any{"tool": "weather", "args": args},
			map[string]any{"tool": "book", "args": args},
		}, "order": "strict"}
	case 4:
		c["expected_tool"], c["expected_params"] = "forecast", map[string]any{"city": city, "days": 3}
	case 5:
		c["expected_tool"] = "weather"
		c["expect"] = map[string]any{"response": map[string]any{"contains": []string{"21"}}}
	case 6:
		c["expected_tool"], c["tool_choice"] = "limited", "required"
	default:
		c["expected_tool"], c["expected_params"] = []string{"weather", "forecast"}, args
	}
	return c
}

// answer returns the answer of a script to a case.
func answer(r *rand.Rand, mode string, c map[string]any) map[string]any {
	call := func(tool string, args map[string]any) map[string]any {
		return map[string]any{"tool": tool, "args": args}
	}
	calls := func(list ...map[string]any) map[string]any { return map[string]any{"calls": list} }
	args := map[string]any{"city": pick(r, "Rome", "Oslo", "Lima")}
	right := map[string]any{"text": "It is 21 degrees."}
	if p, ok := c["expected_params"].(map[string]any); ok {
		args = p
	}
	switch tool := c["expected_tool"].(type) {
	case string:
		right = calls(call(tool, args))
	case []string:
		right = calls(call(tool[0], args))
	}
	switch mode {
	case "right":
		return right
	case "down":
		return map[string]any{"error": map[string]any{"kind": "server", "http": 500, "message": "down"}}
	case "wrong":
		return pick(r, calls(call("book", map[string]any{"city": 7})), calls(call("nowhere", args)),
			map[string]any{"text": "No."})
	}
	switch r.IntN(10) {
	case 0:
		return map[string]any{"text": "I do not know."}
	case 1:
		return map[string]any{"error": map[string]any{"kind": "timeout", "message": "late"}}
	case 2:
		return calls(call("weather", args), call("weather", args))
	case 3:
		return calls(call("nowhere", args))
	case 4:
		return calls(call("weather", map[string]any{"city": 7, "extra": true}))
	case 5:
		return calls(call("limited", map[string]any{}), call("forecast", args))
	case 6:
		return map[string]any{"steps": []any{calls(call("weather", args)), map[string]any{"text": "It is 21."}}}
	}
	return right
}
