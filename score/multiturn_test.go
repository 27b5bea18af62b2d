// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// answered makes a trace of name, arguments, result triples.
func answered(triples ...string) *callvet.Trace {
	t := &callvet.Trace{Turns: []callvet.Turn{{Role: callvet.RoleAssistant}}}
	for i := 0; i < len(triples); i += 3 {
		c := callvet.Call{Tool: triples[i]}
		if triples[i+1] != "" {
			c.Args = json.RawMessage(triples[i+1])
		}
		if triples[i+2] != "" {
			c.Result, c.Status = json.RawMessage(triples[i+2]), callvet.StatusOK
		}
		t.Turns[0].Calls = append(t.Turns[0].Calls, c)
	}
	t.Classify("")
	return t
}

// TestArgumentSources: the final call's argument has the very value that stands at the
// place its source names.
func TestArgumentSources(t *testing.T) {
	t.Parallel()
	tools := []callvet.Tool{{Name: "find"}, {Name: "find_city"}, {Name: "crm"}, {Name: "crm.find"}, {Name: "book"}}
	list := `{"flights":[{"id":"F7","n":7},{"id":"F8"}],"results":["F9"]}`
	for _, tt := range []struct {
		name, source string
		tools        []callvet.Tool
		trace        *callvet.Trace
		want         string // reason; empty: it passes
	}{
		{
			"a path", "find_city.result.flights[1].id", tools,
			answered("find_city", `{}`, list, "book", `{"id":"F8"}`, ""), "",
		},
		{
			"another place of the same result", "find_city.result.flights[1].id", tools,
			answered("find_city", `{}`, list, "book", `{"id":"F7"}`, ""),
			`book: id "F7" does not come from find_city.result.flights[1].id`,
		},
		{
			"any element", "find_city.result.flights[].id", tools,
			answered("find_city", `{}`, list, "book", `{"id":"F8"}`, ""), "",
		},
		{
			"a key that begins with the word result", "find_city.results[0]", tools,
			answered("find_city", `{}`, list, "book", `{"id":"F9"}`, ""), "",
		},
		{
			"without the word result", "find_city.flights[0].id", tools,
			answered("find_city", `{}`, list, "book", `{"id":"F7"}`, ""), "",
		},
		{
			"the whole result by the word", "find_city.result", tools,
			answered("find_city", `{}`, `"F7"`, "book", `{"id":"F7"}`, ""), "",
		},
		{
			"the whole result by the name", "find_city", tools,
			answered("find_city", `{}`, `"F7"`, "book", `{"id":"F7"}`, ""), "",
		},
		{
			"an element of a result that is a list", "find_city.result[1]", tools,
			answered("find_city", `{}`, `["F7","F8"]`, "book", `{"id":"F8"}`, ""), "",
		},
		{
			"an element right behind the name", "find_city[1].id", tools,
			answered("find_city", `{}`, `["F7",{"id":"F8"}]`, "book", `{"id":"F8"}`, ""), "",
		},
		{
			"a name with a dot", "crm.find.result.id", tools,
			answered("crm.find", `{}`, `{"id":"F7"}`, "book", `{"id":"F7"}`, ""), "",
		},
		{
			"a name that another one begins with", "crm.result.id", tools,
			answered("crm", `{}`, `{"id":"F7"}`, "book", `{"id":"F7"}`, ""), "",
		},
		{
			"no tools are known", "find_city.result.id", nil,
			answered("find_city", `{}`, `{"id":"F7"}`, "book", `{"id":"F7"}`, ""), "",
		},
		{
			"another tool has it at that place", "find_city.result.id", tools,
			answered("find", `{}`, `{"id":"F7"}`, "find_city", `{}`, `{"id":"F8"}`, "book", `{"id":"F7"}`, ""),
			`book: id "F7" does not come from find_city.result.id`,
		},
		{
			"the first of two calls has it", "find_city.result.id", tools,
			answered("find_city", `{}`, `{"id":"F7"}`, "find_city", `{"n":2}`, `{"id":"F8"}`, "book",
				`{"id":"F7"}`, ""), "",
		},
		{
			"no result", "find_city.result.id", tools, answered("find_city", `{}`, "", "book", `{"id":"F7"}`, ""),
			`book: id "F7" does not come from find_city.result.id`,
		},
		{
			"a later result", "find_city.result.id", tools,
			answered("book", `{"id":"F7"}`, "", "find_city", `{}`, `{"id":"F7"}`),
			`book: id "F7" does not come from find_city.result.id: find_city was not called before`,
		},
		{
			"not in the call", "find_city.result.id", tools, answered("find_city", `{}`, list, "book", `{}`, ""),
			"book: id is missing; it should come from find_city.result.id",
		},

		{
			"any earlier tool, inside an object in a list", "previous_tool", tools,
			answered("find", `{}`, list, "book", `{"id":"F8"}`, ""), "",
		},
		{
			"any earlier tool, the whole result", "previous_tool", tools,
			answered("find", `{}`, `"F8"`, "book", `{"id":"F8"}`, ""), "",
		},
		{
			"any earlier tool, and none has it", "previous_tool", tools,
			answered("find", `{}`, list, "find", `{"n":1}`, `"F"`, "book", `{"id":"F1"}`, ""),
			`book: id "F1" does not come from previous_tool`,
		},
		{
			"any earlier tool, an object", "previous_tool", tools,
			answered("find", `{}`, list, "book", `{"id":{"n":7.0,"id":"F7"}}`, ""), "",
		},
		{
			"part of a text is not the value", "previous_tool", tools,
			answered("find", `{}`, `"F8, F9"`, "book", `{"id":"F8"}`, ""),
			`book: id "F8" does not come from previous_tool`,
		},

		{"the user's words", "user", tools, answered("book", `{"id":"Paris"}`, ""), ""},
		{
			"some of the user's words", "user", tools, answered("book", `{"id":["Paris","Lyon"]}`, ""),
			`book: id ["Paris","Lyon"] does not come from user`,
		},
		{
			"not the user's words but a tool's", "user", tools, answered("find", `{}`, `"F7"`, "book", `{"id":"F7"}`, ""),
			`book: id "F7" does not come from user`,
		},
		{"inferred needs no source", "inferred", tools, answered("book", `{"id":"F1"}`, ""), ""},
		{
			"no final call", "previous_tool", tools, answered("find", `{}`, `"F7"`),
			"expected book, which was not called",
		},
	} {
		c := one(plans(wants("book", "")))
		c.MultiTurn = &callvet.MultiTurn{
			ValidPrerequisites: []string{"find", "find_city", "crm", "crm.find"},
			ArgumentSource:     map[string]string{"id": tt.source},
		}
		s := &callvet.Suite{Tools: tt.tools, Cases: []callvet.Case{c}}
		r := mustCompile(t, s)[0].Score(tt.trace)
		if d := cmp.Diff(tt.want, r.Reason); d != "" || (r.Verdict == callvet.VerdictPass) != (tt.want == "") {
			t.Errorf("%s: %s %s", tt.name, r.Verdict, d)
		}
		flow := 0.0
		if r.Verdict == callvet.VerdictPass {
			flow = 1
		}
		if tt.source == "inferred" {
			flow = -1
		}
		checkScores(t, tt.name, r, map[string]float64{score.DataFlow: flow, score.Prerequisites: -1})
	}
}

