// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
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

// Find gives the values at the path inside v: none, one, or with [] many.
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

// trie holds the per-parameter matchers by path.
type trie struct {
	m    *callvet.Matcher
	keys map[string]*trie
	at   map[int]*trie
	each *trie
}

// buildTrie places each matcher; a name that literally is a top-level key wins
// over its reading as a path.
func buildTrie(ms map[string]callvet.Matcher, literal func(string) bool) (*trie, []Problem) {
	if len(ms) == 0 {
		return nil, nil
	}
	root := new(trie)
	var ps []Problem
	for name, m := range ms {
		path := Path{{Key: name}}
		if !literal(name) {
			var err error
			if path, err = ParsePath(name); err != nil {
				ps = append(ps, Problem{"bad-path", name, err.Error(), "write name, a.b, items[0].id or items[].id"})
				continue
			}
		}
		t := root
		for _, s := range path {
			t = t.child(s)
		}
		t.m = &m
	}
	return root, ps
}

func (t *trie) child(s Step) *trie {
	var next *trie
	switch {
	case s.Key != "":
		if t.keys == nil {
			t.keys = map[string]*trie{}
		}
		if next = t.keys[s.Key]; next == nil {
			next = new(trie)
			t.keys[s.Key] = next
		}
	case s.Index < 0:
		if t.each == nil {
			t.each = new(trie)
		}
		next = t.each
	default:
		if t.at == nil {
			t.at = map[int]*trie{}
		}
		if next = t.at[s.Index]; next == nil {
			next = new(trie)
			t.at[s.Index] = next
		}
	}
	return next
}

func (t *trie) key(name string) *trie {
	if t == nil {
		return nil
	}
	return t.keys[name]
}

func (t *trie) elem(i int) *trie {
	if t == nil {
		return nil
	}
	if at := t.at[i]; at != nil {
		return at
	}
	return t.each
}

// names lists the member names that only matchers speak of, sorted.
func (t *trie) names() []string {
	if t == nil {
		return nil
	}
	out := make([]string, 0, len(t.keys))
	for k := range t.keys {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (t *trie) maxIndex() int {
	top := -1
	if t != nil {
		for i := range t.at {
			top = max(top, i)
		}
	}
	return top
}
