// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/callvet/callvet"
)

// forge reads golden, labeled, regression, rubric and perturbation files of
// Eval Case Interfaces: a bare array, an envelope {metadata, cases}, or the two
// case lists of a perturbation file.
func (r *reader) forge() (*callvet.Suite, error) {
	if len(r.src.values) != 1 {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("read suite: %w: an eval file holds one list or one envelope; %s holds %d values", callvet.ErrInvalid, name(r.src.path), len(r.src.values)),
			Hint: "put comments behind // or remove what follows the list",
		}
	}
	doc := r.src.values[0]
	if err := r.unfilled(doc); err != nil {
		return nil, err
	}
	s := &callvet.Suite{Name: stem(r.src.path), Tools: r.opt.Tools}
	f := &forgeReader{reader: r, suite: s, tokens: newTokens(r.opt)}
	switch {
	case doc.kind() == '[':
		f.bare = true
		f.cases(doc)
		f.frame(node{raw: []byte(`{"cases":[]}`)}, "cases")
	case doc.has("cases"):
		o := r.object(doc, "the eval file", "metadata", "cases", "$schema", "_comment")
		f.meta = o.get("metadata")
		f.metadata()
		f.cases(o.get("cases"))
		f.frame(doc, "cases")
	default:
		f.perturbations(doc)
	}
	f.staleness()
	return s, nil
}

type forgeReader struct {
	*reader
	suite  *callvet.Suite
	meta   node
	bare   bool
	tokens *tokens
}

func (f *forgeReader) frame(doc node, key string) {
	var extra record
	extra.truth("bare", f.bare)
	extra.raw("tokens", f.tokens.record())
	f.suite.Foreign = frameOf(f.src, doc, key, extra)
}

func (f *forgeReader) cases(list node) {
	if list.kind() != '[' {
		f.report(list.off, "wrong-type", "cases", "", "cases must be a list, not %s", kindName(list))
		return
	}
	tier, _ := f.meta.get("tier").text()
	format := forgeFormat(f.tokens, callvet.Tier(tier))
	for i, n := range list.elements() {
		f.suite.Cases = append(f.suite.Cases, format.read(f.reader, n, i))
	}
	f.caseID = ""
}

// perturbations reads a file with shouldRouteIdentically and
// shouldRouteDifferently; the list a case is in becomes its perturbation field.
func (f *forgeReader) perturbations(doc node) {
	o := f.object(doc, "the perturbation file", "description", "triggerPhrase", "expectedTool", "shouldRouteIdentically", "shouldRouteDifferently",
		"generationGuidelines", "integrationWithForgeEval", "$schema", "_comment")
	f.suite.Description = o.str("description")
	format := forgeFormat(f.tokens, callvet.TierLabeled)
	var counts [2]int
	for i, key := range []string{"shouldRouteIdentically", "shouldRouteDifferently"} {
		list := o.get(key).get("cases")
		for j, n := range list.elements() {
			f.suite.Cases = append(f.suite.Cases, format.read(f.reader, n, j))
			counts[i]++
		}
		if v := o.get(key); v.given() {
			doc = node{raw: withMember(doc, key, withMember(v, "cases", []byte("[]"))), off: doc.off}
		}
	}
	var extra record
	extra.integer("same", &counts[0])
	extra.raw("tokens", f.tokens.record())
	var fr record
	fr.str("form", f.src.form)
	fr.raw("document", doc.raw)
	f.suite.Foreign = append(fr, extra...).bytes()
}

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// unfilled refuses a template: placeholders where an id, a tool or a case must be.
func (r *reader) unfilled(doc node) error {
	list := doc
	places := []node{doc.at("metadata", "toolName"), doc.at("metadata", "descriptionHash")}
	if doc.kind() == '{' {
		list = doc.get("cases")
	}
	for _, c := range list.elements() {
		if c.kind() == '"' {
			places = append(places, c)
			continue
		}
		places = append(places, c.get("id"), c.at("expect", "toolsCalled"), c.at("expect", "toolsAcceptable"))
	}
	for _, p := range places {
		found := placeholder.Find(p.raw)
		if found == nil && p.kind() == '"' && bytes.HasPrefix(p.raw, []byte(`"//`)) {
			found = p.raw
		}
		if found == nil || isToken(found) {
			continue
		}
		at := r.src.position(p.off + max(0, bytes.Index(p.raw, found)))
		all := len(placeholder.FindAll(doc.raw, -1))
		problem := callvet.Problem{Position: at, Code: "template", Message: fmt.Sprintf(
			"this is a template, not an eval file: %s still has to be filled in (%d placeholders in all)", bytes.Trim(found, `"`), all)}
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
	return []string{"id", "description", "difficulty", "createdAt", "bugRef", "input", "expect", "stubs", "maxTurns", "metadata", "tags", "rubric", "referenceData"}
}

func forgeFormat(tk *tokens, tier callvet.Tier) caseFormat {
	return caseFormat{
		read:  func(r *reader, n node, i int) callvet.Case { return r.forgeCase(n, i, tk, tier) },
		write: writeForgeCase,
		can: []feature{
			"plans", "any_of plans", "no calls", "several calls", "calls without arguments given", "tools_called", "tools_acceptable", "tools_not_called", "tool_calls bounds", "no_tool_errors", "tool_params", "response_non_empty",
			"response_contains", "response_contains_any", "response_not_contains", "response_matches", "no_ungrounded_numbers",
			"max_latency_ms", "max_tokens", "max_cost_usd", "rubric", "mocks", "description", "tags",
		},
	}
}

func (r *reader) forgeCase(n node, index int, tk *tokens, tier callvet.Tier) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.src.position(n.off), Foreign: n.raw}
	r.caseID = c.ID
	o := r.object(n, "an eval case", forgeCaseKeys()...)
	if id := o.str("id"); id != "" {
		c.ID, r.caseID = id, id
	} else {
		r.report(n.off, "missing-key", "id", `ids look like "gs-get-weather-001"`, "the case has no id")
	}
	c.Description, c.Tags = o.str("description"), o.strs("tags")
	in := r.object(o.get("input"), "input", "message")
	msg := in.str("message")
	if strings.TrimSpace(msg) == "" {
		r.report(o.at("input"), "empty-prompt", "input.message", "write what the user says", "the case has no message")
	}
	r.noTokens(in.get("message"), "input.message")
	c.Input = userInput(msg)
	c.Mocks = r.mocks(o.get("stubs"), "stubs")
	if v := o.integer("maxTurns"); v != nil {
		c.MultiTurn = &callvet.MultiTurn{MaxRounds: *v}
	}
	r.forgeFields(o, &c)
	c.Tier = forgeTier(c.ID, c.Fields["difficulty"], tier, o.get("rubric"))
	r.forgeExpect(o, &c, tk)
	r.forgeRubric(o, &c)
	return c
}

