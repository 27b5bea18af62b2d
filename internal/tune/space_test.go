// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// lines writes combinations as lines of JSON, without Values.
func lines(all []Combination) (out []string) {
	for _, c := range all {
		text, _ := json.Marshal(struct {
			callvet.Params
			ToolChoice string `json:"tool_choice,omitempty"`
		}{c.Params, c.ToolChoice})
		out = append(out, string(text))
	}
	return out
}

func readSpace(t *testing.T, src string) *Space {
	t.Helper()
	s, err := ReadSpace("space.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCombinationsOverlayTheUsersSettings(t *testing.T) {
	s := readSpace(t, `
params:
  temperature: [0, null]
  top_p: {min: 0.8, max: 1.0, step: 0.1}
  stop: END
extra: {top_k: [20]}
`)
	warm, seed := 0.7, int64(5)
	over := Combination{ToolChoice: "required", Params: callvet.Params{
		Temperature: &warm, Seed: &seed, Extra: map[string]json.RawMessage{"top_k": []byte("1"), "user": []byte(`"a"`)},
	}}
	all, err := s.Combinations("openai/gpt-4o", over)
	if err != nil {
		t.Fatal(err)
	}
	rest := `"seed":5,"stop":["END"],"extra":{"top_k":20,"user":"a"},"tool_choice":"required"}`
	want := []string{
		`{"temperature":0,"top_p":0.8,` + rest, `{"temperature":0,"top_p":0.9,` + rest,
		`{"temperature":0,"top_p":1,` + rest,
		`{"top_p":0.8,` + rest, `{"top_p":0.9,` + rest, `{"top_p":1,` + rest,
	}
	if d := cmp.Diff(want, lines(all)); d != "" {
		t.Error(d)
	}
	if warm != 0.7 || string(over.Params.Extra["top_k"]) != "1" {
		t.Error("the user's own settings were changed")
	}
	if d := cmp.Diff([]string{"temperature", "top_p", "stop", "top_k"}, s.Names("any")); d != "" {
		t.Error(d)
	}
	values := func(c Combination) string { return fmt.Sprintf("%s", s.ValuesOf("any", c)) }
	if got := values(over); got != "[0.7 null null 1]" {
		t.Errorf("values of the user's settings: %s", got)
	}
	if got := values(all[4]); got != `[null 0.9 ["END"] 20]` {
		t.Errorf("values of a combination: %s", got)
	}
	if got := fmt.Sprintf("%s", all[4].Values); got != `[null 0.9 ["END"] 20]` {
		t.Errorf("its own values: %s", got)
	}
}

func TestAModelsOwnSpaceReplacesTheOther(t *testing.T) {
	s := readSpace(t, `{"params": {"temperature": [0, 1]},
		"models": {"openai/gpt-5-mini": {"params": {"reasoning_effort": ["low", "high"]}, "extra": {"verbosity": ["low"]}}}}`)
	for model, want := range map[string][]string{
		"openai/gpt-4o": {`{"temperature":0}`, `{"temperature":1}`},
		"openai/gpt-5-mini": {
			`{"reasoning_effort":"low","extra":{"verbosity":"low"}}`,
			`{"reasoning_effort":"high","extra":{"verbosity":"low"}}`,
		},
	} {
		all, err := s.Combinations(model, Combination{})
		if d := cmp.Diff(want, lines(all)); err != nil || d != "" {
			t.Error(model, err, d)
		}
	}
	if d := cmp.Diff([]string{"openai/gpt-5-mini"}, s.Models()); d != "" {
		t.Error(d)
	}
	only := readSpace(t, "models: {a: {params: {seed: [1, 2]}}}")
	if all, err := only.Combinations("b", Combination{}); all != nil || err != nil {
		t.Errorf("a model without a space has %d combinations, %v", len(all), err)
	}
}

func TestWrongSpacesAreExplained(t *testing.T) {
	for src, want := range map[string]string{
		"":                                                    "space.yaml:1:1: the file is empty",
		"{}":                                                  "space.yaml:1: the space has no parameters",
		"params: {}":                                          "space.yaml:1: the space has no parameters",
		"params:\n  temprature: [0]":                          `space.yaml:2:3: unknown parameter "temprature" (did you mean "temperature"?`,
		"params: {top_k: [1]}":                                `unknown parameter "top_k" (did you mean "top_p"? Others stand under extra)`,
		"params: {frequency: [1]}":                            "others stand under extra",
		"temperature: [0, 1]":                                 "the parameter temperature belongs under params (params: {temperature: …})",
		"extra: {temperature: [0]}":                           "belongs under params",
		"parms: {temperature: [0]}":                           `unknown key "parms" (did you mean "params"?)`,
		"params: {temperature: [0, warm]}":                    `temperature cannot be "warm"; it is a number of 0 or more`,
		"params: {temperature: [-1]}":                         "temperature cannot be -1",
		"params: {top_p: [0]}":                                "a number above 0, at most 1",
		"params: {max_tokens: [10.5]}":                        "a whole number of 1 or more",
		"params: {max_tokens: [0]}":                           "a whole number of 1 or more",
		"params: {seed: [a]}":                                 "it is a whole number",
		"params: {parallel_calls: [yes please]}":              "true or false",
		"params: {reasoning_effort: [\"\"]}":                  "it is a text",
		"params: {stop: [3]}":                                 "a text or a list of texts",
		"params: {temperature: []}":                           "the list has no value",
		"params: {temperature: [0, 1, 0.0]}":                  "the value 0.0 is listed twice",
		"params: {temperature: {min: 0, max: 1}}":             "the range has no step",
		"params: {temperature: {min: 0, max: 1, step: 0}}":    "the step must be above 0",
		"params: {temperature: {min: 1, max: 0, step: 1}}":    "max is below min",
		"params: {temperature: {min: 0, max: 1, step: 1e-9}}": "more than 10000 values",
		"params: {temperature: {min: 0, max: 1, stp: 1}}":     `did you mean "step"?`,
		"params: {max_tokens: {min: 1, max: 2, step: 0.5}}":   "max_tokens cannot be 1.0",
		"params: {temperature: [0]}\nparams: {seed: [1]}":     "second time",
		"models: {gpt: {}}":                                   "the space of this model has no parameters",
		"models: {gpt: {params: {temperatur: [0]}}}":          `did you mean "temperature"?`,
		"models: {gpt: {models: {a: {params: {seed: [1]}}}}}": `unknown key "models"`,
		"[1]":                      "expected a mapping",
		"params: [temperature]":    "expected a mapping",
		"params: {temperature: [0": "space.yaml:1",
	} {
		s, err := ReadSpace("space.yaml", []byte(src))
		if s != nil || !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", src, err, want)
		}
		if p := (callvet.Problem{}); !errors.As(err, &p) || p.File == "" || p.Line == 0 {
			t.Errorf("%q: no problem with a place: %v", src, err)
		}
	}
	if _, err := ReadSpace("s", make([]byte, MaxSpaceBytes+1)); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a huge space: %v", err)
	}
}

