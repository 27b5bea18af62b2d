// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func directors(t testing.TB, o retrieve.Options) *retrieve.Index {
	t.Helper()
	o.Primary = [][]string{{}}
	x, err := retrieve.New(t.Context(), o, []retrieve.Entry{
		{
			Tool:  callvet.Tool{Name: "bolag_styrelse", Description: "Visar styrelse och direktör för ett bolag."},
			Title: "styrelse", Keywords: []string{"styrelse", "VD", "direktörer"},
			Examples: []string{"vem är direktör", "Vilka sitter i styrelsen?"},
		},
		{Tool: callvet.Tool{Name: "listor", Description: "Listor över böcker och skript."}},
		{Tool: callvet.Tool{Name: "tag", Description: "Tider för tåg."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestMatch(t *testing.T) {
	t.Parallel()
	const question = "Vem är direktör, vem är direktör i styrelse för Volvo?"
	got, err := directors(t, retrieve.Default()).Match(question, "bolag_styrelse")
	want := retrieve.Match{
		Words: []retrieve.MatchedWord{
			{"är", []string{"examples"}},
			{"direktör", []string{"description", "keywords", "examples"}},
			{"styrelse", []string{"name", "description", "keywords", "examples"}},
		},
		Keywords: []string{"styrelse", "direktörer"},
		Examples: []string{"vem är direktör", "Vilka sitter i styrelsen?"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	got, err = directors(t, retrieve.BigTool()).Match(question, "bolag_styrelse")
	want.Words = []retrieve.MatchedWord{
		{"är", []string{"description"}},
		{"direktör", []string{"description"}},
		{"i", []string{"description"}},
		{"styrelse", []string{"description"}},
		{"för", []string{"description"}},
	}
	want.Keywords, want.Examples = []string{"styrelse"}, []string{"vem är direktör"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := directors(t, retrieve.Default()).Match(question, "none"); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
}

// Reasons have the question's own words, each once, and under the additive formula its
// points.
func TestReasonsInWords(t *testing.T) {
	t.Parallel()
	e, err := directors(t, retrieve.Default()).Explain(t.Context(), "direktören, direktören i styrelsen", "tag")
	if err != nil {
		t.Fatal(err)
	}
	got := e.Reasons()
	want := []string{
		`it has no form of "direktören", which bolag_styrelse has in description, keywords, examples`,
		`it has no form of "styrelsen", which bolag_styrelse has in name, description, keywords, examples`,
		"its text is farther from the question as a vector",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	e, err = directors(t, retrieve.BigTool()).Explain(t.Context(), "vem är direktör i en styrelse", "tag")
	if err != nil {
		t.Fatal(err)
	}
	want = []string{
		"bolag_styrelse gets 5 points for a name within the question, and it gets none",
		"bolag_styrelse gets 3 points for keywords within the question (styrelse), and it gets none",
		"bolag_styrelse gets 4 points for words of the question within a description, and it gets 1",
		"bolag_styrelse gets 2 points for an example within the question, and it gets none",
	}
	if d := cmp.Diff(want, e.Reasons()); d != "" {
		t.Error(d)
	}
}
