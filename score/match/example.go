// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"strconv"

	"github.com/callvet/callvet/value"
)

// Example returns arguments that match, made from the expected values; ok is false where a matcher
// accepts values that cannot be derived, such as a pattern.
func (a *Args) Example() (args json.RawMessage, ok bool) {
	for i := range a.patterns {
		if p := &a.patterns[i]; !p.optional && p.rule.op != opAbsent {
			return nil, false
		}
	}
	b, ok := a.root.example(nil)
	return b, ok
}

// Example returns a value that matches the rule; see Args.Example.
func (r *Rule) Example() (v json.RawMessage, ok bool) { return r.example(nil) }

func (r *Rule) example(dst []byte) ([]byte, bool) {
	switch r.op {
	case opObject:
		return r.objectExample(dst)
	case opArray:
		dst = append(dst, '[')
		for i, e := range r.rules {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			if dst, ok = e.example(dst); !ok {
				return dst, false
			}
		}
		return append(dst, ']'), true
	case opAnyOf:
		if len(r.rules) == 0 {
			return dst, false
		}
		return r.rules[0].example(dst)
	case opAbsent:
		return dst, false
	case opType:
		return r.typeExample(dst)
	}
	// The expected value itself, unless it only describes values.
	if ok, _ := r.Match(r.want); !ok {
		return dst, false
	}
	return append(dst, r.want.Raw()...), true
}

func (r *Rule) objectExample(dst []byte) ([]byte, bool) {
	dst = append(dst, '{')
	start := len(dst)
	for i := range r.members {
		m := &r.members[i]
		if m.rule.op == opAbsent {
			continue
		}
		before := len(dst)
		if before > start {
			dst = append(dst, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return dst, false
		}
		var ok bool
		if dst, ok = m.rule.example(append(append(dst, key...), ':')); !ok {
			if !m.optional {
				return dst, false
			}
			dst = dst[:before]
		}
	}
	return append(dst, '}'), true
}

// typeExample fills in a value only for types with few values.
func (r *Rule) typeExample(dst []byte) ([]byte, bool) {
	switch {
	case r.kinds&(1<<value.Null) != 0:
		return append(dst, "null"...), true
	case r.kinds&(1<<value.Bool) != 0:
		return strconv.AppendBool(dst, true), true
	}
	return dst, false
}
