// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"reflect"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// mockResponses reads a map from tool to its plain answer.
func (r *reader) mockResponses(n *doc.Node) []callvet.Mock {
	if n.Kind == doc.Null {
		return nil
	}
	var out []callvet.Mock
	r.Fields(n, nil, func(key string, v *doc.Node) bool {
		out = append(out, callvet.Mock{Tool: key, Replies: []callvet.MockReply{{Result: v.JSON()}}})
		return true
	})
	return out
}

// mock reads a mock with a list of replies, or with the keys of one.
func (r *reader) mock(f *doc.Shape, n *doc.Node, m *callvet.Mock) {
	reply := forms()["reply"]
	var one callvet.MockReply
	own := false
	r.Members(f, n, reflect.ValueOf(m).Elem(), func(key string, v *doc.Node) bool {
		if reply.Key(key) == nil {
			own = own || f.Key(key) == nil // a misspelled key of an answer
			return false
		}
		own = true
		return r.Member(reply, key, v, reflect.ValueOf(&one).Elem(), nil)
	})
	if m.Tool == "" {
		r.Note(n.At, "no-tool", "", "the mock names no tool")
	}
	switch {
	case own && m.Replies != nil:
		r.Note(n.At, "conflicting-keys", "put it in the list of replies",
			"a mock has either replies or one answer")
	case own:
		r.replyFits(n, &one)
		m.Replies = []callvet.MockReply{one}
	case m.Replies == nil:
		r.Note(n.At, "no-answer", "add result, template, error or replies",
			"the mock of %s says no answer", m.Tool)
	}
}

// replyFits checks that there is a result or a template of it, not both, and its placeholders.
func (r *reader) replyFits(n *doc.Node, m *callvet.MockReply) {
	if t := n.Get("template"); t != nil {
		r.Push("template")
		r.template(t)
		r.Pop()
	}
	if m.Result != nil && m.Template != nil {
		r.Note(n.At, "conflicting-keys", "leave one of them", "an answer has either a result or a template of one")
	}
}

// mockState reads the value of a word, or for how many calls it has it.
func (r *reader) mockState(f *doc.Shape, n *doc.Node, s *callvet.MockState) {
	if n.Kind != doc.Map {
		s.Value = r.Label(n)
		return
	}
	r.Members(f, n, reflect.ValueOf(s).Elem(), nil)
	if s.Then != "" && s.Calls == 0 {
		r.Note(n.At, "incomplete", "add calls: 3",
			"the state changes to %q after some calls, but not after how many", s.Then)
	}
}

// template checks the placeholders of all texts of a template.
func (r *reader) template(n *doc.Node) {
	switch n.Kind {
	case doc.Map:
		for i := range n.Items {
			r.Push(n.Names[i].Name)
			r.template(&n.Items[i])
			r.Pop()
		}
	case doc.List:
		r.Each(n, func(_ int, v *doc.Node) { r.template(v) })
	case doc.String:
		t, err := value.ParseTemplate(n.Text())
		if err != nil {
			r.Note(n.At, "bad-template", "{{args.city}}", "%v", err)
			return
		}
		for _, name := range t.Names() {
			if wrong, fix := value.CheckMockName(name); wrong != nil {
				r.Note(n.At, "unknown-placeholder", fix, "%v", wrong)
			}
		}
	}
}