func TestTooManyCombinationsAreRefusedWithAHint(t *testing.T) {
	s := readSpace(t, "params: {temperature: {min: 0, max: 2, step: 0.01}, top_p: {min: 0.01, max: 1, step: 0.01}}")
	_, err := s.Combinations("m", Combination{})
	var h *callvet.Hinted
	if !errors.Is(err, callvet.ErrInvalid) || !errors.As(err, &h) || !strings.Contains(h.Hint, "larger step") {
		t.Errorf("%v", err)
	}
}

func TestASpaceInARequestMayListParametersThemselves(t *testing.T) {
	search := `{"temperature": {"min": 0, "max": 1, "step": 0.5}, "top_k": [20, 40]}`
	s, err := ReadRequest([]byte(search), []byte(`{"m": {"params": {"seed": [1, 2]}}, "n": {"top_p": [1]}}`))
	if err != nil {
		t.Fatal(err)
	}
	all, _ := s.Combinations("any", Combination{})
	if got := lines(all); len(got) != 6 || got[5] != `{"temperature":1.0,"extra":{"top_k":40}}` &&
		got[5] != `{"temperature":1,"extra":{"top_k":40}}` {
		t.Errorf("%q", got)
	}
	for model, want := range map[string]int{"m": 2, "n": 1} {
		if all, _ := s.Combinations(model, Combination{}); len(all) != want {
			t.Errorf("%s: %d combinations", model, len(all))
		}
	}
	for _, wrong := range []struct{ search, perModel, want, key string }{
		{`{"temperature": ["hot"]}`, "", "temperature cannot be", "search_space.temperature[0]"},
		{"", `{"m": {"top_p": [2]}}`, "top_p cannot be 2", "per_model_search_spaces.m.top_p[0]"},
		{"", "null", "no parameters", ""},
		{`[1]`, "", "expected a mapping", "search_space"},
		{`{`, "", "", ""},
	} {
		s, err := ReadRequest([]byte(wrong.search), []byte(wrong.perModel))
		var p callvet.Problem
		if s != nil || !errors.As(err, &p) || !strings.Contains(err.Error(), wrong.want) || p.Key != wrong.key {
			t.Errorf("%+v: %v, key %q", wrong, err, p.Key)
		}
	}
}

func TestPresetsCanBeRead(t *testing.T) {
	for _, p := range Presets() {
		s, ok := PresetSpace(p.Name)
		if !ok {
			t.Fatal(p.Name)
		}
		if all, err := s.Combinations("m", Combination{}); err != nil || len(all) < 5 {
			t.Errorf("%s: %d combinations, %v", p.Name, len(all), err)
		}
	}
	if _, ok := PresetSpace("none"); ok {
		t.Error("a preset that does not exist")
	}
}

func FuzzReadSpace(f *testing.F) {
	for _, seed := range []string{
		"params: {temperature: [0, 0.5, 1], top_p: {min: 0.5, max: 1, step: 0.1}, tool_choice: [auto, required]}",
		`{"extra": {"top_k": [20, 0x10, {"a": null}]}, "models": {"m": {"params": {"stop": ["a", ["b"], null]}}}}`,
		"params: {seed: {min: -1e14, max: 1e15, step: 1e14}, max_tokens: 7, parallel_calls: [true, null]}",
		"extra: {x: [.nan, .inf, 0x1F, 1_000, 1e400]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, err := ReadSpace("space.yaml", []byte(src))
		if (s == nil) == (err == nil) {
			t.Fatal(s, err)
		}
		if err != nil {
			if !errors.Is(err, callvet.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		for _, model := range append(s.Models(), "another") {
			all, err := s.Combinations(model, Combination{})
			if err != nil && len(all) > 0 {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for i, c := range all[:min(len(all), 100)] {
				text, err := json.Marshal(c)
				if err != nil {
					t.Fatalf("combination %d cannot be written: %v", i, err)
				}
				if seen[string(text)] {
					t.Fatalf("combination %d stands twice: %s", i, text)
				}
				seen[string(text)] = true
				if got, want := len(c.Values), len(s.Names(model)); got != want {
					t.Fatalf("%d values for %d names", got, want)
				}
			}
		}
	})
}
