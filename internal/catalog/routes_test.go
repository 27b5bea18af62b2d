// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/retrieve"
)

func TestExamples(t *testing.T) {
	t.Parallel()
	want := []retrieve.RouteExample{
		{Text: "When do trains leave?", Route: "action", SubRoute: "travel"},
		{Text: "My cat sleeps"},
	}
	for name, text := range map[string]string{
		"a.jsonl": "{\"query\":\"When do trains leave?\",\"route\":\"action\",\"sub_route\":\"travel\"}\n{\"text\":\"My cat sleeps\",\"route\":null}\n",
		"a.yaml":  "- {query: When do trains leave?, text: TRAINS, route: action, sub_route: travel}\n- {query: My cat sleeps, route: ''}\n",
	} {
		got, err := catalog.ReadRouteExamples(name, []byte(text))
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %s %v", name, d, err)
		}
	}
	got, err := catalog.ReadRouteExamples("c.json", []byte(`[{"name":"a"}]`))
	if err == nil {
		t.Errorf("a list of tools gives %v", got)
	}
	got, err = catalog.ReadRouteExamples("c.json",
		[]byte(`{"tools":[{"name":"a","route":"r","example_queries":["x"]},{"name":"b","example_queries":["y"]}]}`))
	if d := cmp.Diff([]retrieve.RouteExample{{Text: "x", Route: "r"}}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for text, say := range map[string]string{
		`[{"query":"x"}]`: "example 1 is none", `[{"query":"x","route":"a"},{"route":"a"}]`: "example 2",
		`[{"query":"x","route":3}]`: "example 1", `[{"query":"x","route":"","sub_route":"b"}]`: "example 1",
		`{"tools":[{"name":"a"}]}`: "no tool has", `[`: "a.json:1",
	} {
		if _, err := catalog.ReadRouteExamples("a.json", []byte(text)); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
