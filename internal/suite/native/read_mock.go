// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	placeholder "github.com/callvet/callvet/value/template"
)

// replyKeys are those of an answer of a mock.
const replyKeys = "result template error status latency_ms set"

// state reads what must hold of an attempt's state.
func (r *reader) state(n *doc.Node) map[string]string {
	if n.Kind == doc.Null {
		return nil
	}
	out := map[string]string{}
	r.fields(n, "", func(word string, v *doc.Node) bool {
		out[word] = r.label(v)
		return true
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// changes reads what becomes of an attempt's state.
func (r *reader) changes(n *doc.Node) map[string]callvet.MockState {
	if n.Kind == doc.Null {
		return nil
	}
	out := map[string]callvet.MockState{}
	r.fields(n, "", func(word string, v *doc.Node) bool {
		if v.Kind != doc.Map {
			out[word] = callvet.MockState{Value: r.label(v)}
			return true
		}
		var s callvet.MockState
		r.fields(v, "value calls then", func(key string, v *doc.Node) bool {
			switch key {
			case "value":
				s.Value = r.label(v)
			case "calls":
				s.Calls = r.count(v, 1)
			case "then":
				s.Then = r.label(v)
			default:
				return false
			}
			return true
		})
		if s.Then != "" && s.Calls == 0 {
			r.problem(v.At, "incomplete", "add calls: 3",
				"the state changes to %q after some calls, but not after how many", s.Then)
		}
		out[word] = s
		return true
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// template looks at the placeholders of all texts of a template.
func (r *reader) template(n *doc.Node) {
	switch n.Kind {
	case doc.Map:
		for i := range n.Items {
			r.push(n.Names[i].Name)
			r.template(&n.Items[i])
			r.pop()
		}
	case doc.List:
		r.each(n, func(_ int, v *doc.Node) { r.template(v) })
	case doc.String:
		t, err := placeholder.Parse(n.Text())
		if err != nil {
			r.problem(n.At, "bad-template", "{{args.city}}", "%v", err)
			return
		}
		for _, name := range t.Names() {
			if wrong, fix := placeholder.Mock(name); wrong != nil {
				r.problem(n.At, "unknown-placeholder", fix, "%v", wrong)
			}
		}
	}
}
