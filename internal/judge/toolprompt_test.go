// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
)

// TestCalls: each right call keeps the contract, each wrong one breaks it, at its bounds.
func TestCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema, right string
		wrong         []string
	}{
		"string": {
			`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`,
			`{"city": "<city>"}`,
			[]string{`{"city": 7}`, `{}`},
		},
		"enum": {
			`{"type":"object","properties":{"unit":{"enum":["C","F"]}},"required":["unit"]}`, `{"unit": "C"}`,
			[]string{`{"unit": "something else"}`, `{}`},
		},
		"number": {`{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":4,"multipleOf":3}},"required":["n"]}`, `{"n": 6}`, []string{`{"n": "many"}`, `{}`}},
		"closed": {
			`{"type":"object","properties":{"a":{"const":1}},"additionalProperties":false}`, `{"a": 1}`,
			[]string{`{"a": 1, "note": "…"}`},
		},
		"list":   {`{"type":"object","properties":{"to":{"type":"array","minItems":2,"items":{"type":"string","format":"email"}}},"required":["to"]}`, `{"to": ["user@example.com", "user@example.com"]}`, []string{`{"to": "<to>"}`, `{}`}},
		"object": {`{"type":"object","properties":{"at":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}},"required":["at"]}`, `{"at": {"x": 1}}`, []string{`{"at": "<at>"}`, `{}`}},
		"nullable": {
			`{"type":"object","properties":{"a":{"type":["null","boolean"]}},"required":["a"]}`,
			`{"a": true}`,
			[]string{`{"a": "yes"}`, `{}`},
		},
		"choice": {`{"type":"object","properties":{"a":{"anyOf":[{"type":"number","minimum":2},{"type":"null"}]}},"required":["a"]}`, `{"a": 2}`, []string{`{"a": "many"}`, `{}`}},
		"html": {
			`{"type":"object","properties":{"a<b":{"type":"string"}},"required":["a<b"]}`, `{"a<b": "<a<b>"}`,
			[]string{`{"a<b": 7}`, `{}`},
		},
		"free":      {`{"type":"object"}`, `{}`, nil},
		"pattern":   {`{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9]{4}$"}},"required":["id"]}`, "", nil},
		"unread":    {`{"type":`, "", nil},
		"no schema": {``, "", nil},
	} {
		args, wrong := calls(&callvet.Tool{Name: "f", Parameters: json.RawMessage(c.schema)})
		right := args.String()
		var got []string
		for _, w := range wrong {
			got = append(got, w.args)
			if w.why == "" {
				t.Errorf("%s: %s has no reason", name, w.args)
			}
		}
		if right != c.right && !(right == "{}" && c.right == "") {
			t.Errorf("%s: right %s, want %s", name, right, c.right)
		}
		if diff := cmp.Diff(c.wrong, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestExamples: a user's words precede each call; one example wants a question, and one nothing.
func TestExamples(t *testing.T) {
	t.Parallel()
	yes := true
	schema := json.RawMessage(`{"type":"object","properties":{"country":{"type":"string"}},"required":["country"]}`)
	p := MakeToolPrompt([]callvet.Tool{
		{Name: "get_refund_policy", Description: "The refund policy. More.", ReadOnly: &yes, Parameters: schema},
		{Name: "refund", Parameters: schema},
	}, [][2]string{{"get_return_policy", "get_refund_policy"}})
	const want = `Examples; <…> stands for a value that the user gave
- user: The refund policy. country is "<country>".
  right: get_refund_policy {"country": "<country>"}
  wrong: get_refund_policy {"country": 7} (got number, want string)
  wrong: get_refund_policy {} (required property "country" is missing)
  wrong: get_return_policy (it is another tool)
- user: Use refund. country is "<country>".
  right: say what you are about to do, and after a yes: refund {"country": "<country>"}
  wrong: refund {"country": 7} (got number, want string)
  wrong: refund {} (required property "country" is missing)
- user: Use refund.
  right: no call; ask for country
  wrong: refund {"country": "<country>"} (the user gave no country)
- user: Thank you, that is all.
  right: no call; a short answer
  wrong: refund {"country": "<country>"} (nothing is to be looked up or done)
`
	if diff := cmp.Diff(want, p.Examples); diff != "" {
		t.Error(diff)
	}
}

func TestMake(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	tools := []callvet.Tool{
		{
			Name: "get_refund_policy", Description: "The policy for refunds of a country. More text.", ReadOnly: &yes,
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"country":{"type":"string"},"day":{"type":"string"}},"required":["country"]}`),
		},
		{Name: "get_return_policy", Description: "The policy for returns\nof a country", ReadOnly: &no},
		{Name: "get_policy", Description: "The policy"},
		{Name: "policy_get", Description: "The policy."},
	}
	p := MakeToolPrompt(tools,
		[][2]string{
			{"get_refund_policy", "get_return_policy"},
			{"get_policy", "policy_get"},
			{"get_policy", "gone"},
			{"get_policy", "get_return_policy"},
		})
	const want = `Tools
- get_refund_policy(country, day?): The policy for refunds of a country [reads]
- get_return_policy(): The policy for returns of a country [changes something: ask first]
- get_policy(): The policy [may change something: ask first]
- policy_get(): The policy [may change something: ask first]

Easily confused
- get_refund_policy (refund, refunds, day) or get_return_policy (return, returns)
- get_policy (the rest) or get_return_policy (return, returns, country)
`
	if diff := cmp.Diff(want, p.Catalogue); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][2]string{{"get_policy", "policy_get"}}, p.Alike); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(p.Text, rules) || !strings.HasSuffix(p.Text, p.Catalogue) ||
		!strings.Contains(p.Text, p.Examples) || len(p.Hash) != 12 {
		t.Errorf("%+v", p)
	}
	again := MakeToolPrompt(tools[:3], nil)
	if again.Hash == p.Hash {
		t.Error("other tools have the same hash")
	}
	if alone := MakeToolPrompt(nil, nil); alone.Text != rules || alone.Catalogue != "" || alone.Examples != "" {
		t.Errorf("without tools: %+v", alone)
	}
	if n := strings.Count(rules, "\n"); n > 12 {
		t.Errorf("the rules have %d lines", n)
	}
}

// TestRevision: a change of a word raises the revision.
func TestRevision(t *testing.T) {
	t.Parallel()
	if got := MakeToolPrompt(nil, nil).Hash; got != "0c8f2d5bffa0" || ToolPromptRevision != 2 {
		t.Errorf("the rules have hash %s: raise Revision, and write both here", got)
	}
}

// FuzzMake writes a prompt for any schema: a right call is one.
func FuzzMake(f *testing.F) {
	f.Add("f", "It does. Much.",
		[]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"enum":[1,"b"]}}},"required":["a"]}`))
	f.Fuzz(func(t *testing.T, name, description string, schema []byte) {
		tool := callvet.Tool{Name: name, Description: description, Parameters: schema}
		MakeToolPrompt([]callvet.Tool{tool, {Name: "other"}}, [][2]string{{name, "other"}})
		right, wrong := calls(&tool)
		if len(wrong) == 0 {
			return
		}
		s, err := contract.Compile(schema)
		if err != nil || !valid(s, right.String()) {
			t.Errorf("%s: %v", right, err)
		}
		for _, w := range wrong {
			if valid(s, w.args) {
				t.Errorf("%s is valid", w.args)
			}
		}
	})
}
