// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
)

// Step of a path: a member by Key, an element by Index, or every element.
type Step struct {
	Key   string
	Index int // used when Key is empty; -1: every element
}

// Path is a dotted path such as items[0].id or items[].id.
type Path []Step

// ParsePath reads a dotted path. Keys are taken literally between dots and brackets.
func ParsePath(s string) (Path, error) {
	var p Path
	for rest := s; rest != ""; {
		if rest[0] == '[' {
			inside, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return nil, fmt.Errorf("parse path %q: [ without ]", s)
			}
			i := -1
			if inside != "" && inside != "*" {
				var err error
				if i, err = strconv.Atoi(inside); err != nil || i < 0 {
					return nil, fmt.Errorf("parse path %q: index %q is not a whole number", s, inside)
				}
			}
			p = append(p, Step{Index: i})
			if rest = after; strings.HasPrefix(rest, ".") && len(rest) > 1 {
				rest = rest[1:]
			}
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("parse path %q: empty name", s)
		}
		p, rest = append(p, Step{Key: rest[:end]}), rest[end:]
		if strings.HasPrefix(rest, ".") {
			if rest = rest[1:]; rest == "" {
				return nil, fmt.Errorf("parse path %q: ends with a dot", s)
			}
		}
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("parse path %q: empty", s)
	}
	return p, nil
}

// Find returns the values at the path inside v: none, one, or with [] many.
func (p Path) Find(v value.Value) []value.Value {
	if len(p) == 0 {
		return []value.Value{v}
	}
	s := p[0]
	if s.Key != "" {
		if m, ok := v.Get(s.Key); ok {
			return p[1:].Find(m)
		}
		return nil
	}
	if v.Kind() != value.Array {
		return nil
	}
	var out []value.Value
	i := 0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if s.Index < 0 || s.Index == i {
			out = append(out, p[1:].Find(e)...)
		}
		i++
	}
	return out
}

// maxPlanted bounds the array index that Plant fills up to.
const maxPlanted = 1000

// Plant puts leaf at the path into a tree of maps and slices, which it grows.
func (p Path) Plant(tree any, leaf json.RawMessage) any {
	if len(p) == 0 {
		return leaf
	}
	if s := p[0]; s.Key != "" {
		m, ok := tree.(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		m[s.Key] = p[1:].Plant(m[s.Key], leaf)
		return m
	}
	i := min(max(p[0].Index, 0), maxPlanted)
	list, _ := tree.([]any)
	for len(list) <= i {
		list = append(list, nil)
	}
	list[i] = p[1:].Plant(list[i], leaf)
	return list
}
