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

// openAI reads records of messages and tools (the fine-tuning form). Every
// assistant turn with calls becomes a case of its own: what stands before it
// is the input, its calls are the plan.
func (r *reader) openAI() (*callvet.Suite, error) {
	list := r.src.values
	if len(list) == 1 && list[0].kind() == '[' {
		list = list[0].elements()
	}
	s := &callvet.Suite{Name: stem(r.src.path)}
	in := &recordReader{reader: r}
	var shared []byte
	same := true
	for i, n := range list {
		r.caseID = fmt.Sprintf("case-%d", i+1)
		if n.kind() != '{' {
			r.report(n.off, "wrong-type", "", "", "a record must be an object with messages, not %s", kindName(n))
			continue
		}
		t := n.get("tools")
		if i == 0 {
			shared = t.raw
		}
		same = same && bytes.Equal(shared, t.raw)
		s.Cases = append(s.Cases, in.cases(n, i)...)
	}
	if same && len(s.Cases) > 0 && s.Cases[0].Tools != nil {
		s.Tools = s.Cases[0].Tools
		for i := range s.Cases {
			s.Cases[i].Tools = nil
		}
	} else if len(s.Cases) > 0 && shared == nil && same {
		s.Tools = r.opt.Tools
	}
	s.Foreign = frameOf(r.src, node{raw: []byte("{}")}, "records", nil)
	return s, nil
}

type recordReader struct {
	*reader
	cache toolCache
}

func (r *recordReader) cases(n node, index int) []callvet.Case {
	o := r.loose(n)
	for _, m := range o.list {
		switch m.name {
		case "messages", "input", "tools", "functions", "ideal", "id", "tool_choice":
		case "parallel_tool_calls":
			if m.val.kind() == 'f' {
				r.keep(m.off, m.name, "kept for export; set parallel_calls on the target")
			}
		default:
			r.keep(m.off, m.name, "the record format has no such key; it is kept for export")
		}
	}
	base := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.src.position(n.off)}
	if id := o.scalar("id"); id != "" {
		base.ID = id
	}
	r.caseID = base.ID
	if v, _ := o.first("tools", "functions"); v.given() {
		base.Tools = r.cache.read(r.reader, v)
	}
	base.ToolChoice = r.toolChoice(o.get("tool_choice"))
	list, key := o.first("messages", "input")
	if !list.given() {
		r.report(n.off, "missing-key", key, "", "the record has no messages")
		return nil
	}
	turns := r.turns(list)
	return r.split(o, base, turns, list)
}

// split makes the cases of one record.
func (r *recordReader) split(o object, base callvet.Case, turns []callvet.Turn, list node) []callvet.Case {
	var out []callvet.Case
	for i, t := range turns {
		if t.Role != callvet.RoleAssistant || len(t.Calls) == 0 || weightZero(list, i, len(turns)) {
			continue
		}
		c := base
		c.Input = turns[:i:i]
		plan := callvet.Plan{}
		for _, call := range t.Calls {
			plan.Calls = append(plan.Calls, callvet.ExpectedCall{Tools: []string{call.Tool}, Args: call.Args})
		}
		c.Expect.Plans = []callvet.Plan{plan}
		out = append(out, c)
	}
	switch {
	case len(out) == 0:
		return []callvet.Case{r.withoutCalls(o, base, turns)}
	case len(out) == 1:
		out[0].Foreign = r.original(o.node, 0, 1)
		return out
	}
	for i := range out {
		out[i].ID = fmt.Sprintf("%s/turn-%d", base.ID, i+1)
		out[i].Foreign = r.original(o.node, i, len(out))
	}
	return out
}

// original is what an export needs to write the record again: the record with
// its first case, and the number of cases that belong to it.
func (r *recordReader) original(n node, i, of int) []byte {
	var rec record
	if i == 0 {
		rec.raw("record", n.raw)
	}
	rec.integer("part", &i)
	rec.integer("of", &of)
	return rec.bytes()
}

// weightZero: a message that fine-tuning must not learn is not gold either.
func weightZero(list node, i, n int) bool {
	items := list.elements()
	return len(items) == n && string(items[i].get("weight").raw) == "0"
}

