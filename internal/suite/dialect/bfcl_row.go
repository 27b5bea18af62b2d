// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	rules "github.com/callvet/callvet/score/bfcl"
	"github.com/callvet/callvet/value"
)

// importer turns the rows of one file into cases.
type importer struct {
	path      string
	category  string
	answers   map[string]value.Value
	multiTurn int
	edition1  bool // a ground truth was an object of names
}

func (im *importer) profile() string {
	if im.edition1 {
		return rules.ProfileV1
	}
	return rules.Profile
}

func (im *importer) row(v value.Value, line int) (*callvet.Case, []callvet.Problem) {
	id := text(v, "id")
	c := &callvet.Case{ID: id, Position: callvet.Position{File: im.path, Line: line}}
	category := im.category
	if own := text(v, "category"); own != "" {
		category = own
	}
	if category == "" {
		category = categoryOfID(id)
	}
	c.Fields = map[string]string{"category": category}
	if turns, _ := v.Get("question"); strings.HasPrefix(category, "multi_turn") || turns.Kind() == value.Array &&
		turns.Len() > 1 && nestedTurns(turns) {
		im.multiTurn++
		return nil, im.once(im.multiTurn, line, id)
	}
	c.Input = question(v)
	c.Tools = tools(v, language(category))
	if l := language(category); l != "" {
		c.Fields["language"] = l
	}
	gt, ok := v.Get("ground_truth")
	if !ok {
		gt, ok = im.answers[id]
	}
	problems := im.expect(c, category, gt, ok, line)
	if l := language(category); l != "" {
		c.Scoring = &callvet.Scoring{Profile: im.profile(), Contract: "report", Language: l}
	}
	return c, problems
}

// once reports only the first multi-turn row of a file.
func (im *importer) once(n, line int, id string) []callvet.Problem {
	if n > 1 {
		return nil
	}
	return []callvet.Problem{problem(im.path, line, "not-carried", id,
		"multi-turn cases are not carried: their tools are programs of BFCL's own", "", true)}
}

func text(v value.Value, key string) string {
	x, _ := v.Get(key)
	return x.Str()
}

func nestedTurns(v value.Value) bool {
	first, _ := v.First()
	return first.Kind() == value.Array
}

// categoryOfID drops the number of "live_simple_0-0-0".
func categoryOfID(id string) string {
	if i := strings.LastIndexByte(id, '_'); i > 0 {
		return id[:i]
	}
	return id
}

func language(category string) string {
	switch {
	case strings.Contains(category, "javascript"):
		return "javascript"
	case strings.Contains(category, "java"):
		return "java"
	}
	return ""
}

// question reads a plain text, a list of messages, or a list of such lists.
func question(v value.Value) []callvet.Turn {
	q, _ := v.Get("question")
	if q.Kind() == value.String {
		return []callvet.Turn{{Role: callvet.RoleUser, Content: q.Str()}}
	}
	if nestedTurns(q) {
		q, _ = q.First()
	}
	var out []callvet.Turn
	for m, ok := q.First(); ok; m, ok = q.Next(m) {
		out = append(out, callvet.Turn{Role: callvet.Role(text(m, "role")), Content: text(m, "content")})
	}
	return out
}

// expect reads the ground truth. Categories of relevance have none.
func (im *importer) expect(c *callvet.Case, category string, gt value.Value, have bool, line int) []callvet.Problem {
	switch {
	case strings.Contains(category, "irrelevance"), category == "relevance":
		c.Expect.Plans = []callvet.Plan{{Name: "no call", Calls: []callvet.ExpectedCall{}}}
		if category == "relevance" {
			im.edition1 = true // the first edition's name for irrelevance
		}
		return nil
	case strings.Contains(category, "relevance"):
		one := 1
		c.Expect.MinToolCalls = &one
		return nil
	case !have:
		c.Skip = "the row has no ground_truth and no possible_answer file was found"
		return []callvet.Problem{problem(im.path, line, "no-answer", c.ID, c.Skip,
			"put the possible_answer folder next to the file", true)}
	}
	im.edition1 = im.edition1 || gt.Kind() == value.Object
	plan := callvet.Plan{Name: "ground truth", Order: callvet.OrderAny}
	var problems []callvet.Problem
	if gt.Kind() == value.Object {
		for m, ok := gt.First(); ok; m, ok = gt.Next(m) {
			problems = append(problems, im.call(&plan, im.toolV1(c, category, m.Key()), m, c.ID, line)...)
		}
	} else {
		for e, ok := gt.First(); ok; e, ok = gt.Next(e) {
			if m, ok := e.First(); ok {
				problems = append(problems, im.call(&plan, toolV4(c, category, m.Key()), m, c.ID, line)...)
			}
		}
	}
	c.Expect.Plans = []callvet.Plan{plan}
	return problems
}

// call adds an expected call. An answer that is no object of parameters is a
// mistake in the data; its call still counts, as it does for the leaderboard.
func (im *importer) call(plan *callvet.Plan, tool string, params value.Value, id string, line int) []callvet.Problem {
	if params.Kind() == value.Object {
		plan.Calls = append(plan.Calls, expected(tool, params))
		return nil
	}
	plan.Calls = append(plan.Calls, callvet.ExpectedCall{Tools: []string{tool}})
	return []callvet.Problem{problem(im.path, line, "bad-answer", id,
		"the answer for "+tool+" is not an object of parameters, so no output can pass this case", "", true)}
}

// toolV4 is the function an answer is about. Categories of one function use it
// whatever the answer calls it.
func toolV4(c *callvet.Case, category, name string) string {
	if !strings.Contains(category, "parallel") && !strings.Contains(category, "multiple") && len(c.Tools) > 0 {
		return c.Tools[0].Name
	}
	return name
}

// toolV1 finds the function of an answer's key, which may carry a number ("spotify.play_2"): the
// first with a name that occurs in the key.
func (im *importer) toolV1(c *callvet.Case, category, key string) string {
	for i := range c.Tools {
		if strings.Contains(key, c.Tools[i].Name) || len(c.Tools) == 1 {
			return c.Tools[i].Name
		}
	}
	return toolV4(c, category, key)
}

// expected makes a call of {parameter: [acceptable values]}.
func expected(tool string, params value.Value) callvet.ExpectedCall {
	call := callvet.ExpectedCall{Tools: []string{tool}, Args: json.RawMessage(`{}`)}
	for p, ok := params.First(); ok; p, ok = params.Next(p) {
		if call.Matchers == nil {
			call.Matchers = make(map[string]callvet.Matcher, params.Len())
		}
		m := callvet.Matcher{Mode: "any_of", Value: json.RawMessage(p.Raw())}
		for a, ok := p.First(); ok; a, ok = p.Next(a) {
			m.Optional = m.Optional || a.Kind() == value.String && string(a.Raw()) == `""`
		}
		call.Matchers[p.Key()] = m
	}
	return call
}
