// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
)

// TestTargetsFile: entries are read over what is shared, and nothing of one entry is in
// the next.
func TestTargetsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	temperature := 0.5
	shared := targetSpec{Headers: map[string]string{"X-All": "1"}, Params: callvet.Params{Temperature: &temperature}, SystemPrompt: "shared"}
	write("targets:\n  - target: http://one.example\n    headers: {Authorization: Bearer one}\n    params: {max_tokens: 7}\n  - target: http://two.example\n    system_prompt: own\n")
	got, err := readTargets(path, shared)
	if err != nil {
		t.Fatal(err)
	}
	tokens := 7
	want := []targetSpec{
		{Target: "http://one.example", Headers: map[string]string{"X-All": "1", "Authorization": "Bearer one"}, Params: callvet.Params{Temperature: &temperature, MaxTokens: &tokens}, SystemPrompt: "shared"},
		{Target: "http://two.example", Headers: map[string]string{"X-All": "1"}, Params: callvet.Params{Temperature: &temperature}, SystemPrompt: "own"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for text, say := range map[string]string{
		"targets:\n  - target: a/b\n    tool_choise: auto\n":         `t.yaml:3:5: unknown key "targets[0].tool_choise" (did you mean "tool_choice"?)`,
		"targets:\n  - target: a/b\n    params:\n      seed: many\n": `t.yaml:4:7: "targets[0].params.seed" is a string, not a whole number`,
		"targets:\n  - name: x\n":                                    `"targets[0].target" is missing`,
		"targets: []\n":                                              "a list under the key targets is needed",
		"target: a/b\n":                                              `unknown key "target" (did you mean "targets"?)`,
		"targets:\n  - target: a/b\n    target: c/d\n":               `t.yaml:3:5: the key "target" stands here again, after line 2`,
	} {
		write(text)
		if _, err := readTargets(path, targetSpec{}); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %s", text, err, say)
		}
	}
}

// TestTellAdjusted: what was asked for and is not sent as asked is told; a default and another
// name of a parameter are not.
func TestTellAdjusted(t *testing.T) {
	t.Parallel()
	a, _, errs := plainApp()
	one := 0.7
	_, target, err := provider.Open("openai/gpt-5-mini", provider.Config{Getenv: func(string) string { return "" }, APIKey: "k", Params: callvet.Params{Temperature: &one, MaxTokens: new(int)}})
	if err != nil {
		t.Fatal(err)
	}
	a.tellAdjusted(&target)
	if want := "note: openai/gpt-5-mini: temperature 0.7 is not sent: reasoning models take the default only\n"; errs.String() != want {
		t.Errorf("told %q, want %q", errs, want)
	}
	errs.Reset()
	zero := 0.0
	if _, target, err = provider.Open("openai/gpt-5-mini", provider.Config{Getenv: func(string) string { return "" }, APIKey: "k", DefaultTemperature: &zero}); err != nil {
		t.Fatal(err)
	}
	if a.tellAdjusted(&target); errs.Len() > 0 {
		t.Errorf("told %q of a default", errs)
	}
}
