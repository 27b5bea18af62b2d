// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// flat collects the keys of the short case form until the whole case is read.
type flat struct {
	tool, params, should, rounds *doc.Node
	multi                        callvet.MultiTurn
	isMulti, off                 bool
	input                        *doc.Node
}

func (r *reader) readCase(n *doc.Node, i int, under *common) callvet.Case {
	c := callvet.Case{Position: r.File.Position(n.At)}
	if id := n.Get("id"); id != nil {
		c.ID = r.Label(id)
	}
	if c.ID == "" {
		c.ID = AutoID(i)
	}
	r.Case = c.ID
	var f flat
	r.Members(forms()["case"], n, reflect.ValueOf(&c).Elem(), func(key string, v *doc.Node) bool {
		return r.caseField(&c, key, v) || r.inputField(&c, &f, key, v) || r.flatField(&c, &f, key, v)
	})
	if n.Kind == doc.Map {
		r.finishInput(&c, &f, n)
		r.finishExpected(&c, &f)
		r.finishMulti(&c, &f, n)
	}
	under.apply(&c)
	return c
}

func (u *common) apply(c *callvet.Case) {
	for _, t := range u.tags {
		if !slices.Contains(c.Tags, t) {
			c.Tags = append(c.Tags, t)
		}
	}
	for _, s := range u.scorers {
		if !slices.ContainsFunc(c.Expect.Scorers, func(own callvet.Scorer) bool { return own.Name == s.Name }) {
			c.Expect.Scorers = append(c.Expect.Scorers, s)
		}
	}
	if len(u.fields) > 0 {
		all := maps.Clone(u.fields)
		maps.Copy(all, c.Fields)
		c.Fields = all
	}
}

// caseField reads the keys of a case that have no field of their form.
func (r *reader) caseField(c *callvet.Case, key string, v *doc.Node) bool {
	switch key {
	case "id": // was read before
	case "difficulty", "language", "category", "intent":
		if s := r.Label(v); s != "" {
			setField(c, key, s)
		}
	case "fields":
		var fields map[string]string
		r.into("labels", v, &fields)
		for k, s := range fields {
			setField(c, k, s)
		}
	case "tools":
		r.caseTools(c, v)
	case "mock_responses":
		c.Mocks = append(c.Mocks, r.mockResponses(v)...)
	default:
		return false
	}
	return true
}

func setField(c *callvet.Case, key, value string) {
	if c.Fields == nil {
		c.Fields = map[string]string{}
	}
	c.Fields[key] = value
}

// caseTools reads names of the suite's tools, or definitions of the case's own.
func (r *reader) caseTools(c *callvet.Case, v *doc.Node) {
	if v.Kind != doc.List || len(v.Items) == 0 || v.Items[0].Kind != doc.Map {
		c.ToolNames = r.Texts(v)
		return
	}
	r.tools(&c.Tools, v)
}

func (r *reader) inputField(c *callvet.Case, f *flat, key string, v *doc.Node) bool {
	if key != "prompt" && key != "messages" && key != "input" {
		return false
	}
	if f.input != nil {
		r.Note(v.At, "conflicting-keys", "keep one of prompt, messages and input", "the case has two inputs")
		return true
	}
	f.input = v
	switch key {
	case "prompt":
		c.Input = r.userTurn(v)
	case "messages":
		c.Input = r.messages(v)
	case "input":
		if v.Kind == doc.List {
			c.Input = r.messages(v)
			return true
		}
		r.Fields(v, []string{"message"}, func(key string, v *doc.Node) bool {
			if key == "message" {
				c.Input = r.userTurn(v)
			}
			return key == "message"
		})
	}
	return true
}

func (r *reader) userTurn(v *doc.Node) []callvet.Turn {
	return []callvet.Turn{{Role: callvet.RoleUser, Content: r.Str(v)}}
}

func (r *reader) finishInput(c *callvet.Case, f *flat, n *doc.Node) {
	if f.input == nil {
		r.Note(n.At, "no-input", "add prompt: or messages:", "the case has no input")
		return
	}
	if len(c.Input) == 0 {
		r.Note(f.input.At, "no-input", "", "the case has no message")
		return
	}
	last := c.Input[len(c.Input)-1]
	switch {
	case c.Skip != "": // kept for the record only
	case last.Role == callvet.RoleAssistant:
		r.Warn(f.input.At, "no-input", "end with a user message or a tool result",
			"the conversation ends with the assistant's own message")
	case len(c.Input) == 1 && strings.TrimSpace(last.Content) == "":
		r.Note(f.input.At, "no-input", "", "the message is blank")
	}
}

