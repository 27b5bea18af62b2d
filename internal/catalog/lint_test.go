// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
)

// Pairs that a run confused come first, however unlike their texts are.
func TestConfusable(t *testing.T) {
	t.Parallel()
	c := sampleTools()
	c.Entries[2].Tool.Description = "Answers questions about trains in Sweden, and ferries."
	got, err := confusable(t.Context(), c, nil, 100)
	if err != nil || got.Pairs[0].A != "trains" || got.Pairs[0].B != "ferries" {
		t.Fatalf("%+v %v", got, err)
	}
	got, err = confusable(t.Context(), c,
		[]panel.Confused{
			{Expected: "books", Called: "jobs", N: 2},
			{Expected: "jobs", Called: "books", N: 1},
			{Expected: "jobs", Called: "gone", N: 9},
		}, 2)
	if err != nil || len(got.Pairs) != 2 || got.Pairs[0].Confused != 3 || got.Pairs[0].A != "jobs" ||
		got.Pairs[0].B != "books" {
		t.Errorf("%+v %v", got, err)
	}
	one := &retrieve.Catalogue{Entries: c.Entries[:1]}
	if got, err := confusable(t.Context(), one, nil, 5); err != nil || len(got.Pairs) != 0 {
		t.Errorf("one tool: %+v %v", got, err)
	}
}

func sampleTools() *retrieve.Catalogue {
	c := &retrieve.Catalogue{}
	for _, w := range []string{"weather", "trains", "ferries", "roads", "companies", "prices", "jobs", "books"} {
		c.Entries = append(c.Entries,
			retrieve.Entry{Tool: callvet.Tool{Name: w, Description: "Answers questions about " + w + " in Sweden."}})
	}
	return c
}

// lintMemory are files in memory.
type lintMemory map[string]string

// Read implements Files.
func (m lintMemory) Read(name string, _ int64) ([]byte, error) {
	if s, ok := m[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}

// A mistake does not keep lint from the others.
func TestLint(t *testing.T) {
	t.Parallel()
	e := &Env{Files: lintMemory{"c.json": "[{\"name\":\"a\\u001b[31mX\"},\n{\"name\":\"b\",\"namespace\":\"x\"},{\"name\":\"b\"}]", "empty": ""}}
	out, err := Lint(t.Context(), e, LintRequest{Tools: "c.json"})
	if err != nil || out.Tools != 2 || out.Errors() != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	var got []string
	for _, p := range out.Problems {
		got = append(got, p.Code+": "+p.Error())
	}
	for _, say := range []string{
		"c.json:2:25: tool b: namespace is", "tool b is there twice",
		"no-description: c.json: b has no description",
	} {
		if !strings.Contains(strings.Join(got, "\n"), say) {
			t.Errorf("%q is not in %q", say, got)
		}
	}
	if _, err := Lint(t.Context(), e, LintRequest{Tools: "none"}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