// TestPrerequisites: which calls were made before the final one, in order where asked.
func TestPrerequisites(t *testing.T) {
	t.Parallel()
	last := wants("book", `{"id":"Paris"}`, "note", "")
	last.Calls[1].Optional = true
	loose := wants("book", "")
	loose.Calls[0].Optional = true
	for _, tt := range []struct {
		name    string
		expect  callvet.Expect
		ordered bool
		trace   *callvet.Trace
		class   callvet.Class
		reason  string
		share   float64
	}{
		{"both", plans(wants("book", "")), false, made("a", `{}`, "b", `{}`, "book", `{}`), "", "", 1},
		{
			"both, in the other order", plans(wants("book", "")), false,
			made("b", `{}`, "a", `{}`, "book", `{}`), "", "", 1,
		},
		{
			"one is missing", plans(wants("book", "")), false, made("a", `{}`, "book", `{}`), callvet.ClassMissingPrereq,
			"b had to be called first and was not", 0.5,
		},
		{
			"the first missing is told", plans(wants("book", "")), false, made("book", `{}`), callvet.ClassMissingPrereq,
			"a had to be called first and was not", 0,
		},
		{
			"one comes after the final call", plans(wants("book", "")), false, made("book", `{}`, "a", `{}`, "b", `{}`),
			callvet.ClassMissingPrereq, "a had to be called first and was not", 0,
		},
		{
			"an optional call may follow the final one", plans(last), false,
			made("a", `{}`, "b", `{}`, "book", `{"id":"Paris"}`, "note", `{}`), "", "", 1,
		},
		{
			"between the final call and an optional one", plans(last), false,
			made("a", `{}`, "book", `{"id":"Paris"}`, "b", `{}`, "note", `{}`), callvet.ClassMissingPrereq,
			"b had to be called first and was not", 0.5,
		},
		{
			"an optional call is the final one where all are", plans(loose), false,
			made("a", `{}`, "book", `{}`, "b", `{}`), callvet.ClassMissingPrereq,
			"b had to be called first and was not", 0.5,
		},
		{"nothing is to be called beside them", plans(wants()), false, made("a", `{}`, "b", `{}`), "", "", 1},
		{
			"no plan",
			callvet.Expect{MinToolCalls: whole(1)},
			false,
			made("x", `{}`, "y", `{}`, "a", `{}`, "b", `{}`), "", "", 1,
		},
		{
			"no plan and no calls",
			callvet.Expect{MaxToolCalls: whole(1)},
			false, made(), callvet.ClassMissingPrereq,
			"a had to be called first and was not", 0,
		},
		{"in order", plans(wants("book", "")), true, made("a", `{}`, "b", `{}`, "book", `{}`), "", "", 1},
		{
			"in order, the first of them repeated", plans(wants("book", "")), true,
			made("a", `{}`, "b", `{}`, "a", `{"n":1}`, "book", `{}`), "", "", 1,
		},
		{
			"in the wrong order", plans(wants("book", "")), true, made("b", `{}`, "a", `{}`, "book", `{}`),
			callvet.ClassWrongOrder, "the required prerequisites were called in the wrong order", 0.5,
		},
		{
			"in order, and one is missing", plans(wants("book", "")), true, made("a", `{}`, "book", `{}`),
			callvet.ClassMissingPrereq, "b had to be called first and was not", 0.5,
		},
	} {
		c := one(tt.expect)
		c.MultiTurn = &callvet.MultiTurn{RequiredPrerequisites: []string{"a", "b"}, PrerequisitesOrdered: tt.ordered}
		s := &callvet.Suite{Cases: []callvet.Case{c}}
		r := mustCompile(t, s)[0].Score(tt.trace)
		if r.Class != tt.class || r.Reason != tt.reason || (r.Verdict == callvet.VerdictPass) != (tt.class == "") {
			t.Errorf("%s: %s %s %q", tt.name, r.Verdict, r.Class, r.Reason)
		}
		if len(tt.expect.Plans) > 0 {
			checkScores(t, tt.name, r, map[string]float64{score.Prerequisites: tt.share, score.DataFlow: -1})
		}
	}
	twice := one(plans(wants("book", "")))
	twice.MultiTurn = &callvet.MultiTurn{RequiredPrerequisites: []string{"a", "a"}}
	s := &callvet.Suite{Cases: []callvet.Case{twice}}
	r := mustCompile(t, s)[0].Score(made("a", `{}`, "book", `{}`))
	checkScores(t, "a prerequisite that is required twice", r, map[string]float64{score.Prerequisites: 0.5})
}

