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

// openAI reads records of messages and tools (the fine-tuning form). Every assistant turn with
// calls becomes a case of its own: the turns before it are the input, its calls are the plan.
func (r *reader) openAI() (*callvet.Suite, error) {
	list := r.Src.Values
	if len(list) == 1 && list[0].Kind() == '[' {
		list = list[0].Elements()
	}
	s := &callvet.Suite{Name: Stem(r.Src.Path)}
	in := &recordReader{reader: r}
	var shared []byte
	same := true
	for i, n := range list {
		r.CaseID = fmt.Sprintf("case-%d", i+1)
		if n.Kind() != '{' {
			r.Report(n.Off, "wrong-type", "", "", "a record must be an object with messages, not %s", KindName(n))
			continue
		}
		t := n.Get("tools")
		if i == 0 {
			shared = t.Raw
		}
		same = same && bytes.Equal(shared, t.Raw)
		s.Cases = append(s.Cases, in.cases(n, i)...)
	}
	if same && len(s.Cases) > 0 && s.Cases[0].Tools != nil {
		s.Tools = s.Cases[0].Tools
		for i := range s.Cases {
			s.Cases[i].Tools = nil
		}
	} else if len(s.Cases) > 0 && shared == nil && same {
		s.Tools = r.Opt.Tools
	}
	s.Foreign = FrameOf(r.Src, Node{Raw: []byte("{}")}, "records", nil)
	return s, nil
}

type recordReader struct {
	*reader
	cache ToolCache
}

func (r *recordReader) cases(n Node, index int) []callvet.Case {
	o := r.Loose(n)
	for _, m := range o.List {
		switch m.Name {
		case "messages", "input", "tools", "functions", "ideal", "id", "tool_choice":
		case "parallel_tool_calls":
			if m.Val.Kind() == 'f' {
				r.Keep(m.Off, m.Name, "kept for export; set parallel_calls on the target")
			}
		default:
			r.Keep(m.Off, m.Name, "the record format has no such key; it is kept for export")
		}
	}
	base := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.Src.Position(n.Off)}
	if id := o.Scalar("id"); id != "" {
		base.ID = id
	}
	r.CaseID = base.ID
	if v, _ := o.First("tools", "functions"); v.Given() {
		base.Tools = r.cache.Read(r.Reader, v)
	}
	base.ToolChoice = r.toolChoice(o.Get("tool_choice"))
	list, key := o.First("messages", "input")
	if !list.Given() {
		r.Report(n.Off, "missing-key", key, "", "the record has no messages")
		return nil
	}
	turns := r.Turns(list)
	return r.split(o, base, turns, list)
}

// split makes the cases of one record.
func (r *recordReader) split(o Object, base callvet.Case, turns []callvet.Turn, list Node) []callvet.Case {
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
		out[0].Foreign = r.original(o.Node, 0, 1)
		return out
	}
	for i := range out {
		out[i].ID = fmt.Sprintf("%s/turn-%d", base.ID, i+1)
		out[i].Foreign = r.original(o.Node, i, len(out))
	}
	return out
}

// original is what an export needs to write the record again: the record with
// its first case, and the number of cases that belong to it.
func (r *recordReader) original(n Node, i, of int) []byte {
	var rec Record
	if i == 0 {
		rec.Raw("record", n.Raw)
	}
	rec.Integer("part", &i)
	rec.Integer("of", &of)
	return rec.Bytes()
}

// weightZero: a message that fine-tuning must not learn is not gold either.
func weightZero(list Node, i, n int) bool {
	items := list.Elements()
	return len(items) == n && string(items[i].Get("weight").Raw) == "0"
}

// withoutCalls: an ideal answer is checked as text, a closing answer without
// calls means abstention; a record that ends with the user asserts nothing.
func (r *recordReader) withoutCalls(o Object, base callvet.Case, turns []callvet.Turn) callvet.Case {
	c := base
	c.Foreign = r.original(o.Node, 0, 1)
	c.Input = turns
	last := len(turns) - 1
	switch ideal := o.Get("ideal"); {
	case ideal.Given():
		answers := []string{}
		if s, ok := ideal.Text(); ok {
			answers = append(answers, s)
		} else {
			answers = r.Strs(ideal, "ideal")
		}
		for i := range answers {
			answers[i] = regexp.QuoteMeta(answers[i])
		}
		c.Expect.ResponseMatches = []string{`\A(?:` + strings.Join(answers, "|") + `)`}
	case last >= 0 && turns[last].Role == callvet.RoleAssistant:
		c.Input = turns[:last:last]
		c.Expect.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
		if turns[last].Content != "" {
			c.Expect.ReferenceData = Quote(turns[last].Content)
			r.Keep(o.At("messages"), "text of the last answer",
				"kept as reference for a judge; that nothing is called is checked")
		}
	default:
		r.Report(o.Node.Off, "asserts-nothing", "messages", "end the record with the assistant's answer",
			"the record has no assistant turn, so nothing is asserted")
	}
	return c
}

