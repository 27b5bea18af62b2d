// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func TestChanged(t *testing.T) {
	t.Parallel()
	files := memory{"c.json": `[{"name":"a","description":"x"}]`, "r.json": "{}"}
	targets := []string{"openai/m", "retrieve:c.json?k=2", "retrieve:http://h/c.json", "retrieve:c.json?routes=r.json"}
	kept, err := Fingerprints(targets, files)
	if err != nil || len(kept) != 4 || kept[0] != "" || kept[1] == "" || kept[2] != "" || kept[3] == kept[1] {
		t.Fatal(kept, err)
	}
	c, _, err := LoadFile("c.json", files)
	if err != nil {
		t.Fatal(err)
	}
	tools := callvet.NewToolset([]callvet.Tool{c.Entries[0].Tool}).Hash
	for _, step := range []struct {
		name, text, want, older string // older: without hashes of files
	}{
		{"c.json", files["c.json"], "", ""},
		{"r.json", "{} ", "changed since this run", ""},
		{"c.json", `[{"name":"a","description":"y"}]`, "changed since this run", "is not known"},
		{"r.json", "", "read routes: file does not exist", "read routes: file does not exist"},
		{"c.json", "", "file does not exist", "file does not exist"},
	} {
		if files[step.name] = step.text; step.text == "" {
			delete(files, step.name)
		}
		for _, then := range [][]string{kept, nil} {
			want := step.want
			if then == nil {
				want = step.older
			}
			if got := Changed(targets, then, tools, files); (got == "") != (want == "") ||
				!strings.Contains(got, want) {
				t.Errorf("%s %q, kept %v: %q, want %q", step.name, step.text, then, got, want)
			}
		}
	}
	if got := Changed([]string{"openai/m"}, nil, "", files); got != "" {
		t.Errorf("a model: %q", got)
	}
}

func TestSearches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		targets []string
		want    [3]bool // found, asks, others
	}{
		{[]string{"openai/m", "retrieve:http://h"}, [3]bool{false, false, true}},
		{[]string{"retrieve:c.json"}, [3]bool{true, false, false}},
		{[]string{"retrieve:c.json", "retrieve:c.json?embed=ollama:m", "offline/lexical"}, [3]bool{true, true, true}},
	} {
		found, asks, others := Searches(c.targets)
		if diff := cmp.Diff(c.want, [3]bool{found, asks, others}); diff != "" {
			t.Errorf("%v: %s", c.targets, diff)
		}
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	known := Known([]callvet.Target{{Provider: "retrieve"}, {Provider: "retrieve:h"}}, []callvet.Tool{{Name: "a"}})
	if !known(0, "b") || known(1, "b") || !known(1, "a") || Known(nil, nil) != nil {
		t.Error("services name tools that there are, catalogues have all that they give")
	}
}
