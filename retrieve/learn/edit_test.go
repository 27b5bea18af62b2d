// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

const listed = `{
  "name": "two",
  "tools": [
    {
      "tool_id": "weather", "name": "Weather",
      "description": "Weather of a place.",
      "keywords": ["rain"],
      "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Old"}, "where": {"type": "object", "properties": {"street": {"type": "string"}}}}}
    },
    {"name": "search",
      "description": "Searches \u003cthe\u003e web.", "x": 1e2}
  ]
}
`

func load(t *testing.T, text string) *retrieve.Catalogue {
	t.Helper()
	c, _, err := retrieve.LoadCatalogue("c.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ptr(s string) *string { return &s }

func TestRewrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edits []learn.Edit
		want  []string // old, new, old, new, …
	}{
		"description": {
			[]learn.Edit{{Tool: "weather", Description: ptr(`Says "how" <warm> it is.`)}},
			[]string{`"Weather of a place."`, `"Says \"how\" <warm> it is."`},
		},
		"lists": {
			[]learn.Edit{{
				Tool: "weather", Keywords: []string{"sol", "snö"},
				Examples: []string{"Hur varmt?"},
			}},
			[]string{
				`["rain"]`, `["sol", "snö"]`, "\"string\"}}}}}\n",
				"\"string\"}}}}},\n      \"example_queries\": [\"Hur varmt?\"]\n",
			},
		},
		"title stands under name": {
			[]learn.Edit{{Tool: "weather", Title: ptr("Väder")}},
			[]string{`"name": "Weather"`, `"name": "Väder"`},
		},
		"a title where none is": {
			[]learn.Edit{{Tool: "search", Title: ptr("Web")}},
			[]string{`1e2}`, `1e2, "title": "Web"}`},
		},
		"another name": {
			[]learn.Edit{{Tool: "weather", Name: ptr("forecast")}},
			[]string{`"weather"`, `"forecast"`},
		},
		"parameters": {
			[]learn.Edit{{
				Tool:       "weather",
				Parameters: []learn.ParameterText{{Path: "city", Text: "New"}, {Path: "where.street", Text: "S"}},
			}},
			[]string{
				`"Old"`, `"New"`, `{"street": {"type": "string"}}`,
				`{"street": {"type": "string", "description": "S"}}`,
			},
		},
		"no keywords": {[]learn.Edit{{Tool: "weather", Keywords: []string{}}}, []string{`["rain"]`, `[]`}},
		"applied twice is allowed": {[]learn.Edit{{
			Tool: "weather", Was: ptr("older"),
			Description: ptr("Weather of a place."),
		}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := learn.RewriteFile("c.json", []byte(listed), c.edits)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer(c.want...).Replace(listed)
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Lists of other formats are edited at the keys of the edited texts.
func TestRewriteForms(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		`{"name": "a", "description": "Old.", "input_schema": {"properties": {"p": {}}}}`:                                            `{"name": "a", "description": "New.", "input_schema": {"properties": {"p": {"description": "P."}}}, "title": "A", "keywords": ["k"], "example_queries": []}`,
		`[{"type": "function", "function": {"name": "a", "parameters": {"properties": {"p": {}}}}}]`:                                 `[{"type": "function", "function": {"name": "a", "parameters": {"properties": {"p": {"description": "P."}}}, "description": "New."}, "title": "A", "keywords": ["k"], "example_queries": []}]`,
		`{"functions": [{"name": "a", "title": "x", "examples": ["e"], "inputSchema": {"properties": {"p": {"description": ""}}}}]}`: `{"functions": [{"name": "a", "title": "A", "examples": [], "inputSchema": {"properties": {"p": {"description": "P."}}}, "description": "New.", "keywords": ["k"]}]}`,
		`{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "b"}, {"name": "a", "inputSchema": {"properties": {"p": {}}}}]}}`: `{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "b"}, {"name": "a", "inputSchema": {"properties": {"p": {"description": "P."}}}, "title": "A", "description": "New.", "keywords": ["k"], "example_queries": []}]}}`,
		`{"tools": {"b": {}, "a": {"keywords": null, "args": {"properties": {"p": {}}}}}}`:                                           `{"tools": {"b": {}, "a": {"keywords": ["k"], "args": {"properties": {"p": {"description": "P."}}}, "title": "A", "description": "New.", "example_queries": []}}}`,
	} {
		e := learn.Edit{
			Tool: "a", Title: ptr("A"), Description: ptr("New."), Keywords: []string{"k"},
			Examples: []string{}, Parameters: []learn.ParameterText{{Path: "p", Text: "P."}},
		}
		got, err := learn.RewriteFile("c.json", []byte(form), []learn.Edit{e})
		if err != nil {
			t.Errorf("%s: %v", form, err)
		} else if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
		renamed, err := learn.RewriteFile("c.json", []byte(form), []learn.Edit{{Tool: "a", Name: ptr("z")}})
		if err != nil || !strings.Contains(string(renamed), `"name": "z"`) {
			t.Errorf("%s: %v", renamed, err)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	at := callvet.Position{File: "e.yaml", Line: 3, Column: 5}
	for want, edits := range map[string][]learn.Edit{
		`e.yaml:3:5: the catalogue has no tool "wether" (did you mean "weather"?)`: {{
			Tool:        "wether",
			Description: ptr("x"), Position: at,
		}},
		"two edits of weather": {
			{Tool: "weather", Title: ptr("x")},
			{Tool: "weather", Title: ptr("y")},
		},
		"the edit of weather changes nothing": {{Tool: "weather", Reason: "x"}},
		"no longer the one":                   {{Tool: "weather", Description: ptr("x"), Was: ptr("Weather")}},
		`weather cannot be called "search"`:   {{Tool: "weather", Name: ptr("search")}},
		`search cannot be called "new"`: {
			{Tool: "weather", Name: ptr("new")},
			{Tool: "search", Name: ptr("new")},
		},
		`it has no parameter "where.city"`: {{
			Tool:       "weather",
			Parameters: []learn.ParameterText{{Path: "where.city"}},
		}},
		"it has no parameters that can be read": {{
			Tool:       "search",
			Parameters: []learn.ParameterText{{Path: "q"}},
		}},
		`there is a tool of that name, or it is none`: {{Tool: "search", Name: ptr("")}},
		"search cannot be called \"a\uFFFD[2J\"":      {{Tool: "search", Name: ptr("a\x1b[2J")}},
		"a name has no spaces":                        {{Tool: "search", Name: ptr("web search")}},
	} {
		if _, err := learn.ApplyEdits(load(t, listed), edits); err == nil || !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestApplyKeepsItsInput(t *testing.T) {
	t.Parallel()
	c := load(t, listed)
	got, err := learn.ApplyEdits(c,
		[]learn.Edit{{
			Tool: "weather", Name: ptr("forecast"),
			Parameters: []learn.ParameterText{{Path: "city", Text: "New"}},
		}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(load(t, listed), c); diff != "" {
		t.Errorf("the catalogue given changed\n%s", diff)
	}
	if e := got.Entries[0]; e.ID != "weather" || e.Tool.Name != "forecast" ||
		!strings.Contains(string(e.Tool.Parameters), `"New"`) {
		t.Errorf("%+v", e)
	}
}

// Whatever the texts are, the rewritten file reads back as the catalog that was
// measured, and the tools without edits keep every byte.
func TestRewriteIsApply(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		e := learn.Edit{
			Tool:        rapid.SampledFrom([]string{"weather", "search"}).Draw(t, "tool"),
			Description: ptr(text.Draw(t, "description")),
		}
		if rapid.Bool().Draw(t, "lists") {
			e.Keywords, e.Examples = rapid.SliceOfN(text, 1, 3).Draw(t, "keywords"),
				rapid.SliceOfN(text, 1, 3).Draw(t, "examples")
		}
		c, _, err := retrieve.LoadCatalogue("c.json", []byte(listed))
		if err != nil {
			t.Fatal(err)
		}
		want, err := learn.ApplyEdits(c, []learn.Edit{e})
		if err != nil {
			t.Fatal(err)
		}
		b, err := learn.RewriteFile("c.json", []byte(listed), []learn.Edit{e})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := retrieve.LoadCatalogue("c.json", b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestLeaks(t *testing.T) {
	t.Parallel()
	c := load(t,
		`[{"name": "a", "description": "Old: what is the fastest way to Lund today?"}, {"name": "b", "description": "B"}]`)
	qs := []learn.Question{
		{Case: "known", Text: "What is the fastest way to Lund today?"},
		{Case: "verbatim", Text: "Hur är vädret i Luleå imorgon?"},
		{Case: "near", Text: "Which train goes from Malmö to Lund after six?"},
		{Case: "words only", Text: "Luleå imorgon vädret Hur är i morse?"},
		{Case: "short", Text: "Rain?"},
		{Case: "short too", Text: "snow"},
	}
	edits := []learn.Edit{
		{
			Tool: "a", Description: ptr("What is the fastest way to Lund today? And: HUR ÄR VÄDRET i Luleå, imorgon."),
			Keywords: []string{"rain", "snow and ice"},
		},
		{Tool: "b", Examples: []string{"Tell me which train goes from Malmö to Lund after five"}},
	}
	var got []string
	for _, l := range learn.Leaks(c, edits, qs) {
		got = append(got, l.Case+" "+l.Tool)
	}
	if diff := cmp.Diff([]string{"verbatim a", "near b", "short a"}, got); diff != "" {
		t.Error(diff)
	}
}

// A question in the catalog has been read by whoever writes for it; examples are kept from prompts,
// and words in another order are another question.
func TestLeaked(t *testing.T) {
	t.Parallel()
	c := &retrieve.Catalogue{Entries: []retrieve.Entry{
		{
			Tool: callvet.Tool{
				Name:        "a",
				Description: "Weather. Such as: will it rain a lot in Lund tomorrow, and how much?",
			},
			Examples: []string{"Is it windy on the west coast?"},
		},
		{Tool: callvet.Tool{Name: "b", Description: "News."}, Keywords: []string{"what happened today"}},
	}}
	for text, want := range map[string]bool{
		"Will it rain a lot in Lund tomorrow": true, "will it rain a bit in Lund tomorrow": true,
		"What happened today?": true, "News": true,
		"Is it windy on the west coast?": false, "in Lund tomorrow will it rain a lot": false, "Rain": false, "": false,
	} {
		if got := learn.Leaked(c, []learn.Question{{Text: text}}); got[0] != want {
			t.Errorf("%q: %v", text, got[0])
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var qs []learn.Question
		n := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 6).Draw(t, "questions by tool")
		for tool, k := range n {
			for i := range k {
				qs = append(qs, learn.Question{
					Case: fmt.Sprint(tool, i),
					Text: fmt.Sprintf("question %d of %d", i, tool), Right: []string{fmt.Sprint(tool)},
				})
			}
		}
		qs = append(qs, learn.Question{Case: "again", Text: "QUESTION 0 of 0!", Right: []string{"another"}})
		share, seed := rapid.Float64Range(0.1, 0.9).Draw(t, "share"), rapid.Int64().Draw(t, "seed")
		held := learn.SplitQuestions(qs, share, seed)
		if held[0] != held[len(qs)-1] {
			t.Fatal("the same words are in both halves")
		}
		at := 0
		for _, k := range n {
			got := 0
			for range k {
				if held[at] {
					got++
				}
				at++
			}
			if d := float64(got) - share*float64(k); d <= -1 || d >= 1 {
				t.Fatalf("%d of %d held out at %v", got, k, share)
			}
		}
		// The order of the questions is nothing to the halves.
		turned := make([]learn.Question, len(qs))
		for i := range qs[:len(qs)-1] {
			turned[len(qs)-2-i] = qs[i]
		}
		turned[len(qs)-1] = qs[len(qs)-1]
		again := learn.SplitQuestions(turned, share, seed)
		for i := range qs[:len(qs)-1] {
			if held[i] != again[len(qs)-2-i] {
				t.Fatal("another order divides otherwise")
			}
		}
	})
	share := 0
	for seed := range int64(2000) { // a single question is held out as often as asked
		if learn.SplitQuestions([]learn.Question{{Text: "alone", Right: []string{"t"}}}, 0.3, seed)[0] {
			share++
		}
	}
	if share < 520 || share > 680 {
		t.Errorf("held out %d of 2000, want about 600", share)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	of := func(id, first string, right ...string) learn.Outcome {
		return learn.Outcome{Question: learn.Question{Case: id, Text: id, Right: right}, First: first}
	}
	os := []learn.Outcome{
		of("1", "b", "a"), of("2", "b", "a"), of("3", "a", "a"), of("4", "c"), of("5", "", "c"),
		of("6", "d", "d"), of("7", "c", "a"),
	}
	var got []string
	for _, c := range learn.Choose(os, 9) {
		got = append(got,
			fmt.Sprintf("%s lost %d took %d kept %d %v", c.Tool, len(c.Lost), len(c.Taken), len(c.Kept), c.Rivals))
	}
	want := []string{"a lost 3 took 0 kept 1 [b c]", "c lost 1 took 2 kept 0 [a]", "b lost 0 took 2 kept 0 [a]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := learn.Choose(os, 1); len(c) != 1 || c[0].Tool != "a" {
		t.Errorf("%v", c)
	}
	if c := learn.CandidatesOf(os, []string{"d", "x"}); len(c) != 2 || len(c[0].Kept) != 1 || c[1].Tool != "x" {
		t.Errorf("%v", c)
	}
}