// forgeFields makes slices of difficulty, bugRef, createdAt and single-valued metadata.
func (r *reader) forgeFields(o object, c *callvet.Case) {
	set := func(key, val string) {
		if val == "" {
			return
		}
		if c.Fields == nil {
			c.Fields = map[string]string{}
		}
		c.Fields[key] = val
	}
	for _, m := range o.get("metadata").members(r.keys) {
		switch m.val.kind() {
		case '"':
			set(m.name, unquote(m.val.raw))
		case '0', 't', 'f':
			set(m.name, string(m.val.raw))
		}
	}
	difficulty := o.str("difficulty")
	known := []string{"straightforward", "ambiguous", "edge", "regression", "perturbation", "adversarial"}
	if difficulty != "" && nearest(difficulty, known) != difficulty {
		r.warn(o.at("difficulty"), "unknown-difficulty", "difficulty", "use straightforward, ambiguous, edge or regression",
			"difficulty %q is none of the format's; it is kept as a slice", difficulty)
	}
	if difficulty == "" && strings.HasPrefix(c.ID, "sp-") {
		difficulty = "perturbation"
	}
	set("difficulty", difficulty)
	set("bugRef", o.scalar("bugRef"))
	set("createdAt", o.scalar("createdAt"))
}

// forgeTier: the id's prefix decides, then the difficulty, then the file's own tier.
func forgeTier(id, difficulty string, file callvet.Tier, rubric node) callvet.Tier {
	prefix, _, _ := strings.Cut(id, "-")
	switch {
	case rubric.given():
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

func (r *reader) noTokens(v node, key string) {
	if isTokenIn(v.raw) {
		r.report(v.off, "token-not-allowed", key, "use tokens in response assertions and toolParams only", "{{seed:…}} and {{snapshot:…}} are not allowed in %s", key)
	}
}

func isTokenIn(b []byte) bool {
	return bytes.Contains(b, []byte("{{seed:")) || bytes.Contains(b, []byte("{{snapshot:"))
}

func (r *reader) forgeRubric(o object, c *callvet.Case) {
	c.Expect.ReferenceData = o.get("referenceData").raw
	for _, n := range o.elements("rubric") {
		d := r.object(n, "a rubric dimension", "dimension", "maxScore", "criteria")
		dim := callvet.RubricDimension{Dimension: d.str("dimension"), Criteria: d.str("criteria"), MaxScore: 1}
		if v := d.number("maxScore"); v != nil {
			dim.MaxScore = *v
		}
		c.Expect.Rubric = append(c.Expect.Rubric, dim)
	}
}
