// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/safety"
)

// TestToolNames: calls count as the tool that the setting makes them, in all that looks at names.
func TestToolNames(t *testing.T) {
	t.Parallel()
	const paris = `{"city":"Paris"}`
	set := &callvet.ToolNames{StripPrefixes: []string{"mcp__w__"}, Aliases: map[string]string{"reserve": "book"}}
	multi := func(need string) *callvet.MultiTurn {
		return &callvet.MultiTurn{RequiredPrerequisites: []string{need}}
	}
	for _, tt := range []struct {
		name    string
		set     *callvet.ToolNames
		c       callvet.Case
		trace   *callvet.Trace
		class   callvet.Class
		notes   string
		tools   string // that the calls count as
		exactly bool
	}{
		{
			name: "a prefix", set: set, c: one(plans(wants("get_weather", paris))),
			trace: made("mcp__w__get_weather", paris), notes: "called mcp__w__get_weather: counted as get_weather",
			tools: "get_weather",
		},
		{
			name: "without the setting", c: one(plans(wants("get_weather", paris))),
			trace: made("mcp__w__get_weather", paris), class: callvet.ClassUnknownTool, tools: "mcp__w__get_weather",
		},
		{
			name: "another prefix", set: set, c: one(plans(wants("get_weather", paris))),
			trace: made("mcp__x__get_weather", paris), class: callvet.ClassUnknownTool, tools: "mcp__x__get_weather",
		},
		{
			name: "an alias", set: set, c: one(callvet.Expect{ToolsCalled: []string{"book"}}),
			trace: made("mcp__w__Reserve", `{"id":"x"}`), notes: "called mcp__w__Reserve: counted as book",
			tools: "book",
		},
		{
			name: "the contract", set: set, c: one(plans(wants("get_weather", ""))),
			trace: made("mcp__w__get_weather", `{"town":"x"}`), class: callvet.ClassContract,
			notes: "called mcp__w__get_weather: counted as get_weather", tools: "get_weather",
		},
		{
			name: "an expected name with a prefix", set: set, c: one(plans(wants("mcp__w__get_weather", paris))),
			trace: made("get_weather", paris), tools: "get_weather",
		},
		{
			name: "sets of names", set: set, c: one(callvet.Expect{ToolsAcceptable: [][]string{{"find_city", "book"}}}),
			trace: made("book", `{}`, "mcp__w__find_city", `{}`),
			notes: "called mcp__w__find_city: counted as find_city", tools: "book find_city",
		},
		{
			name: "sets of names with a prefix", set: set,
			c:     one(callvet.Expect{ToolsAcceptable: [][]string{{"mcp__w__find_city", "reserve"}}}),
			trace: made("book", `{}`, "find_city", `{}`), tools: "book find_city",
		},
		{
			name: "a prerequisite with a prefix", set: set,
			c:     callvet.Case{ID: "c", Expect: plans(wants("reserve", "")), MultiTurn: multi("mcp__w__find_city")},
			trace: made("find_city", `{}`, "book", `{}`), tools: "find_city book",
		},
		{
			name: "forbidden names", set: set, c: one(callvet.Expect{ToolsNotCalled: []string{"book"}}),
			trace: made("reserve", `{}`), class: callvet.ClassWrongTool, notes: "called reserve: counted as book",
			tools: "book",
		},
		{
			name: "a prerequisite", set: set,
			c:     callvet.Case{ID: "c", Expect: plans(wants("book", "")), MultiTurn: multi("find_city")},
			trace: made("mcp__w__find_city", `{}`, "book", `{}`),
			notes: "called mcp__w__find_city: counted as find_city; a prerequisite", tools: "find_city book",
		},
		{
			name: "spelling", c: one(plans(wants("get_weather", paris))), trace: made("Get_Weather", paris),
			notes: "called Get_Weather: the tool is get_weather", tools: "Get_Weather",
		},
		{
			name: "white space", c: one(plans(wants("get_weather", paris))), trace: made("get_weather\n", paris),
			notes: `called "get_weather\n": the tool is get_weather`, tools: "get_weather\n",
		},
		{
			name: "white space, byte for byte", exactly: true, c: one(plans(wants("get_weather", paris))),
			trace: made("get_weather\n", paris), class: callvet.ClassUnknownTool, tools: "get_weather\n",
		},
		{
			name: "a honeypot", set: set,
			c: callvet.Case{
				ID: "c", Expect: plans(wants("book", "")),
				Safety: &callvet.Safety{Honeypots: []string{"mcp__w__book"}},
			}, trace: made("reserve", `{}`),
			class: callvet.ClassPolicy, notes: "called reserve: counted as book", tools: "book",
		},
	} {
		s := weatherSuite(tt.c)
		s.Defaults.Scoring.ToolNames, s.Defaults.Scoring.CaseSensitiveNames = tt.set, tt.exactly
		tt.trace.Classify("")
		scorer, problems := score.New(s, score.Config{Safety: safety.Watch})
		k, more := scorer.Compile(&s.Cases[0])
		if len(problems)+len(more) > 0 {
			t.Errorf("%s: %v %v", tt.name, problems, more)
		}
		before, _ := json.Marshal([]any{tt.trace, s.Cases[0]})
		r, err := k.Judge(context.Background(), tt.trace)
		if err != nil || r.Class != tt.class || (r.Verdict == callvet.VerdictPass) != (tt.class == "") {
			t.Errorf("%s: %s %s %q, want %s; %v", tt.name, r.Verdict, r.Class, r.Reason, tt.class, err)
		}
		notes := ""
		for _, m := range r.Calls {
			notes += m.Note
		}
		if d := cmp.Diff(tt.notes, notes); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
		if after, _ := json.Marshal([]any{tt.trace, s.Cases[0]}); string(after) != string(before) {
			t.Errorf("%s: the attempt or the case was changed: %s", tt.name, after)
		}
		if labels, _, known := score.Labels(&s.Cases[0], tt.trace, &r); known && tt.class == "" {
			names := score.Counted(tt.trace, &r)
			if d := cmp.Diff(tt.tools, strings.Join(names, " ")); d != "" {
				t.Errorf("%s: %s", tt.name, d)
			}
			for i, name := range names {
				if labels[i].Tool != name {
					t.Errorf("%s: the right tool of call %d is %q, and %q counts", tt.name, i, labels[i].Tool, name)
				}
			}
		}
	}
}

