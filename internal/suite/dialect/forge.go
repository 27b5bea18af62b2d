// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// forge reads golden, labeled, regression, rubric and perturbation files of
// Eval Case Interfaces: a bare array, an envelope {metadata, cases}, or the two
// case lists of a perturbation file.
func (r *reader) forge() (*callvet.Suite, error) {
	if len(r.Src.Values) != 1 {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("read suite: %w: an eval file holds one list or one envelope; %s holds %d values",
				callvet.ErrInvalid, Name(r.Src.Path), len(r.Src.Values)),
			Hint: "put comments behind // or remove what follows the list",
		}
	}
	doc := r.Src.Values[0]
	if err := r.unfilled(doc); err != nil {
		return nil, err
	}
	s := &callvet.Suite{Name: Stem(r.Src.Path), Tools: r.Opt.Tools}
	f := &forgeReader{reader: r, suite: s, tokens: newTokens(r.Opt)}
	switch {
	case doc.Kind() == '[':
		f.bare = true
		f.cases(doc)
		f.frame(Node{Raw: []byte(`{"cases":[]}`)}, "cases")
	case doc.Has("cases"):
		o := r.Object(doc, "the eval file", "metadata", "cases", "$schema", "_comment")
		f.meta = o.Get("metadata")
		f.metadata()
		f.cases(o.Get("cases"))
		f.frame(doc, "cases")
	default:
		f.perturbations(doc)
	}
	return s, nil
}

type forgeReader struct {
	*reader
	suite  *callvet.Suite
	meta   Node
	bare   bool
	tokens *tokens
}

func (f *forgeReader) frame(doc Node, key string) {
	var extra Record
	extra.Truth("bare", f.bare)
	extra.Raw("tokens", f.tokens.record())
	f.suite.Foreign = FrameOf(f.Src, doc, key, extra)
}

func (f *forgeReader) cases(list Node) {
	if list.Kind() != '[' {
		f.Report(list.Off, "wrong-type", "cases", "", "cases must be a list, not %s", KindName(list))
		return
	}
	tier, _ := f.meta.Get("tier").Text()
	format := forgeFormat(f.tokens, callvet.Tier(tier))
	for i, n := range list.Elements() {
		f.suite.Cases = append(f.suite.Cases, format.Read(f.Reader, n, i))
	}
	f.CaseID = ""
}

// perturbations reads a file with shouldRouteIdentically and
// shouldRouteDifferently; the list a case is in becomes its perturbation field.
func (f *forgeReader) perturbations(doc Node) {
	o := f.Object(doc, "the perturbation file", "description", "triggerPhrase", "expectedTool",
		"shouldRouteIdentically", "shouldRouteDifferently",
		"generationGuidelines", "integrationWithForgeEval", "$schema", "_comment")
	f.suite.Description = o.Str("description")
	format := forgeFormat(f.tokens, callvet.TierLabeled)
	var counts [2]int
	for i, key := range []string{"shouldRouteIdentically", "shouldRouteDifferently"} {
		list := o.Get(key).Get("cases")
		for j, n := range list.Elements() {
			f.suite.Cases = append(f.suite.Cases, format.Read(f.Reader, n, j))
			counts[i]++
		}
		if v := o.Get(key); v.Given() {
			doc = Node{Raw: WithMember(doc, key, WithMember(v, "cases", []byte("[]"))), Off: doc.Off}
		}
	}
	var extra Record
	extra.Integer("same", &counts[0])
	extra.Raw("tokens", f.tokens.record())
	var fr Record
	fr.Str("form", f.Src.Form)
	fr.Raw("document", doc.Raw)
	f.suite.Foreign = append(fr, extra...).Bytes()
}

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// unfilled refuses a template: placeholders where an id, a tool or a case must be.
func (r *reader) unfilled(doc Node) error {
	list := doc
	places := []Node{doc.At("metadata", "toolName"), doc.At("metadata", "descriptionHash")}
	if doc.Kind() == '{' {
		list = doc.Get("cases")
	}
	for _, c := range list.Elements() {
		if c.Kind() == '"' {
			places = append(places, c)
			continue
		}
		places = append(places, c.Get("id"), c.At("expect", "toolsCalled"), c.At("expect", "toolsAcceptable"))
	}
	for _, p := range places {
		found := placeholder.Find(p.Raw)
		if found == nil && p.Kind() == '"' && bytes.HasPrefix(p.Raw, []byte(`"//`)) {
			found = p.Raw
		}
		if found == nil || isToken(found) {
			continue
		}
		at := r.Src.Position(p.Off + max(0, bytes.Index(p.Raw, found)))
		all := len(placeholder.FindAll(doc.Raw, -1))
		problem := callvet.Problem{Position: at, Code: "template", Message: fmt.Sprintf(
			"this is a template, not an eval file: %s still has to be filled in (%d placeholders in all)",
			bytes.Trim(found, `"`), all)}
		return &callvet.Hinted{
			Err:  fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, problem),
			Hint: "copy the template, put real ids, tool names and prompts in place of {{…}}, and load the copy",
		}
	}
	return nil
}

func isToken(b []byte) bool {
	return bytes.HasPrefix(b, []byte("{{seed:")) || bytes.HasPrefix(b, []byte("{{snapshot:"))
}

func forgeCaseKeys() []string {
	return []string{
		"id", "description", "difficulty", "createdAt", "bugRef", "input", "expect", "stubs", "maxTurns",
		"metadata", "tags", "rubric", "referenceData",
	}
}

