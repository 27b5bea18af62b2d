// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
)

func mustParse(t *testing.T, text string) *callvet.Suite {
	t.Helper()
	s, problems, err := parse([]byte(text), "suite.yaml", Options{})
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v %v", err, problems)
	}
	return s
}

func TestTheShortForm(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `
callvet: 1
version: 1.10
tools: [{name: a}, {type: function, function: {name: b, parameters: {x: 1.0, y: 12345678901234567890}}},
  {name: c, inputSchema: {type: object}, annotations: {readOnlyHint: true}}]
defaults: {max_rounds: 7, tags: [all], fields: {language: en}}
cases:
  - {prompt: p, expected_tool: [a, b], expected_params: {country: NO, n: 1.0, big: 12345678901234567890, e: 1e5}, difficulty: easy, tags: [x]}
  - {prompt: p, expected_tool: null, expected_params: null}
  - {prompt: p, expected_tool: a, expected_params: {}, param_scoring: fuzzy, scoring_config: {threshold: 0.9}, multi_turn: true, max_rounds: 3, optimal_hops: 2, valid_prerequisites: [b], mock_responses: {b: {k: [1]}}}
  - {prompt: p, should_call_tool: false}
  - {prompt: p, should_call_tool: true, tools: []}
`)
	if s.Version != "1.10" || s.Defaults.MaxRounds != 7 || len(s.Tools) != 3 || !*s.Tools[2].ReadOnly {
		t.Errorf("suite %+v", s)
	}
	if got := string(s.Tools[1].Parameters); got != `{"x":1.0,"y":12345678901234567890}` {
		t.Errorf("parameters %s", got)
	}
	c := s.Cases[0]
	if got := string(
		c.Expect.Plans[0].Calls[0].Args); got != `{"country":"NO","n":1.0,"big":12345678901234567890,"e":1e5}` {
		t.Errorf("args %s", got)
	}
	if diff := cmp.Diff(map[string]string{"difficulty": "easy", "language": "en"}, c.Fields); diff != "" {
		t.Error(diff)
	}
	if c.ID != "case-0001" || c.Position != (callvet.Position{File: "suite.yaml", Line: 8, Column: 5}) ||
		strings.Join(c.Tags, " ") != "x all" {
		t.Errorf("case %+v", c)
	}
	none := []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
	for _, i := range []int{1, 3} {
		if diff := cmp.Diff(none, s.Cases[i].Expect.Plans); diff != "" {
			t.Errorf("case %d: %s", i, diff)
		}
	}
	c = s.Cases[2]
	if c.Scoring.Mode != "fuzzy" || *c.Scoring.Threshold != 0.9 || c.MultiTurn.MaxRounds != 3 ||
		string(c.Mocks[0].Replies[0].Result) != `{"k":[1]}` || string(c.Expect.Plans[0].Calls[0].Args) != "{}" {
		t.Errorf("case %+v", c)
	}
	if c = s.Cases[4]; *c.Expect.MinToolCalls != 1 || c.ToolNames == nil || c.Expect.Plans != nil {
		t.Errorf("case %+v", c)
	}
}

