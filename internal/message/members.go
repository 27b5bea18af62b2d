// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

// First returns the first of the named members that is present and not null.
func First(v value.Value, keys ...string) value.Value {
	for _, k := range keys {
		if m, ok := v.Get(k); ok && m.Kind() != value.Null {
			return m
		}
	}
	return value.Value{}
}

// Str is the text of the first of the named members that is a string.
func Str(v value.Value, keys ...string) string {
	for _, k := range keys {
		if m, ok := v.Get(k); ok && m.Kind() == value.String {
			return m.Str()
		}
	}
	return ""
}

// ID is a string's text or a number's literal.
func ID(v value.Value) string {
	if v.Kind() == value.Number {
		return string(v.Raw())
	}
	return v.Str()
}

// Float is the number of the first named member that is a number; nil without one.
func Float(v value.Value, keys ...string) *float64 {
	for _, k := range keys {
		if m, ok := v.Get(k); ok {
			if f, ok := m.Float(); ok {
				return &f
			}
		}
	}
	return nil
}

// Int is Float cut to a whole number; 0 when there is none.
func Int(v value.Value, keys ...string) int {
	if f := Float(v, keys...); f != nil && *f >= 0 && *f < 1<<40 {
		return int(*f)
	}
	return 0
}

func has(v value.Value, key string) bool {
	_, ok := v.Get(key)
	return ok
}

func kindOf(v value.Value, key string) value.Kind { return first(v, key).Kind() }

// isList reports whether v has a list under key and the first element of the list has a member sub.
func isList(v value.Value, key, sub string) bool {
	m, ok := v.Get(key)
	if !ok || m.Kind() != value.Array {
		return false
	}
	e, ok := m.First()
	return ok && has(e, sub)
}

// first is firstOf of a member that may be missing.
func first(v value.Value, keys ...string) value.Value {
	m, _ := firstOf(v, keys...)
	return m
}

// firstOf is the first of the named members that is present, null included.
func firstOf(v value.Value, keys ...string) (value.Value, bool) {
	for _, k := range keys {
		if m, ok := v.Get(k); ok {
			return m, true
		}
	}
	return value.Value{}, false
}

// At follows a dotted path of member names and list positions.
func At(v value.Value, path string) (value.Value, bool) {
	for part := range strings.SplitSeq(path, ".") {
		var ok bool
		if v.Kind() == value.Array {
			v, ok = element(v, part)
		} else {
			v, ok = v.Get(part)
		}
		if !ok {
			return value.Value{}, false
		}
	}
	return v, true
}

func element(v value.Value, part string) (value.Value, bool) {
	n, err := strconv.Atoi(part)
	if err != nil || n < 0 {
		return value.Value{}, false
	}
	e, ok := v.First()
	for ; ok && n > 0; n-- {
		e, ok = v.Next(e)
	}
	return e, ok
}

func intOf(v value.Value) int {
	f, ok := v.Float()
	if !ok || f > 1<<53 || f < -(1<<53) {
		return 0
	}
	return int(f)
}
