// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// recordedFault returns what went wrong according to a record without any answer; nil when there is
// an answer.
func recordedFault(outer, v value.Value, form Form) *callvet.Fault {
	status := 0
	if r, ok := outer.Get("response"); ok {
		if s, ok := r.Get("status_code"); ok {
			status = intOf(s)
		}
	}
	e, found := firstOf(v, "error")
	if !found || e.Kind() == value.Null {
		e, found = firstOf(outer, "error")
	}
	if status < 400 && (!found || e.Kind() == value.Null || e.Kind() == value.Bool && !e.Bool()) {
		return nil
	}
	if status < 400 && hasAnswer(v, form) {
		return nil // an error next to an answer is a verdict
	}
	return faultOf(e, status)
}

func hasAnswer(v value.Value, form Form) bool {
	if form != FormPlain {
		return true
	}
	for _, k := range append(callKeys(), textKeys()...) {
		if m, ok := v.Get(k); ok && m.Kind() != value.Null {
			return true
		}
	}
	return false
}

func faultOf(e value.Value, status int) *callvet.Fault {
	f := &callvet.Fault{Kind: callvet.FaultServer, HTTP: status, Message: textOf(e)}
	if e.Kind() == value.Object {
		if k, ok := firstOf(e, "kind"); ok {
			f.Kind = callvet.FaultKind(k.Str())
		}
		if c, ok := firstOf(e, "http", "status", "status_code", "code"); ok && c.Kind() == value.Number && status == 0 {
			f.HTTP = intOf(c)
		}
		if m, ok := firstOf(e, "message", "msg", "detail"); ok {
			f.Message = textOf(m)
		}
	}
	if f.Kind == callvet.FaultServer && f.HTTP != 0 {
		f.Kind = callvet.FaultOfStatus(f.HTTP)
	}
	if f.Message == "" {
		f.Message = strings.TrimSpace("the record has an error " + string(e.Raw()))
	}
	return f
}
