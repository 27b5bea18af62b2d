// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestTargetsFile: entries override the shared settings, and no setting of an entry is in the next
// one.
func TestTargetsFile(t *testing.T) {
	t.Parallel()
	files := Memory{}
	a := New(Config{Files: files})
	write := func(text string) { files["t.yaml"] = text }
	temperature := 0.5
	shared := TargetSpec{
		Headers: map[string]string{"X-All": "1"}, Params: callvet.Params{Temperature: &temperature},
		SystemPrompt: "shared",
	}
	write(
		"targets:\n  - target: http://one.example\n    headers: {Authorization: Bearer one}\n    params: {max_tokens: 7}\n  - target: http://two.example\n    system_prompt: own\n")
	got, err := a.readTargets("t.yaml", shared)
	if err != nil {
		t.Fatal(err)
	}
	tokens := 7
	want := []TargetSpec{
		{
			Target: "http://one.example", Headers: map[string]string{"X-All": "1", "Authorization": "Bearer one"},
			Params: callvet.Params{Temperature: &temperature, MaxTokens: &tokens}, SystemPrompt: "shared",
		},
		{
			Target: "http://two.example", Headers: map[string]string{"X-All": "1"},
			Params: callvet.Params{Temperature: &temperature}, SystemPrompt: "own",
		},
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
		if _, err := a.readTargets("t.yaml", TargetSpec{}); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %s", text, err, say)
		}
	}
}

// TestDirected: a target names where its requests go, or what they carry, unless it is a model of a provider at its
// usual address, or the search of a catalogue without models.
func TestDirected(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]bool{
		"openai/m": false, "retrieve:catalogue_a?k=2": false,
		"retrieve:catalogue_a?embed=tei:http://other.example": true,
		"retrieve:catalogue_a?rerank=cohere:m":                true, "retrieve:http://other.example/x": true,
		"http://other.example": true, "exec:sh": true,
	} {
		if s := (TargetSpec{Target: target}); s.Directed() != want {
			t.Errorf("%s: directed %t, want %t", target, !want, want)
		}
	}
}