// TestMultiTurnScores: overall is completion times efficiency less the penalties, and
// completion the overall score of the final call alone.
func TestMultiTurnScores(t *testing.T) {
	t.Parallel()
	two := wants("find_city", `{"name":"Paris"}`, "book", `{"id":"Paris","note":"x"}`)
	refused := made("book", `{"id":"F6"}`, "book", `{"id":"F7"}`)
	refused.Turns[0].Calls[0].Status = callvet.StatusRejected
	executed := made("book", `{"id":"F6"}`, "book", `{"id":"F7"}`)
	executed.Turns[0].Calls[0].Status = callvet.StatusOK
	for _, tt := range []struct {
		name   string
		plan   callvet.Plan
		hops   int
		trace  *callvet.Trace
		class  callvet.Class
		scores map[string]float64
	}{
		{
			"as many hops as expected calls where none are set", two, 0,
			made("find_city", `{"name":"Paris"}`, "book", `{"id":"Paris","note":"x"}`), "",
			map[string]float64{
				score.Completion: 1, score.Efficiency: 1, score.Overall: 1, score.Prerequisites: -1,
				score.DataFlow: -1,
			},
		},
		{
			"a set number of hops", two, 1,
			made("find_city", `{"name":"Paris"}`, "book", `{"id":"Paris","note":"x"}`), "",
			map[string]float64{score.Completion: 1, score.Efficiency: 0.5, score.Overall: 0.5},
		},
		{
			"half of the final arguments", two, 0,
			made("find_city", `{"name":"Paris"}`, "book", `{"id":"Paris","note":"Paris"}`), callvet.ClassWrongArgs,
			map[string]float64{score.Completion: 0.8, score.Efficiency: 1, score.Overall: 0.8},
		},
		{
			"the earlier call does not count to completion", two, 0,
			made("find_city", `{"name":"days"}`, "book", `{"id":"Paris","note":"x"}`), callvet.ClassWrongArgs,
			map[string]float64{score.Completion: 1, score.Overall: 1, score.ArgAccuracy: 0.5},
		},
		{
			"a final call without asserted arguments", wants("book", ""), 0, made("book", `{"id":"x"}`), "",
			map[string]float64{score.Completion: 1, score.Overall: 1},
		},
		{
			"the final call is missing", two, 0, made("find_city", `{"name":"Paris"}`), callvet.ClassIncomplete,
			map[string]float64{score.Completion: 0, score.Efficiency: 1, score.Overall: 0},
		},
		{
			"nothing to call and nothing called", wants(), 0, made(), "",
			map[string]float64{score.Completion: 1, score.Efficiency: 1, score.Overall: 1},
		},
		{
			"nothing to call and one call", wants(), 0, made("find_city", `{"name":"Paris"}`),
			callvet.ClassUnneededCall,
			map[string]float64{score.Completion: 0, score.Efficiency: 0, score.Overall: 0},
		},
		{
			"a try that was refused is none too many", wants("book", `{"id":"F7"}`), 0, refused, "",
			map[string]float64{score.Completion: 1, score.Efficiency: 0.5, score.Detour: 0, score.Overall: 0.5},
		},
		{
			"a try that was executed is", wants("book", `{"id":"F7"}`), 0, executed, callvet.ClassUnneededCall,
			map[string]float64{score.Completion: 1, score.Efficiency: 0.5, score.Detour: 0, score.Overall: 0.5},
		},
	} {
		c := one(plans(tt.plan))
		c.MultiTurn = &callvet.MultiTurn{OptimalHops: tt.hops}
		s := weatherSuite(c)
		r := mustCompile(t, s)[0].Score(tt.trace)
		if r.Class != tt.class {
			t.Errorf("%s: %s %s %q", tt.name, r.Verdict, r.Class, r.Reason)
		}
		checkScores(t, tt.name, r, tt.scores)
	}
}

