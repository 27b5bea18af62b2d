// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// TestKeysWithoutField lists the keys of the schema that no field of a noun has. Code reads those, or they
// have no effect: a new key that is missing in its noun is seen here.
func TestKeysWithoutField(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"":         "callvet tools_from mock_responses gates test_cases",
		"defaults": "tags fields",
		"tool": "type inputSchema input_schema function.inputSchema function.input_schema function.strict " +
			"function.title function.outputSchema function.icons function._meta " +
			"function.annotations.destructiveHint function.annotations.openWorldHint function.annotations.title " +
			"annotations.destructiveHint annotations.openWorldHint annotations.title title outputSchema icons _meta",
		"scoring": "", "message": "", "plan": "", "multiTurn": "", "reply": "", "faults": "",
		"mocks": "result template error status latency_ms set",
		"case": "difficulty language category intent prompt messages expected_tool expected_params should_call_tool " +
			"param_scoring scoring_config multi_turn_config max_rounds optimal_hops valid_prerequisites " +
			"required_prerequisites prerequisites_ordered argument_source mock_responses",
		"case.expect": "order max_extra_calls calls any_of no_call skipped_assertions",
		"matcherForm": "any_of regex present absent type fuzzy numeric date contains subset partial text semantic " +
			"exact strict case_insensitive",
	}
	for name, keys := range want {
		top, below, _ := strings.Cut(name, ".")
		f := forms()[top]
		if below != "" {
			f = f.Key(below).Shape
		}
		if f.Elem != nil {
			f = f.Elem
		}
		got, wanted := unbound(f, ""), strings.Fields(keys)
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s has no field for\n%v\nwant\n%v", name, got, wanted)
		}
	}
}

func unbound(f *doc.Shape, above string) []string {
	var out []string
	for _, k := range f.Keys {
		switch {
		case k.Name == "toolSpec": // has the form of function
		case k.Flat:
			out = append(out, unbound(k.Shape, above+k.Name+".")...)
		case k.Field == nil:
			out = append(out, above+k.Name)
		}
	}
	return out
}

// TestWords compares words of the schema with those of the nouns.
func TestWords(t *testing.T) {
	t.Parallel()
	var ways []string
	for _, w := range callvet.FaultWays() {
		ways = append(ways, string(w))
	}
	if got := forms()["faults"].Elem.Key("fault").Shape.Words; !slices.Equal(got, ways) {
		t.Errorf("faults of the schema %v, of the nouns %v", got, ways)
	}
}
