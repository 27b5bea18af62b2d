// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// The members that models use for a call's name, for its arguments, and for further data in an
// object that is only a call.
func textNameKeys() []string {
	return []string{"name", "tool", "tool_name", "function_name", "function", "action", "recipient_name"}
}

func textArgsKeys() []string {
	return []string{"arguments", "parameters", "args", "params", "input", "tool_input", "action_input"}
}
func sideKeys() []string { return []string{"id", "type", "call_id", "tool_call_id", "index"} }

// thoughtKeys are the members for a model's thoughts before a call.
func thoughtKeys() []string {
	return []string{"thought", "thoughts", "thinking", "reasoning", "rationale", "explanation", "plan"}
}

// shape is an object read as a call.
type shape struct {
	name  string
	args  value.Value
	extra bool // members that no call has
	odd   bool // members that are no thought, either
	plain bool // in the usual spelling of calls, so that it need not name an offered tool
}

// shapeOf reads v as {"name","arguments"} in its spellings or as
// {"function":{…}}. The name must be a string that is not blank.
func shapeOf(v value.Value) (s shape, ok bool) {
	if v.Kind() != value.Object {
		return s, false
	}
	if f, has := v.Get("function"); has && f.Kind() == value.Object {
		s, ok = shapeOf(f)
		s.extra, s.odd = s.extra || hasExtra(v, nil), s.odd || hasExtra(v, thoughtKeys())
		return s, ok
	}
	if s.name = Str(v, textNameKeys()...); strings.TrimSpace(s.name) == "" {
		return s, false
	}
	s.extra, s.odd = hasExtra(v, nil), hasExtra(v, thoughtKeys())
	s.args = first(v, textArgsKeys()...)
	_, usual := firstOf(v, textArgsKeys()[:3]...)
	s.plain = usual && (s.args.Kind() == value.Object || strings.HasPrefix(s.args.Str(), "{"))
	return s, !isDefinition(v, s.args) && !isOther(v, s.args)
}

// isOther distinguishes an object with a name and a type of its own, such as the metadata of an
// answer, from a call without arguments.
func isOther(v, args value.Value) bool {
	t, ok := v.Get("type")
	return ok && t.Kind() == value.String && args.Kind() == value.Invalid &&
		!slices.ContainsFunc([]string{"tool", "function", "call", "action"},
			func(s string) bool { return strings.Contains(strings.ToLower(t.Str()), s) })
}

// isDefinition distinguishes a tool's declaration (which a model may quote) from a call.
func isDefinition(v, args value.Value) bool {
	if _, described := v.Get("description"); !described {
		return false
	}
	typ, _ := args.Get("type")
	_, props := args.Get("properties")
	return props && (typ.Str() == "object" || typ.Str() == "dict") // BFCL's word
}

// hasExtra reports whether an object has members that no call has, other than some.
func hasExtra(v value.Value, other []string) bool {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		k := e.Key()
		if !slices.Contains(other, k) && !slices.Contains(textNameKeys(), k) &&
			!slices.Contains(textArgsKeys(), k) &&
			!slices.Contains(sideKeys(), k) {
			return true
		}
	}
	return false
}

// isCall is the conservative test for text without a mark of a call: an offered tool with
// arguments or, where the text contains nothing else, an object that is only a call.
func (s *shape) isCall(offered, whole bool) bool {
	switch {
	case s.args.Kind() == value.Invalid:
		return offered && !s.extra
	case offered:
		return whole || s.args.Kind() == value.Object || s.args.Kind() == value.String
	}
	return whole && s.plain && !s.extra
}

// couldCall reports whether an object may be a call where the offered tools are not known.
func (s *shape) couldCall() bool {
	switch strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(s.name)) {
	case "finalanswer", "finish", "none", "directlyanswer":
		return false
	}
	return !s.odd && s.args.Kind() == value.Object
}

func (s *shape) call(repair string) callvet.Call {
	c := callvet.Call{Tool: s.name, Repairs: []string{repair}}
	var raw string
	if k := s.args.Kind(); k != value.Invalid && k != value.Null {
		raw = string(s.args.Raw())
	}
	args, more := RepairArgs(raw)
	c.Args, c.Repairs = args, append(c.Repairs, more...)
	if args == nil || more != nil {
		c.ArgsRaw = raw
	}
	return c
}