// toolChoice reads "auto", "required", "none", {type, function: {name}} or {mode}.
func (r *reader) toolChoice(v Node) string {
	switch v.Kind() {
	case '"':
		s := Unquote(v.Raw)
		if s == "any" {
			return "required"
		}
		return s
	case '{':
		for _, path := range [][]string{{"function", "name"}, {"name"}, {"mode"}, {"tool", "name"}} {
			if s, ok := v.At(path...).Text(); ok {
				return s
			}
		}
		switch { // of Amazon Bedrock
		case v.Has("auto"):
			return "auto"
		case v.Has("any"):
			return "required"
		}
		r.NotCarried(v.Off, "tool_choice", "it names neither a mode nor a tool")
	}
	return ""
}

func exportOpenAI(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	var out []byte
	var problems []callvet.Problem
	can := []Feature{
		"plans", "no calls", "several calls", "arguments", "earlier turns", "tools of the case", "tool_choice",
		"calls without arguments given",
	}
	_, same := ReadFrame(s, OpenAI)
	for i := 0; i < len(s.Cases); i++ {
		c := &s.Cases[i]
		if same {
			if raw, n := unchangedRecord(s, i); raw != nil {
				out = append(append(out, Compact(raw)...), '\n')
				i += n - 1
				continue
			}
		}
		raw, lost := writeRecord(s, c)
		problems = append(append(problems, lost...), LoseCase(c, can)...)
		out = append(append(out, raw...), '\n')
	}
	if !same {
		problems = append(problems, append(LoseSuite(s), LoseTools(s)...)...)
	}
	return out, problems, nil
}

// unchangedRecord returns the original of case i and the number n of cases made from it. It
// requires that all these cases are present and unchanged since the import.
func unchangedRecord(s *callvet.Suite, i int) (raw []byte, n int) {
	o, ok := Trusted(s.Cases[i].Foreign)
	rec := o.Get("record")
	if !ok || rec.Kind() != '{' {
		return nil, 0
	}
	in := &recordReader{reader: newReader(&Source{Text: rec.Raw, Form: "json"}, ReaderOptions{})}
	base := in.cases(Node{Raw: rec.Raw}, 0)
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
		if !bytes.Equal(was, is) || !slices.Equal(Features(&base[j]), Features(&c)) {
			return nil, 0
		}
	}
	return rec.Raw, len(base)
}

func writeRecord(s *callvet.Suite, c *callvet.Case) ([]byte, []callvet.Problem) {
	turns := c.Input
	if s.SystemPrompt != "" && (len(turns) == 0 || turns[0].Role != callvet.RoleSystem) {
		turns = slices.Insert(slices.Clone(turns), 0, callvet.Turn{Role: callvet.RoleSystem, Content: s.SystemPrompt})
	}
	var problems []callvet.Problem
	switch call := OnlyCall(c); {
	case call != nil:
		t := callvet.Turn{Role: callvet.RoleAssistant}
		for i, e := range c.Expect.Plans[0].Calls {
			if len(e.Tools) > 0 {
				t.Calls = append(t.Calls, callvet.Call{ID: fmt.Sprintf("call_%d", i+1), Tool: e.Tools[0], Args: e.Args})
			}
		}
		turns = append(turns[:len(turns):len(turns)], t)
	case c.Expect.ReferenceData != nil:
		text, _ := Node{Raw: c.Expect.ReferenceData}.Text()
		turns = append(turns[:len(turns):len(turns)], callvet.Turn{Role: callvet.RoleAssistant, Content: text})
	default:
		problems = append(problems, callvet.Problem{
			Position: c.Position, Code: "not-carried", Warning: true, Case: c.ID, Key: "messages",
			Message: "the expected answer is not carried: the case names no call, and the format needs the answer's own words",
		})
	}
	var o Record
	o.Raw("messages", WriteTurns(turns))
	tools := c.Tools
	if tools == nil {
		tools = s.Tools
	}
	if len(tools) > 0 {
		o.Raw("tools", OpenAITools(tools))
	}
	o.Str("tool_choice", c.ToolChoice)
	return o.Bytes(), problems
}
