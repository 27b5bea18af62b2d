// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
)

const demo = `
model: demo-1
rules:
  - case: malformed
    calls: [{tool: f, args_raw: '{"a": '}]
  - case: in-text
    raw: '{"name": "f", "arguments": {"a": 1}}'
  - case: cut-text
    raw: '<tool_call>{"name": "f"'
  - case: trip-*
    repeat: 1
    text: not today
  - case: trip-*
    then: answer
    steps:
      - error: {kind: rate_limit, http: 429, retry_after_ms: 50}
        times: 2
      - calls:
          - {tool: search, args: {to: Oslo, from: [1, 2.5, {z: null, a: true}]}}
          - {tool: f}
        delay_ms: 20
        usage: {input_tokens: 3, output_tokens: 4, cost_usd: 0.5}
      - {error: {kind: server, http: 503}, times: 1}
      - {calls: [{tool: book, id: b1, args: {id: 7}}]}
  - contains: HELLO
    calls: [{tool: greet}]
otherwise: error
`

func open(t *testing.T, src string, slept *time.Duration) callvet.Model {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	m, target, err := OpenScript(file, func(ctx context.Context, d time.Duration) error {
		*slept += d
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if target.Provider != "script" {
		t.Errorf("target %+v", target)
	}
	return m
}

func describe(resp *callvet.Response, err error) string {
	var f *callvet.Fault
	if errors.As(err, &f) {
		return fmt.Sprintf("%s %d %v %v", f.Kind, f.HTTP, f.RetryAfter, f.Retryable)
	}
	var b strings.Builder
	b.WriteString(resp.Turns[0].Content)
	for _, c := range resp.Turns[0].Calls {
		fmt.Fprintf(&b, " %s:%s%s%s", c.ID, c.Tool, c.Args, c.ArgsRaw)
	}
	if resp.Unreadable {
		b.WriteString(" unreadable")
	}
	return strings.TrimSpace(b.String())
}

func TestScriptAnswers(t *testing.T) {
	t.Parallel()
	var slept time.Duration
	m := open(t, demo, &slept)
	user := callvet.Turn{Role: callvet.RoleUser, Content: "say hello please"}
	turns := []callvet.Turn{user}
	tools := callvet.NewToolset([]callvet.Tool{{Name: "f"}})
	ask := func(id string, repeat int) string {
		return describe(m.Generate(t.Context(), &callvet.Request{CaseID: id, Repeat: repeat, Turns: turns, Tools: tools}))
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	check(ask("malformed", 0), `call_0_0:f{"a":`)
	check(ask("in-text", 0), `{"name": "f", "arguments": {"a": 1}} :f{"a": 1}`)
	check(ask("cut-text", 0), `<tool_call>{"name": "f" unreadable`)
	check(ask("trip-1", 1), "not today")
	check(ask("trip-1", 0), "rate_limit 429 50ms true")
	check(ask("trip-1", 0), "rate_limit 429 50ms true")
	check(ask("trip-2", 0), "rate_limit 429 50ms true")
	const search = `call_0_0:search{"to":"Oslo","from":[1,2.5,{"z":null,"a":true}]} call_0_1:f{}`
	check(ask("trip-1", 0), search)
	check(ask("trip-1", 0), search)
	if slept != 40*time.Millisecond {
		t.Errorf("slept %v", slept)
	}
	turns = []callvet.Turn{user, {Role: callvet.RoleAssistant}, {Role: callvet.RoleTool}}
	check(ask("trip-1", 0), "server 503 0s true")
	check(ask("trip-1", 0), `b1:book{"id":7}`)
	turns = append(turns, callvet.Turn{Role: callvet.RoleAssistant}, callvet.Turn{Role: callvet.RoleTool})
	check(ask("trip-1", 0), "Done.")
	turns = turns[:1]
	check(ask("other", 0), "call_0_0:greet{}")
	turns = nil
	check(ask("other", 0), "no_output 0 0s false")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check(describe(m.Generate(ctx, &callvet.Request{CaseID: "trip-1"})), "canceled 0 0s false")
}

func TestScriptMistakes(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"rules:\n  - case: a\n    txt: x\n":                             `s.yaml:3:5: unknown key "rules[0].txt" (did you mean "text"?)`,
		"rules:\n  - case: a\n":                                         "s.yaml:2:5: rules[0]: the rule does nothing",
		"rules:\n  - case: a\n    error: {kind: boom}\n":                `s.yaml:3:5: rules[0].error: error kind "boom" is not known`,
		"rules:\n  - case: a\n    calls: [{args: {}}]\n":                "the call has no tool",
		"rules:\n  - case: a\n    text: x\n    times: 2\n":              "times counts errors",
		"rules:\n  - case: a\n    text: x\n    error: {kind: server}\n": "a step answers or fails",
		"rules:\n  - case: '[a'\n    text: x\n":                         "the pattern cannot be read",
		"rules: [\n":                                                    "s.yaml:",
		"otherwise: gold\nrules: [{text: x}]\n":                         `otherwise: "gold" is not known`,
		"rules: [{case: a, calls: [{tool: {a: 1}}]}]":                   `s.yaml:1:28: "rules[0].calls[0].tool" is an object, not a string`,
		"rules: [{case: a, text: x, repeat: often}]":                    `"rules[0].repeat" is "often": a whole number is needed, or a list of them`,
		"{}": "s.yaml:1: the script has no rules",
		"rules:\n  - case: a\n    calls: [{tool: f, args: {x: .nan}}]\n": ".nan has no JSON form",
	} {
		_, err := parseScript("s.yaml", []byte(src))
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %v, want %q", src, err, want)
		}
	}
	if _, _, err := OpenScript("no-such.yaml", nil); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
}

func FuzzScript(f *testing.F) {
	f.Add([]byte(demo))
	f.Add([]byte(`{"rules":[{"case":"a","steps":[{"error":{"kind":"server"},"times":1}]}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := parseScript("s.yaml", src)
		if err != nil {
			return
		}
		m := &scripted{
			script: s, sleep: func(context.Context, time.Duration) error { return nil },
			served: map[round]int{},
		}
		for range 3 {
			resp, err := m.Generate(t.Context(), &callvet.Request{CaseID: "a"})
			if (resp == nil) == (err == nil) {
				t.Fatalf("%q: neither an answer nor an error", src)
			}
		}
	})
}