// withoutCalls: an ideal answer is checked as text, a closing answer without
// calls means abstention; a record that ends with the user asserts nothing.
func (r *recordReader) withoutCalls(o object, base callvet.Case, turns []callvet.Turn) callvet.Case {
	c := base
	c.Foreign = r.original(o.node, 0, 1)
	c.Input = turns
	last := len(turns) - 1
	switch ideal := o.get("ideal"); {
	case ideal.given():
		answers := []string{}
		if s, ok := ideal.text(); ok {
			answers = append(answers, s)
		} else {
			answers = r.strs(ideal, "ideal")
		}
		for i := range answers {
			answers[i] = regexp.QuoteMeta(answers[i])
		}
		c.Expect.ResponseMatches = []string{`\A(?:` + strings.Join(answers, "|") + `)`}
	case last >= 0 && turns[last].Role == callvet.RoleAssistant:
		c.Input = turns[:last:last]
		c.Expect.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
		if turns[last].Content != "" {
			c.Expect.ReferenceData = quote(turns[last].Content)
			r.keep(o.at("messages"), "text of the last answer", "kept as reference for a judge; that nothing is called is checked")
		}
	default:
		r.report(o.node.off, "asserts-nothing", "messages", "end the record with the assistant's answer", "the record has no assistant turn, so nothing is asserted")
	}
	return c
}

// toolChoice reads "auto", "required", "none", {type, function: {name}} or {mode}.
func (r *reader) toolChoice(v node) string {
	switch v.kind() {
	case '"':
		s := unquote(v.raw)
		if s == "any" {
			return "required"
		}
		return s
	case '{':
		for _, path := range [][]string{{"function", "name"}, {"name"}, {"mode"}} {
			if s, ok := v.at(path...).text(); ok {
				return s
			}
		}
		r.notCarried(v.off, "tool_choice", "it names neither a mode nor a tool")
	}
	return ""
}

func exportOpenAI(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	var out []byte
	var problems []callvet.Problem
	can := []feature{
		"plans", "no calls", "several calls", "arguments", "earlier turns", "tools of the case", "tool_choice", "calls without arguments given",
	}
	_, same := readFrame(s, OpenAI)
	for i := 0; i < len(s.Cases); i++ {
		c := &s.Cases[i]
		if same {
			if raw, n := unchangedRecord(s, i); raw != nil {
				out = append(append(out, compact(raw)...), '\n')
				i += n - 1
				continue
			}
		}
		raw, lost := writeRecord(s, c)
		problems = append(append(problems, lost...), loseCase(c, can)...)
		out = append(append(out, raw...), '\n')
	}
	if !same {
		problems = append(problems, append(loseSuite(s), loseTools(s)...)...)
	}
	return out, problems, nil
}

// unchangedRecord gives the original of case i and the n cases it stands for,
// when all of them are there and as they were imported.
func unchangedRecord(s *callvet.Suite, i int) (raw []byte, n int) {
	o, ok := trusted(s.Cases[i].Foreign)
	rec := o.get("record")
	if !ok || rec.kind() != '{' {
		return nil, 0
	}
	in := &recordReader{reader: newReader(&source{text: rec.raw, form: "json"}, Options{})}
	base := in.cases(node{raw: rec.raw}, 0)
	if i+len(base) > len(s.Cases) {
		return nil, 0
	}
	for j := range base {
		c := s.Cases[i+j]
		if c.Tools == nil {
			base[j].Tools = nil
		}
		was, _ := writeRecord(s, &base[j])
		is, _ := writeRecord(s, &c)
		if !bytes.Equal(was, is) || !slices.Equal(features(&base[j]), features(&c)) {
			return nil, 0
		}
	}
	return rec.raw, len(base)
}

func writeRecord(s *callvet.Suite, c *callvet.Case) ([]byte, []callvet.Problem) {
	turns := c.Input
	if s.SystemPrompt != "" && (len(turns) == 0 || turns[0].Role != callvet.RoleSystem) {
		turns = slices.Insert(slices.Clone(turns), 0, callvet.Turn{Role: callvet.RoleSystem, Content: s.SystemPrompt})
	}
	var problems []callvet.Problem
	switch call := onlyCall(c); {
	case call != nil:
		t := callvet.Turn{Role: callvet.RoleAssistant}
		for i, e := range c.Expect.Plans[0].Calls {
			if len(e.Tools) > 0 {
				t.Calls = append(t.Calls, callvet.Call{ID: fmt.Sprintf("call_%d", i+1), Tool: e.Tools[0], Args: e.Args})
			}
		}
		turns = append(turns[:len(turns):len(turns)], t)
	case c.Expect.ReferenceData != nil:
		text, _ := node{raw: c.Expect.ReferenceData}.text()
		turns = append(turns[:len(turns):len(turns)], callvet.Turn{Role: callvet.RoleAssistant, Content: text})
	default:
		problems = append(problems, callvet.Problem{
			Position: c.Position, Code: "not-carried", Warning: true, Case: c.ID, Key: "messages",
			Message: "the expected answer is not carried: the case names no call, and the format needs the answer's own words",
		})
	}
	var o record
	o.raw("messages", writeTurns(turns))
	tools := c.Tools
	if tools == nil {
		tools = s.Tools
	}
	if len(tools) > 0 {
		o.raw("tools", openAITools(tools))
	}
	o.str("tool_choice", c.ToolChoice)
	return o.bytes(), problems
}
