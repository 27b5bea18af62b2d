// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"reflect"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// MaxProblems is how many problems one load or lint lists; the rest is counted.
const MaxProblems = doc.MaxProblems

// reader reads the values of suites that have forms or rules of their own; doc reads the others.
type reader struct{ doc.Reader }

// newReader reads a file; format is the schema that a hint names.
func newReader(d *doc.File, format string) *reader {
	r := &reader{doc.Reader{File: d, Format: format}}
	r.Own = r.special
	r.Duplicates()
	return r
}

// boolPtr reads true or false; null is nil.
func (r *reader) boolPtr(n *doc.Node) *bool {
	if n.Kind == doc.Null {
		return nil
	}
	b := r.Bool(n)
	return &b
}

// into reads n by the form of p's type in the schema.
func (r *reader) into(name string, n *doc.Node, p any) {
	r.Read(forms()[name], n, reflect.ValueOf(p).Elem())
}

// special reads values that have forms or rules of their own, by their Go type.
func (r *reader) special(f *doc.Shape, n *doc.Node, into reflect.Value) bool {
	switch p := into.Addr().Interface().(type) {
	case *string:
		if f.Name != "toolChoice" {
			return false
		}
		*p = r.toolChoice(n)
	case *int:
		if f.Name != "place" {
			return false
		}
		*p = r.place(n)
	case *callvet.MockState:
		r.mockState(f, n, p)
	case *[]callvet.Tool:
		r.tools(p, n)
	case *callvet.Matcher:
		*p = r.matcher(n)
	case *callvet.ToolParam:
		*p = r.toolParam(n)
	case *callvet.Expect:
		r.expect(f, n, p)
	case *callvet.Plan:
		r.plan(f, n, p)
	case *callvet.ExpectedCall:
		if n.Kind == doc.String { // - get_weather
			p.Tools = []string{n.Text()}
			return true
		}
		r.Members(f, n, into, nil)
		r.namesTool(p, n)
	case *callvet.Harm:
		if n.Kind == doc.String {
			p.Call.Tools = []string{n.Text()}
			return true
		}
		r.Members(f, n, into, nil)
		r.namesTool(&p.Call, n)
	case *callvet.Mock:
		r.mock(f, n, p)
	case *callvet.Turn:
		r.turn(f, n, p)
	case *callvet.Call:
		r.call(f, n, p)
	case *callvet.ToolNames:
		r.toolNames(f, n, p)
	default:
		return r.checked(f, n, into)
	}
	return true
}

// checked reads mappings with rules between their keys.
func (r *reader) checked(f *doc.Shape, n *doc.Node, into reflect.Value) bool {
	var check func()
	switch p := into.Addr().Interface().(type) {
	case *callvet.RubricDimension:
		p.MaxScore = 1
	case *callvet.Unsupported:
		p.Reason = "nothing here evaluates it"
	case *callvet.RateLimit:
		check = func() { r.rateLimitFits(n, p) }
	case *callvet.MockReply:
		check = func() { r.replyFits(n, p) }
	case *callvet.CallCount:
		check = func() { r.countFits(n, p) }
	case *callvet.ToolFault:
		check = func() { r.faultFits(n, p) }
	case *callvet.Attack:
		check = func() { r.attackFits(n, p) }
	case *callvet.Plant:
		check = func() { r.plantFits(n, p) }
	case *callvet.Scorer:
		check = func() { r.scorerFits(n, p) }
	default:
		return false
	}
	if r.Members(f, n, into, nil); check != nil && n.Kind == doc.Map {
		check()
	}
	return true
}
