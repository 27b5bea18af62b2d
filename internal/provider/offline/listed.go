// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// newJoiner matches the text between the members of a list in prose; its group is the
// conjunction. Without it, the list is a place and its country.
func newJoiner() *regexp.Regexp {
	return regexp.MustCompile(`^\s*,?\s*(?:\b(and|y|e|och|und)\s+)?(?:(?:in|for|at|en|em|i|the)\s+)?$`)
}

// listed makes one call for each member of a list of names that filled a required slot ("in
// Paris, Rome and Oslo for the next 5 days"). The other slots are shared. Nil if there is no such
// list, or more than one.
func (q *question) listed(g *guess, text string) []callvet.Call {
	if !g.full() || pairs(text) {
		return nil
	}
	args, err := value.Parse(g.call.Args)
	if err != nil {
		return nil
	}
	names := capitals(text, func(string) bool { return false })
	var out []callvet.Call
	for _, p := range g.params.props {
		v, ok := args.Get(p.name)
		if !ok || !p.required || v.Kind() != value.String || p.enum != nil {
			continue
		}
		more := q.members(text, names, v.Str())
		if len(more) == 0 {
			continue
		}
		if out != nil {
			return nil
		}
		out = []callvet.Call{g.call}
		for _, name := range more {
			out = append(out, callvet.Call{Tool: g.call.Tool, Args: withMember(args, p.name, name)})
		}
	}
	return out
}

// members are the names that follow first in its list.
func (q *question) members(text string, names []span, first string) []string {
	var out []string
	end, closed := -1, false
	for _, s := range names {
		if end < 0 {
			if s.text == first {
				end = s.to
			}
			continue
		}
		var m []string
		if s.from >= end {
			m = q.m.join.FindStringSubmatch(text[end:s.from])
		}
		if m == nil {
			break
		}
		closed = m[1] != ""
		if end = s.to; !strings.EqualFold(s.text, first) {
			out = append(out, s.text)
		}
	}
	if !closed {
		return nil
	}
	return out
}

// withMember copies an object with another string under key.
func withMember(o value.Value, key, s string) json.RawMessage {
	out := []byte{'{'}
	for e, ok := o.First(); ok; e, ok = o.Next(e) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		k, _ := json.Marshal(e.Key())
		out = append(append(out, k...), ':')
		if e.Key() == key {
			b, _ := json.Marshal(s)
			out = append(out, b...)
			continue
		}
		out = append(out, e.Raw()...)
	}
	return append(out, '}')
}