// TestToolNamesOfDecisions: a router or retriever may give a tool by a name that counts as it.
func TestToolNamesOfDecisions(t *testing.T) {
	t.Parallel()
	set := &callvet.ToolNames{StripPrefixes: []string{"mcp__w__"}, Aliases: map[string]string{"reserve": "book"}}
	for _, tt := range []struct {
		name    string
		set     *callvet.ToolNames
		want    callvet.Selection
		given   string
		exactly bool
		pass    bool
		actual  string
	}{
		{
			name: "a prefix", set: set, want: callvet.Selection{Tools: []string{"book"}}, given: "mcp__w__book",
			pass: true, actual: "book; called mcp__w__book: counted as book",
		},
		{
			name: "an alias that is expected", set: set, want: callvet.Selection{Tools: []string{"reserve"}},
			given: "book", pass: true, actual: "book",
		},
		{
			name: "an acceptable alias", set: set,
			want:  callvet.Selection{Tools: []string{"find_city"}, Acceptable: []string{"mcp__w__reserve"}},
			given: "book", pass: true, actual: "book",
		},
		{
			name: "without the setting", want: callvet.Selection{Tools: []string{"book"}}, given: "mcp__w__book",
			actual: "mcp__w__book",
		},
		{
			name: "spelling", want: callvet.Selection{Tools: []string{"book"}}, given: " Book", pass: true,
			actual: `book; called " Book": the tool is book`,
		},
		{
			name: "byte for byte", exactly: true, want: callvet.Selection{Tools: []string{"book"}}, given: " Book",
			actual: " Book",
		},
	} {
		s := weatherSuite(one(callvet.Expect{Selection: &tt.want}))
		s.Cases[0].Scoring = &callvet.Scoring{ToolNames: tt.set, CaseSensitiveNames: tt.exactly}
		k := mustCompile(t, s)[0]
		d := &callvet.Decision{
			Layers: []callvet.LayerTime{{Layer: callvet.SelectTools}},
			Tools:  []callvet.Ranked{{Tool: tt.given}},
		}
		r := k.Score(&callvet.Trace{Decision: d})
		if d.Tools[0].Tool != tt.given || len(r.Assertions) != 1 || (r.Verdict == callvet.VerdictPass) != tt.pass ||
			r.Assertions[0].Actual != tt.actual {
			t.Errorf("%s: %s %+v of %v", tt.name, r.Verdict, r.Assertions, d.Tools)
		}
		if got := r.CountsDecision(d).Names(); tt.pass && got[0] != "book" {
			t.Errorf("%s: it counts as %v", tt.name, got)
		}
	}
}

func TestToolNamesInARun(t *testing.T) {
	t.Parallel()
	s := weatherSuite(one(plans(wants("get_weather", ""))))
	s.Defaults.Scoring.ToolNames = &callvet.ToolNames{StripPrefixes: []string{"mcp__w__"}}
	k := mustCompile(t, s)[0]
	call := callvet.Call{Tool: "mcp__w__get_weather", Args: json.RawMessage(`{"city":"Paris"}`)}
	if vs := k.Check(&call); len(vs) > 0 || call.Tool != "mcp__w__get_weather" {
		t.Errorf("%v of %v", vs, call)
	}
	call.Args = json.RawMessage(`{}`)
	if vs := k.Check(&call); len(vs) != 1 || vs[0].Keyword != "required" {
		t.Errorf("%v, want the contract of get_weather", vs)
	}
	if !k.Reached([]callvet.Call{call}) || k.Naming().Of(call.Tool) != "get_weather" {
		t.Error("the call of the expected tool is not known")
	}
}

func TestToolNamesClash(t *testing.T) {
	t.Parallel()
	set := &callvet.ToolNames{Aliases: map[string]string{"book": "find_city"}}
	s := weatherSuite()
	s.Defaults.Scoring.ToolNames = set
	_, ps := score.New(s, score.Config{})
	if len(ps) != 1 || ps[0].Code != "one-tool-name" || ps[0].Key != "scoring.tool_names" {
		t.Errorf("%v", ps)
	}
	c := one(plans(wants("book", "")))
	c.Scoring = &callvet.Scoring{ToolNames: set}
	for profile, code := range map[string]string{"": "one-tool-name", "bfcl": "conflict"} {
		c.Scoring.Profile = profile
		scorer, _ := score.New(weatherSuite(), score.Config{})
		if _, ps = scorer.Compile(&c); len(ps) != 1 || ps[0].Code != code || ps[0].Key != "scoring.tool_names" {
			t.Errorf("%s: %v", profile, ps)
		}
	}
}