func forgeFormat(tk *tokens, tier callvet.Tier) CaseFormat {
	return CaseFormat{
		Read:  func(t *Reader, n Node, i int) callvet.Case { return (&reader{t}).forgeCase(n, i, tk, tier) },
		Write: writeForgeCase,
		Can: []Feature{
			"plans", "any_of plans", "no calls", "several calls", "calls without arguments given", "tools_called",
			"tools_acceptable", "tools_not_called", "tool_calls bounds", "no_tool_errors", "tool_params",
			"response_non_empty",
			"response_contains", "response_contains_any", "response_not_contains", "response_matches",
			"no_ungrounded_numbers",
			"max_latency_ms", "max_tokens", "max_cost_usd", "rubric", "reference_data", "mocks", "description",
			"tags", "tier",
		},
	}
}

func (r *reader) forgeCase(n Node, index int, tk *tokens, tier callvet.Tier) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.Src.Position(n.Off), Foreign: n.Raw}
	r.CaseID = c.ID
	o := r.Object(n, "an eval case", forgeCaseKeys()...)
	if id := o.Str("id"); id != "" {
		c.ID, r.CaseID = id, id
	} else {
		r.Report(n.Off, "missing-key", "id", `ids look like "gs-get-weather-001"`, "the case has no id")
	}
	c.Description, c.Tags = o.Str("description"), o.Strs("tags")
	in := r.Object(o.Get("input"), "input", "message")
	msg := in.Str("message")
	if strings.TrimSpace(msg) == "" {
		r.Report(o.At("input"), "empty-prompt", "input.message", "write what the user says", "the case has no message")
	}
	r.noTokens(in.Get("message"), "input.message")
	c.Input = UserInput(msg)
	c.Mocks = r.mocks(o.Get("stubs"), "stubs")
	if v := o.Integer("maxTurns"); v != nil {
		c.MultiTurn = &callvet.MultiTurn{MaxRounds: *v}
	}
	r.forgeFields(o, &c)
	c.Tier = forgeTier(c.ID, c.Fields["difficulty"], tier, o.Get("rubric"))
	r.forgeExpect(o, &c, tk)
	r.forgeRubric(o, &c)
	return c
}

// forgeFields makes slices of difficulty, bugRef, createdAt and single-valued metadata.
func (r *reader) forgeFields(o Object, c *callvet.Case) {
	set := func(key, val string) {
		if val == "" {
			return
		}
		if c.Fields == nil {
			c.Fields = map[string]string{}
		}
		c.Fields[key] = val
	}
	for _, m := range o.Get("metadata").Members(r.Keys) {
		switch m.Val.Kind() {
		case '"':
			set(m.Name, Unquote(m.Val.Raw))
		case '0', 't', 'f':
			set(m.Name, string(m.Val.Raw))
		}
	}
	difficulty := o.Str("difficulty")
	if difficulty != "" && !slices.Contains(difficulties(), difficulty) {
		fix := "use straightforward, ambiguous, edge or regression"
		if near := callvet.Nearest(difficulty, difficulties()); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
		r.Report(o.At("difficulty"), "unknown-difficulty", "difficulty", fix,
			"difficulty %q is none of the format's", difficulty)
	}
	if prefix, _, _ := strings.Cut(c.ID, "-"); difficulty != "" &&
		slices.Contains([]string{"gs", "ls", "rg", "sp"}, prefix) && (prefix == "rg") != (difficulty == "regression") {
		r.Report(o.At("difficulty"), "contradiction", "difficulty",
			`ids of regression cases look like "rg-get-weather-001", and no others`,
			"the id %q and difficulty %q are of different tiers", c.ID, difficulty)
	}
	if difficulty == "" && strings.HasPrefix(c.ID, "sp-") {
		difficulty = "perturbation"
	}
	set("difficulty", difficulty)
	set("bugRef", o.Scalar("bugRef"))
	set("createdAt", o.Scalar("createdAt"))
}

// difficulties are those of the format and of its generators.
func difficulties() []string {
	return []string{"straightforward", "ambiguous", "edge", "regression", "perturbation", "adversarial"}
}

// forgeTier: the id's prefix decides, then the difficulty, then the file's own tier.
func forgeTier(id, difficulty string, file callvet.Tier, rubric Node) callvet.Tier {
	prefix, _, _ := strings.Cut(id, "-")
	switch {
	case rubric.Given():
		return callvet.TierRubric
	case prefix == "rg" || difficulty == "regression":
		return callvet.TierRegression
	case prefix == "gs":
		return callvet.TierGolden
	case prefix == "ls" || prefix == "sp":
		return callvet.TierLabeled
	}
	switch file {
	case callvet.TierGolden, callvet.TierLabeled, callvet.TierRegression, callvet.TierRubric:
		return file
	}
	if difficulty != "" {
		return callvet.TierLabeled
	}
	return ""
}

func (r *reader) noTokens(v Node, key string) {
	if isTokenIn(v.Raw) {
		r.Report(v.Off, "token-not-allowed", key, "use tokens in response assertions and toolParams only",
			"{{seed:…}} and {{snapshot:…}} are not allowed in %s", key)
	}
}

func isTokenIn(b []byte) bool {
	return bytes.Contains(b, []byte("{{seed:")) || bytes.Contains(b, []byte("{{snapshot:"))
}

func (r *reader) forgeRubric(o Object, c *callvet.Case) {
	c.Expect.ReferenceData = o.Get("referenceData").Raw
	for _, n := range o.Elements("rubric") {
		d := r.Object(n, "a rubric dimension", "dimension", "maxScore", "criteria")
		dim := callvet.RubricDimension{Dimension: d.Str("dimension"), Criteria: d.Str("criteria"), MaxScore: 1}
		if v := d.Number("maxScore"); v != nil {
			dim.MaxScore = *v
		}
		c.Expect.Rubric = append(c.Expect.Rubric, dim)
	}
}