func TestAnchorsMergeAndBombs(t *testing.T) {
	t.Parallel()
	s := mustParse(t,
		"callvet: 1\ntools: [{name: a}]\ncases:\n  - &c {id: 1, prompt: p, expected_tool: a}\n  - {<<: *c, id: 2}\n")
	if s.Cases[1].ID != "2" || s.Cases[1].Input[0].Content != "p" {
		t.Errorf("merged case %+v", s.Cases[1])
	}
	bomb := "callvet: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		bomb += strings.NewReplacer("N", string(rune('a'+i+1)), "P",
			string(rune('a'+i))).Replace("aN: &aN [*aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP, *aP]\n")
	}
	bomb = strings.ReplaceAll(bomb, "*aa", "*a0")
	for name, text := range map[string]string{"bomb": bomb, "deep": "callvet: 1\ncases: " +
		strings.Repeat("[", 100_000), "deep block": "callvet: 1\ncases:\n  " + strings.Repeat("- ", 50_000)} {
		if _, _, err := parse([]byte(text), "x.yaml", Options{}); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	deep := `{"callvet":1,"cases":[{"prompt":"p","expected_tool":"a","expected_params":{"a":` +
		strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}}]}`
	if s, problems, err := parse([]byte(deep), "x.json", Options{}); err == nil && !HasErrors(problems) {
		t.Errorf("deep JSON was read: %v", s)
	}
}

// TestHostileYAMLEnds reads texts on which the parser alone would go on past the time that a test has.
func TestHostileYAMLEnds(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"keys": strings.Repeat("k: 1\n", 1<<17), "empty": strings.Repeat("-\n", 1<<18),
		"question": strings.Repeat("? a\n", 1<<16),
		"quotes":   strings.Repeat("\"a\" ", 1<<18), "colons": strings.Repeat("a: ", 1<<16),
		"brackets": strings.Repeat("[]", 1<<17),
	} {
		if _, _, err := parse([]byte(text), "x.yaml", Options{}); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, data string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	big := write("big.json", strings.Repeat(" ", 2000))
	for _, c := range []struct {
		path string
		opt  Options
		kind error
		say  string
	}{
		{filepath.Join(dir, "nothere.yaml"), Options{}, callvet.ErrNotFound, "nothere.yaml"},
		{big, Options{Limit: 1000}, callvet.ErrLimited, "1000 bytes"},
		{write("empty.yaml", " \n"), Options{}, callvet.ErrInvalid, "empty"},
		{write("latin.yaml", "callvet: 1\nname: caf\xe9\n"), Options{}, callvet.ErrInvalid, "latin.yaml:2"},
		{write("other.json", `{"a": 1}`), Options{}, callvet.ErrInvalid, "a"},
		{write("text.txt", "hello there"), Options{}, callvet.ErrInvalid, ""},
		{"-", Options{}, callvet.ErrInvalid, "standard input"},
		{write("x.yaml", "callvet: 1\ncases: []\n"), Options{Dialect: "nope"}, callvet.ErrInvalid, "nope"},
	} {
		_, _, err := Load(c.path, c.opt)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}

func TestFolderAndIncludes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.json": `[{"name": "a", "parameters": {"type": "object"}}, {"name": "b", "parameters": {}}]`,
		"one.yaml":   "callvet: 1\nname: one\ntools_from: tools.json\ncases: [{prompt: p, expected_tool: a}]\n",
		"two.yaml":   "callvet: 1\nname: two\ncases: [{prompt: q, expected_tool: b}]\n",
		"notes.json": `{"nothing": true}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, problems, err := Load(dir, Options{})
	if err != nil || HasErrors(problems) {
		t.Fatal(err, problems)
	}
	if len(s.Tools) != 2 || len(s.Cases) != 2 || s.Cases[1].ID != "case-0002" ||
		filepath.Base(s.Cases[1].Position.File) != "two.yaml" {
		t.Errorf("%+v", s)
	}
	if len(problems) != 1 || problems[0].Code != "file-ignored" {
		t.Errorf("problems %v", problems)
	}
	_, problems, err = Load(filepath.Join(dir, "one.yaml"), Options{NoIncludes: true})
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "may not read") {
		t.Errorf("%v %v", problems, err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	text := `
callvet: 1
tools: [{name: a}]
cases:
  - {id: full, prompt: "for {{seed:user.name}}", expected_tool: a, expected_params: {n: "{{seed:user.n}}", s: "n={{ seed:user.n }}"}}
  - {id: part, prompt: p, expect: {response: {contains: ["{{seed:gone}}", x], contains_any: [["{{snapshot:gone}}"], ["{{seed:gone}}", y]]}}}
  - {id: none, prompt: p, expect: {response: {contains: ["{{seed:gone}}"]}}}
  - {id: input, prompt: "{{seed:gone}}", expected_tool: a}
  - {id: args, prompt: p, expected_tool: a, expected_params: {k: 1, v: "{{snapshot:x[1].y}}"}}
  - {id: other, prompt: "{{name}}", expected_tool: a}
`
	s, problems, err := parse([]byte(text), "t.yaml",
		Options{Seeds: []byte(`{"user": {"name": "Ann", "n": 1.50}}`), Snapshots: []byte(`{"x": [0, {"z": 1}]}`)})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	c := s.Cases
	if c[0].Input[0].Content != "for Ann" || string(c[0].Expect.Plans[0].Calls[0].Args) != `{"n":1.50,"s":"n=1.50"}` ||
		len(c[0].Expect.Unsupported) != 0 {
		t.Errorf("full: %+v", c[0])
	}
	if e := c[1].Expect; len(e.Unsupported) != 2 || len(e.ResponseContains) != 1 || len(e.ResponseContainsAny) != 1 ||
		c[1].Skip != "" {
		t.Errorf("part: %+v", e)
	}
	if c[2].Skip == "" || len(c[2].Expect.Unsupported) != 1 || c[3].Skip == "" {
		t.Errorf("none: %+v\ninput: %+v", c[2], c[3])
	}
	if e := c[4].Expect.Plans[0].Calls[0]; string(e.Args) != `{"k":1}` || !e.Matchers["v"].Optional ||
		len(c[4].Expect.Unsupported) != 1 {
		t.Errorf("args: %+v", e)
	}
	if c[5].Skip != "" || c[5].Input[0].Content != "{{name}}" {
		t.Errorf("other: %+v", c[5])
	}
}

func TestTemplateIsCleanAndKeepsItsNumbers(t *testing.T) {
	t.Parallel()
	s, problems, err := parse(Template(), "suite.yaml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if problems = append(problems, lint(t.Context(), s, LintOptions{})...); len(problems) > 0 {
		t.Errorf("the template has lint: %v", problems)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Template())
	paths, err := filepath.Glob("testdata/lint/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`[{"name":"x","parameters":{}}]`))
	f.Add([]byte("callvet: 1\na: &a [*a]\ncases: [{<<: *a}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		for _, name := range []string{"f.yaml", "f.json", "f"} {
			s, _, err := parse(data, name, Options{Dialect: "callvet", NoIncludes: true})
			if err != nil {
				continue
			}
			lint(t.Context(), s, LintOptions{Source: func(string) ([]byte, error) { return data, nil }})
			b, err := Export(s, "json")
			if err != nil {
				t.Fatalf("export: %v", err)
			}
			if !json.Valid(b) {
				t.Fatalf("export is not JSON: %s", b)
			}
			y, err := Export(s, "yaml")
			if err != nil {
				t.Fatalf("export: %v", err)
			}
			again, _, err := parse(y, "f.yaml", Options{Dialect: "callvet", KeepTokens: true})
			if err != nil {
				t.Fatalf("read export: %v\n%s", err, y)
			}
			if second, err := Export(again, "yaml"); err != nil || !bytes.Equal(y, second) {
				t.Fatalf("export of export differs: %v\n%s\n---\n%s", err, y, second)
			}
		}
	})
}
