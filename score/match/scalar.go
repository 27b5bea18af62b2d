// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"fmt"
	"regexp"

	"github.com/callvet/callvet/value"
)

// scalar compiles the comparison with a string, number, boolean or null.
func (c *compiler) scalar(want value.Value, s schema, set *Settings, key string, own bool) *Rule {
	r := &Rule{name: set.Leaf, want: want, set: set}
	switch want.Kind() {
	case value.Number:
		r.op = opNumber
		switch set.Leaf {
		case ModeFuzzy:
			r.op = opFuzzyNumber
		case ModeNumeric:
			r.op = opNumeric
		}
	case value.String:
		c.str(r, want.Bytes(), s, key, own)
	default:
		r.op = opEqual
	}
	return r
}

func (c *compiler) str(r *Rule, text []byte, s schema, key string, own bool) {
	r.text = text
	switch r.set.Leaf {
	case ModeStrict:
		r.op = opBytes
	case ModeCaseInsensitive:
		r.op, r.text = opFoldCase, caseFold(text)
	case ModeContains:
		r.op, r.text = opContains, caseFold(text)
	case ModeFuzzy:
		r.op, r.text = opFuzzyText, Fold(nil, text)
	case ModeRegex:
		c.pattern(r, string(text), key)
	case ModeSemantic:
		r.op, r.text = opSemantic, Fold(nil, text)
	case ModeNumeric:
		if _, _, ok := numberText(r.want); ok {
			r.op = opNumeric
			return
		}
		c.exact(r, text, s)
	case ModeDate:
		m, ok := parseMoment(string(text))
		if ok {
			r.op, r.moment = opDate, &m
			return
		}
		if own {
			c.problem("bad-date", key, fmt.Sprintf("%q is not an ISO 8601 date", text),
				"write 2026-05-01 or 2026-05-01T10:00:00Z")
		}
		c.exact(r, text, s)
	default:
		c.exact(r, text, s)
	}
}

func (c *compiler) exact(r *Rule, text []byte, s schema) {
	r.name = ModeExact
	if s.literal() {
		r.op = opBytes
		return
	}
	r.op, r.text = opText, Fold(nil, text)
}

func (c *compiler) pattern(r *Rule, p, key string) {
	r.op = opRegex
	src := p
	if !r.set.Unanchored {
		src = `\A(?:` + p + `)\z`
	}
	re, err := regexp.Compile(src)
	if err == nil {
		_, err = regexp.Compile(p) // "a)(b" is only valid once wrapped
	}
	if err != nil {
		c.problem("bad-regex", key, fmt.Sprintf("pattern %q does not compile: %v", p, err),
			"RE2 syntax, without lookaround and backreferences")
		re = regexp.MustCompile(`\A\z^\b`) // matches nothing
	}
	r.re = re
}

// kindSet is a set of JSON types; bit 31 means integers.
type kindSet uint32

const integers kindSet = 1 << 31

func (c *compiler) typeRule(want value.Value, key string) *Rule {
	r := &Rule{op: opType, name: ModeType, want: want}
	add := func(v value.Value) {
		k, ok := kindNamed(v.Str())
		if !ok {
			c.problem("bad-type", key, fmt.Sprintf("%q is not a JSON type", v.Str()),
				"string, number, integer, boolean, array, object or null")
		}
		r.kinds |= k
	}
	if want.Kind() != value.Array {
		add(want)
		return r
	}
	for e, ok := want.First(); ok; e, ok = want.Next(e) {
		add(e)
	}
	return r
}

func kindNamed(s string) (kindSet, bool) {
	switch s {
	case "integer":
		return integers, true
	case "string":
		return 1 << value.String, true
	case "number":
		return 1 << value.Number, true
	case "boolean":
		return 1 << value.Bool, true
	case "array":
		return 1 << value.Array, true
	case "object":
		return 1 << value.Object, true
	case "null":
		return 1 << value.Null, true
	}
	return 0, false
}
