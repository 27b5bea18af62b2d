// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

func TestMakeUnique(t *testing.T) {
	t.Parallel()
	warm, cold := 1.0, 0.0
	prompt := func(text string) run.Target {
		return run.Target{Target: callvet.Target{Name: "m", SystemPrompt: text}}
	}
	with := func(text string, p callvet.Params) run.Target {
		out := prompt(text)
		out.Params = p
		return out
	}
	in := func(name, text string) run.Target {
		out := prompt(text)
		out.Name = name
		return out
	}
	replacing := prompt("Be terse.")
	replacing.ReplaceSystem = true
	elsewhere := prompt("")
	elsewhere.BaseURL, elsewhere.ToolChoice = "http://b", "none"
	for _, tt := range []struct {
		name string
		in   []run.Target
		want []string
	}{
		{"one prompt each", []run.Target{prompt("Be terse."), in("n", "Be kind.")}, []string{"m", "n"}},
		{
			"prompts",
			[]run.Target{prompt("Be terse."), prompt(""), prompt("Be\nkind.")},
			[]string{"m (prompt: Be terse.)", "m", "m (prompt: Be kind.)"},
		},
		{
			"prompts that begin alike",
			[]run.Target{
				prompt("You are a helpful assistant with tools. Call one."),
				prompt("You are a helpful assistant with tools. Call all."), prompt("Be terse."),
			},
			[]string{
				"m (prompt: You are a helpful assistant… 6918)", "m (prompt: You are a helpful assistant… 9bd5)",
				"m (prompt: Be terse.)",
			},
		},
		{
			"a prompt in place of the suite's",
			[]run.Target{prompt("Be terse."), replacing},
			[]string{"m", "m (replace_system=true)"},
		},
		{
			"parameters",
			[]run.Target{
				with("", callvet.Params{Temperature: &cold}),
				with("", callvet.Params{
					Temperature: &warm,
					Extra:       map[string]json.RawMessage{"top_k": json.RawMessage("5")},
				}),
			},
			[]string{"m (temperature=0)", "m (temperature=1, top_k=5)"},
		},
		{
			"a prompt and a parameter",
			[]run.Target{
				with("A", callvet.Params{Temperature: &cold}),
				with("B", callvet.Params{Temperature: &cold, Stop: []string{"x"}}),
			},
			[]string{"m (prompt: A)", `m (prompt: B, stop=["x"])`},
		},
		{
			"address and choice",
			[]run.Target{prompt(""), elsewhere},
			[]string{"m", "m (base_url=http://b, tool_choice=none)"},
		},
		{
			"alike in all",
			[]run.Target{prompt("A"), prompt("A"), prompt("B")},
			[]string{"m (prompt: A)", "m (prompt: A)#2", "m (prompt: B)"},
		},
		{"a number that is taken", []run.Target{in("m#2", ""), prompt(""), prompt("")}, []string{"m#2", "m", "m#3"}},
		{
			"a parameter that is no JSON",
			[]run.Target{
				with("", callvet.Params{Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}}),
				prompt(""),
			},
			[]string{"m", "m#2"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			names := func(ts []run.Target) []string {
				run.MakeUnique(ts, func(s string) string { return strings.Join(strings.Fields(s), " ") })
				var out []string
				for i := range ts {
					out = append(out, ts[i].Name)
				}
				return out
			}
			turned := slices.Clone(tt.in)
			slices.Reverse(turned)
			if d := cmp.Diff(tt.want, names(tt.in)); d != "" {
				t.Error(d)
			}
			// The order changes which of those that are alike has the number, and nothing else.
			if d := cmp.Diff(slices.Sorted(slices.Values(tt.want)),
				slices.Sorted(slices.Values(names(turned)))); d != "" {
				t.Error(d)
			}
		})
	}
}
