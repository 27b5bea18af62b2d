// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/retrieve/learn"
	"github.com/callvet/callvet/value"
)

func ptr(s string) *string { return &s }

const whole = `callvet: 1
edits:
  - tool: a
    status: accepted
    reason: it is better
    was: Old.
    name: b
    title: B
    description: |
      New,
      in two lines.
    keywords: []
    example_queries: [What is "it"?]
    parameters: {city: The city., where.street: A street.}
    measured: {cases: 40, right_before: 20, right_after: 22, change: 0.05, interval: [-0.01, 0.11], p: 0.2, newly_right: [x, y], newly_wrong: []}
seen: [c1, c2]
`

func TestRead(t *testing.T) {
	t.Parallel()
	got, problems := suite.ReadEdits("e.yaml", []byte(whole))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := &suite.EditFile{Seen: []string{"c1", "c2"}, Edits: []learn.Edit{{
		Tool: "a", Status: learn.Accepted, Reason: "it is better", Was: ptr("Old."), Name: ptr("b"), Title: ptr("B"),
		Description: ptr("New,\nin two lines.\n"),
		Keywords:    []string{}, Examples: []string{`What is "it"?`},
		Parameters: []learn.ParameterText{{Path: "city", Text: "The city."}, {Path: "where.street", Text: "A street."}},
		Measured: &learn.Measured{
			Cases: 40, Before: 20, After: 22, Change: .05, Lower: -.01, Upper: .11, P: .2,
			NewlyRight: []string{"x", "y"}, NewlyWrong: []string{},
		},
		Position: callvet.Position{File: "e.yaml", Line: 3, Column: 5},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := accepts(t, whole); err != "" {
		t.Errorf("the schema refuses it: %s", err)
	}
	if f, problems := suite.ReadEdits("e.json", []byte(`[{"tool": "a", "description": ""}]`)); len(problems) > 0 ||
		*f.Edits[0].Description != "" || f.Edits[0].State() != learn.Proposed {
		t.Errorf("%v %v", f, problems)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "empty: e.yaml: the file is empty (edits: [{tool: …, description: …}])",
		"edits: [":                             "syntax: e.yaml:1:8:",
		"edits: []":                            "no-edits: e.yaml:1:1:",
		"edit: []":                             `unknown-key: e.yaml:1:1: unknown key "edit" (did you mean "edits"?)`,
		"callvet: 2\nedits: [{tool: a}]":       "unknown-version: e.yaml:1:10:",
		"- {description: x}":                   "no-tool: e.yaml:1:3:",
		"- tool: a\n  tool: b":                 `duplicate-key: e.yaml:2:3: the key "tool" stands here for the second time, first on line 1 (remove one)`,
		"- a":                                  `wrong-type: e.yaml:1:3: expected a mapping, found "a"`,
		"edits: {tool: a}":                     "wrong-type: e.yaml:1:8: expected a list of edits, found a mapping",
		"- tool: a\n  keywords: x":             `wrong-type: e.yaml:2:13: expected a list, found "x"`,
		"- tool: a\n  keywords: [112]":         "wrong-type: e.yaml:2:14: expected text, found 112 (a text in quotes)",
		"- tool: a\n  parameters: [x]":         "wrong-type: e.yaml:2:15: expected a mapping, found a list",
		"- tool: a\n  status: yes":             `unknown-value: e.yaml:2:11: there is no status "yes" (proposed, accepted or rejected)`,
		"- tool: a\n  measured: {p: x}":        "wrong-type: e.yaml:2:17: expected a number",
		"- tool: a\n  measured: {cases: 1.5}":  "wrong-type: e.yaml:2:21: expected a whole number",
		"- tool: a\n  measured: {interval: 1}": "wrong-type: e.yaml:2:24: expected two numbers",
		"- tool: a\n  description: " + strings.Repeat("x", suite.MaxText): "too-large: e.yaml:2:16:",
		strings.Repeat("#", suite.MaxEditsBytes+
			1): "too-large: e.yaml: a file of edits has at most",
		strings.Repeat("- {tool: a, description: x}\n", suite.MaxEdits+1): "too-many: e.yaml:10001:3:",
	} {
		_, problems := suite.ReadEdits("e.yaml", []byte(text))
		var all []string
		for _, p := range problems {
			all = append(all, p.Code+": "+p.Error())
		}
		if !strings.HasPrefix(strings.Join(all, "\n"), want) {
			t.Errorf("%.60q: %s\nwant %s", text, strings.Join(all, "\n"), want)
		}
		switch problems[0].Code {
		case "empty", "syntax", "too-large", "duplicate-key": // these no schema can see
		default:
			if accepts(t, text) == "" {
				t.Errorf("%.60q: the schema takes what the reader refuses", text)
			}
		}
	}
}

// accepts returns what the published schema has against a text; "" for nothing.
func accepts(t *testing.T, text string) string {
	t.Helper()
	doc, bad := doc.Read("e.yaml", []byte(text))
	if bad != nil {
		t.Fatal(bad)
	}
	s, err := contract.Compile(json.RawMessage(suite.EditsSchema()))
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Parse(doc.Root.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if found := s.Check(v); len(found) > 0 {
		return found[0].Message
	}
	return ""
}

// What is written reads back as it was, whatever the texts are.
func TestWriteReads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 40, -1)
		list := rapid.SliceOfN(text, 0, 4)
		e := learn.Edit{
			Tool: rapid.StringN(1, 20, -1).Draw(t, "tool"),
			Status: rapid.SampledFrom([]learn.Status{"", learn.Proposed, learn.Accepted, learn.Rejected}).Draw(t,
				"status"),
			Reason: text.Draw(t, "reason"), Was: ptr(text.Draw(t, "was")),
			Description: ptr(text.Draw(t, "description")), Keywords: list.Draw(t, "keywords"),
		}
		if rapid.Bool().Draw(t, "more") {
			e.Title, e.Name, e.Examples = ptr(text.Draw(t, "title")), ptr(text.Draw(t, "name")),
				list.Draw(t, "examples")
			e.Parameters = []learn.ParameterText{{Path: "a", Text: text.Draw(t, "parameter")}}
			e.Measured = &learn.Measured{
				Cases: 3, Change: -0.25, NewlyWrong: list.Draw(t, "wrong"),
				NewlyRight: []string{},
			}
		}
		f := &suite.EditFile{Edits: []learn.Edit{e}, Seen: rapid.SliceOfN(text, 1, 3).Draw(t, "seen")}
		b, err := suite.WriteEdits(f, []string{"About it."})
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(string(b), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Fatalf("something in it is not shown: %q", b)
		}
		got, problems := suite.ReadEdits("e.yaml", b)
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, b)
		}
		if diff := cmp.Diff(f, got, cmpopts.IgnoreFields(learn.Edit{}, "Position")); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add(whole)
	f.Add(`[{"tool": "a", "measured": {"interval": [1, null]}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		got, problems := suite.ReadEdits("e.yaml", []byte(text))
		if len(problems) > 0 {
			return
		}
		b, err := suite.WriteEdits(got, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, problems := suite.ReadEdits("e.yaml", b); len(problems) > 0 {
			t.Errorf("%q was read and written as %q: %v", text, b, problems)
		}
	})
}
