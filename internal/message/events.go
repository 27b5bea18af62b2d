// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// FindCall reads the call in an event or a pause: the value itself, or the first object with a name
// below it (at most three levels down).
func FindCall(v value.Value, o Options) (callvet.Call, bool) {
	d := decoder{o: o}
	return d.find(v, 3)
}

func (d *decoder) find(v value.Value, depth int) (callvet.Call, bool) {
	if v.Kind() == value.Object {
		if n, ok := d.member(v, d.o.Fields.Name, nameKeys()); ok && n.Kind() == value.String ||
			kindOf(v, "function") == value.Object {
			return d.call(v)
		}
	}
	if depth == 0 || v.Kind() != value.Object && v.Kind() != value.Array {
		return callvet.Call{}, false
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if c, ok := d.find(e, depth-1); ok {
			return c, true
		}
	}
	return callvet.Call{}, false
}

// ResultOf is the result in an event, under any of the known names; nil without one.
func ResultOf(v value.Value) json.RawMessage {
	if m, ok := firstOf(v, append(resultKeys(), "content", "data", "value")...); ok && m.Kind() != value.Null {
		return json.RawMessage(m.Raw())
	}
	return nil
}

// TextOf is the text of a plain record; "" when it has none.
func TextOf(v value.Value) string {
	m, _ := firstOf(v, textKeys()...)
	return textOf(m)
}

// MetaOf returns usage, model, finish reason and times of v, without turns.
func MetaOf(v value.Value) callvet.Response {
	d := decoder{resp: &callvet.Response{}}
	if v.Kind() == value.Object {
		d.meta(v, FormPlain)
	}
	return *d.resp
}

// Repairs are the repairs of the calls in turns, each once.
func Repairs(turns []callvet.Turn) []string {
	d := decoder{resp: &callvet.Response{Turns: turns}}
	d.collectRepairs()
	return d.resp.Repairs
}
