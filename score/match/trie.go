// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"slices"

	"github.com/callvet/callvet"
)

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

// names lists the member names that only matchers name, sorted.
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
