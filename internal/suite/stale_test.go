// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
)

func registry() *callvet.Suite {
	tool := func(name, version string) callvet.Tool {
		return callvet.Tool{
			Name: name, Version: version, Description: "Does " + name,
			Parameters: json.RawMessage(`{"type": "object"}`),
		}
	}
	return &callvet.Suite{
		SystemPrompt: "Be kind.",
		Tools:        []callvet.Tool{tool("weather", "1.2.0"), tool("forecast", "1.0.0")},
	}
}

// TestCompare: each thing that changes gives its own warning, and nothing else does.
func TestCompare(t *testing.T) {
	t.Parallel()
	made := suite.StaleStateOf(registry(), []string{"openai/a"}, "2026-01-01T00:00:00Z")
	for name, tt := range map[string]struct {
		change func(s *callvet.Suite, models *[]string)
		want   []string
	}{
		"nothing": {func(*callvet.Suite, *[]string) {}, nil},
		"a description": {
			func(s *callvet.Suite, _ *[]string) { s.Tools[0].Description = "x" },
			[]string{suite.StaleDescription},
		},
		"a schema": {func(s *callvet.Suite,
			_ *[]string,
		) {
			s.Tools[0].Parameters = json.RawMessage(`{"type":"array"}`)
		}, []string{suite.StaleSchema}},
		"white space": {func(s *callvet.Suite,
			_ *[]string,
		) {
			s.Tools[0].Parameters = json.RawMessage(`{ "type":"object" }`)
		}, nil},
		"a minor version": {func(s *callvet.Suite, _ *[]string) { s.Tools[0].Version = "1.3.0" }, nil},
		"a major version": {
			func(s *callvet.Suite, _ *[]string) { s.Tools[0].Version = "v2.0.0" },
			[]string{suite.Version},
		},
		"the prompt": {
			func(s *callvet.Suite, _ *[]string) { s.SystemPrompt = "Be terse." },
			[]string{suite.Prompt},
		},
		"the model":      {func(_ *callvet.Suite, m *[]string) { *m = []string{"openai/b"} }, []string{suite.Model}},
		"one more model": {func(_ *callvet.Suite, m *[]string) { *m = []string{"openai/b", "openai/a"} }, nil},
		"no model":       {func(_ *callvet.Suite, m *[]string) { *m = nil }, nil},
		"a neighbour": {
			func(s *callvet.Suite, _ *[]string) { s.Tools[1].Description = "x" },
			[]string{suite.StaleNeighbour},
		},
		"gone": {func(s *callvet.Suite, _ *[]string) { s.Tools = s.Tools[1:] }, []string{suite.Gone}},
		"a tool like it": {func(s *callvet.Suite,
			_ *[]string,
		) {
			s.Tools = append(s.Tools, callvet.Tool{Name: "weather_now"})
		}, []string{suite.StaleOverlap}},
		"a tool unlike it": {func(s *callvet.Suite,
			_ *[]string,
		) {
			s.Tools = append(s.Tools, callvet.Tool{Name: "pay"})
		}, nil},
		"two tools unlike": {func(s *callvet.Suite, _ *[]string) {
			s.Tools = append(s.Tools, callvet.Tool{Name: "pay"}, callvet.Tool{Name: "buy"})
		}, []string{suite.Registry}},
		"two tools, one so": {func(s *callvet.Suite, _ *[]string) {
			s.Tools = append(s.Tools, callvet.Tool{Name: "pay"}, callvet.Tool{Name: "weather_now"})
		}, []string{suite.StaleOverlap, suite.Registry}},
		"its own and others": {func(s *callvet.Suite, _ *[]string) {
			s.Tools[0].Description, s.SystemPrompt = "x",
				"y"
		}, []string{suite.StaleDescription, suite.Prompt}},
	} {
		s, models := registry(), []string{"openai/a"}
		tt.change(s, &models)
		now := suite.StaleStateOf(s, models, "")
		got, unknown := suite.CompareStale(&made, &now,
			suite.StaleAbout{
				Tools: []string{"weather"},
				Alike: func(a, b string) bool { return a == "weather" && b != "pay" && b != "buy" },
			})
		var codes []string
		for _, w := range got {
			codes = append(codes, w.Code)
		}
		if d := cmp.Diff(tt.want, codes); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if unknown != nil {
			t.Errorf("%s: %v", name, unknown)
		}
	}
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	now := suite.StaleStateOf(registry(), []string{"openai/a"}, "")
	made, tool := suite.StaleEnvelope(
		[]byte(
			`{"toolName": "weather", "toolVersion": "0.9", "descriptionHash": "abc", "registrySize": 1, "generatedAt": "2026-01-01"}`))
	if tool != "weather" || made.Registry != 1 || made.Empty() {
		t.Errorf("%+v", made)
	}
	got, unknown := suite.CompareStale(&made, &now, suite.StaleAbout{Tools: []string{tool}})
	var texts []string
	for _, w := range got {
		texts = append(texts, w.Text)
	}
	if d := cmp.Diff([]string{
		"generated against description hash abc of weather, current is " + suite.StaleHash([]byte("Does weather")) +
			"; results may not reflect the current routing contract",
		"weather is version 1.2.0, the cases were generated for 0.9; the schema may have changed",
		"the registry has grown from 1 to 2 tools; labeled cases may have under-specified toolsAcceptable sets; which ones are new was not recorded",
	}, texts); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"the schema of weather", "the system prompt", "the model", "which tools there were"},
		unknown); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"", "{", "[]", `{"toolName": 5, "registrySize": "many"}`} {
		if s, tool := suite.StaleEnvelope([]byte(text)); !s.Empty() || tool != "" {
			t.Errorf("%s: %+v", text, s)
		}
	}
}

func TestStaleRead(t *testing.T) {
	t.Parallel()
	made := suite.StaleStateOf(registry(), []string{"m"}, "2026-01-01")
	b, err := made.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	got, err := suite.ReadStaleState(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(made, got); d != "" {
		t.Error(d)
	}
	if _, err := suite.ReadStaleState([]byte(`{"tools": 5}`)); !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
}