// A broken contract of a call that the target corrected costs hops; of the call that
// answers an expectation it fails the attempt.
func TestMultiTurnContracts(t *testing.T) {
	t.Parallel()
	c := one(plans(wants("book", "")))
	c.MultiTurn = &callvet.MultiTurn{ValidPrerequisites: []string{"find_city"}}
	s := weatherSuite(c)
	sc := mustCompile(t, s)
	for _, tt := range []struct {
		name  string
		trace *callvet.Trace
		class callvet.Class
	}{
		{"of a prerequisite", made("find_city", `{"name":5}`, "find_city", `{"name":"x"}`, "book", `{"id":"x"}`), ""},
		{"of the final call", made("find_city", `{"name":"x"}`, "book", `{"id":5}`), callvet.ClassContract},
	} {
		r := sc[0].Score(tt.trace)
		if r.Class != tt.class {
			t.Errorf("%s: %s %s %q", tt.name, r.Verdict, r.Class, r.Reason)
		}
		if tt.class == "" && (len(r.Calls) != 3 || r.Calls[0].State != callvet.StateMatched ||
			r.Calls[1].Note != "a prerequisite" || len(r.Calls[1].Violations) != 1) {
			t.Errorf("%s: %+v", tt.name, r.Calls)
		}
	}
}