// flatField reads the short case form of the tool suites.
func (r *reader) flatField(c *callvet.Case, f *flat, key string, v *doc.Node) bool {
	switch key {
	case "expected_tool":
		f.tool = v
	case "expected_params":
		f.params = v
	case "should_call_tool":
		f.should = v
	case "param_scoring":
		if s := r.Str(v); s != "" {
			r.scoringMode(c, v, s)
		}
	case "scoring_config":
		r.scoringConfig(c, v)
	case "multi_turn":
		switch v.Kind {
		case doc.Map:
			f.isMulti = true
			r.into("multiTurn", v, &f.multi)
		case doc.Null:
		default:
			f.isMulti = r.Bool(v)
			f.off = !f.isMulti
		}
	case "multi_turn_config":
		if v.Kind != doc.Null {
			f.isMulti = true
			r.into("multiTurn", v, &f.multi)
		}
	default:
		if !r.Member(forms()["multiTurn"], key, v, reflect.ValueOf(&f.multi).Elem(), nil) {
			return false
		}
		f.rounds = v
	}
	return true
}

func (r *reader) scoringMode(c *callvet.Case, v *doc.Node, mode string) {
	if c.Scoring == nil {
		c.Scoring = &callvet.Scoring{}
	}
	if c.Scoring.Mode != "" && c.Scoring.Mode != mode {
		r.Note(v.At, "conflicting-keys", "keep one", "the case asks for the mode %s and the mode %s",
			c.Scoring.Mode, mode)
	}
	c.Scoring.Mode = mode
}

func (r *reader) scoringConfig(c *callvet.Case, v *doc.Node) {
	if v.Kind == doc.Null {
		return
	}
	var sc callvet.Scoring
	r.into("scoring", v, &sc)
	if c.Scoring == nil {
		c.Scoring = &sc
		return
	}
	mode := c.Scoring.Mode
	if *c.Scoring != (callvet.Scoring{Mode: mode}) {
		r.Note(v.At, "conflicting-keys", "keep one", "scoring and scoring_config are the same thing")
		return
	}
	c.Scoring = &sc
	if mode != "" && sc.Mode == "" {
		c.Scoring.Mode = mode
	} else if mode != "" && sc.Mode != mode {
		r.Warn(v.At, "conflicting-keys", "remove param_scoring", "scoring_config.mode %s wins over param_scoring %s",
			sc.Mode, mode)
	}
}

// finishExpected makes a plan of expected_tool, expected_params and
// should_call_tool.
func (r *reader) finishExpected(c *callvet.Case, f *flat) {
	if f.tool == nil && f.params == nil && f.should == nil {
		return
	}
	at := f.tool
	if at == nil {
		at = f.params
	}
	if at != nil && c.Expect.Plans != nil {
		r.Note(at.At, "conflicting-keys", "keep one of the two",
			"expected_tool and the calls under expect say the same thing twice")
		return
	}
	should := (*bool)(nil)
	if f.should != nil {
		r.Push("should_call_tool")
		should = r.boolPtr(f.should)
		r.Pop()
	}
	var args []byte
	if f.params != nil {
		r.Push("expected_params")
		args = r.Arguments(f.params)
		r.Pop()
	}
	switch {
	case f.tool != nil && f.tool.Kind != doc.Null:
		r.Push("expected_tool")
		r.expectedTool(c, f, args, should)
		r.Pop()
	case len(args) > 2:
		r.Note(f.params.At, "no-tool", "add expected_tool", "expected_params says what no expected tool should get")
	case f.tool != nil || (should != nil && !*should):
		c.Expect.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
		if should != nil && *should {
			r.Warn(f.should.At, "conflicting-keys", "remove should_call_tool or name the tool",
				"should_call_tool is true, but expected_tool null means that nothing may be called")
		}
	case should != nil:
		one := 1
		c.Expect.MinToolCalls = &one
	}
}

func (r *reader) expectedTool(c *callvet.Case, f *flat, args []byte, should *bool) {
	names := r.OneOrMore(f.tool)
	if len(names) == 0 || slices.Contains(names, "") {
		r.Note(f.tool.At, "no-tool", "write null when no tool may be called", "expected_tool names no tool")
		return
	}
	if should != nil && !*should {
		r.Note(f.should.At, "conflicting-keys", "write expected_tool: null",
			"should_call_tool is false, but a tool is expected")
	}
	c.Expect.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: names, Args: args}}}}
}

func (r *reader) finishMulti(c *callvet.Case, f *flat, n *doc.Node) {
	switch {
	case f.isMulti:
		if len(f.multi.ValidPrerequisites) == 0 {
			f.multi.ValidPrerequisites = nil
		}
		c.MultiTurn = &f.multi
	case f.rounds != nil:
		at := n.Get("multi_turn")
		if at == nil {
			at = f.rounds
		}
		r.Warn(at.At, "no-effect", "add multi_turn: true", "the case has multi-turn settings but is not multi-turn")
	}
}
