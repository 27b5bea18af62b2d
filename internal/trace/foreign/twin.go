// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// union is an object with the members of two records with the same id: a sender may repeat a
// record, and either of the two may lack members. Of a member in both records it has the fuller
// value.
func union(a, b value.Value) value.Value {
	text := []byte{'{'}
	add := func(m value.Value, key string) {
		name, err := json.Marshal(key)
		if err != nil { // a string always marshals
			return
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), m.Raw()...)
	}
	for m, ok := a.First(); ok; m, ok = a.Next(m) {
		other, _ := b.Get(m.Key())
		add(fuller(m, other), m.Key())
	}
	for m, ok := b.First(); ok; m, ok = b.Next(m) {
		if _, both := a.Get(m.Key()); !both {
			add(m, m.Key())
		}
	}
	out, err := value.Parse(append(text, '}'))
	if err != nil {
		return b
	}
	return out
}

// fuller returns which of two values of one member counts: the one with more calls. Otherwise it is
// the longer one of two objects or lists, else the later one, b, unless it is empty.
func fuller(a, b value.Value) value.Value {
	x, y := message.HeldResult(a), message.HeldResult(b)
	switch {
	case blank(b):
		return a
	case blank(a):
		return b
	case !compound(x) && !compound(y):
		return b
	}
	if n, m := callCount(x), callCount(y); n != m {
		if n > m {
			return a
		}
		return b
	}
	if compound(x) && (!compound(y) || len(a.Raw()) > len(b.Raw())) {
		return a
	}
	return b
}

func compound(v value.Value) bool { return v.Kind() == value.Object || v.Kind() == value.Array }

func blank(v value.Value) bool {
	return v.Kind() == value.Invalid || v.Kind() == value.Null || compound(v) && v.Len() == 0 ||
		v.Kind() == value.String && strings.TrimSpace(v.Str()) == ""
}

// callCount is the number of calls in a value.
func callCount(v value.Value) (n int) {
	for _, t := range message.Said(v, callvet.RoleAssistant) {
		n += len(t.Calls)
	}
	return n
}

// differing returns the names of the arguments that differ between the executed call and the
// model's call. "" means the whole value, where one of the two is no object. The list is empty
// where one of them is unknown.
func differing(gave, ran *callvet.Call) []string {
	if ran.Args == nil || gave.Args == nil && gave.ArgsRaw == "" {
		return nil
	}
	a, errA := gave.ArgsValue()
	b, errB := ran.ArgsValue()
	switch {
	case errB != nil || errA == nil && value.Equal(a, b):
		return nil
	case errA != nil || a.Kind() != value.Object || b.Kind() != value.Object:
		return []string{""}
	}
	var out []string
	for _, pair := range [][2]value.Value{{a, b}, {b, a}} {
		for m, ok := pair[0].First(); ok; m, ok = pair[0].Next(m) {
			if other, _ := pair[1].Get(m.Key()); !value.Equal(m, other) && !slices.Contains(out, m.Key()) {
				out = append(out, m.Key())
			}
		}
	}
	return out
}

// differ is the remark on a call with executed arguments that differ from the model's, "" without
// a difference. The model's arguments are scored.
func differ(gave, ran *callvet.Call) string {
	keys := differing(gave, ran)
	if len(keys) == 0 {
		return ""
	}
	remark := "the executed arguments of a call of " + gave.Tool + " differ from those that the model gave"
	const most = 5
	if names := strings.Join(keys[:min(len(keys), most)], ", "); names != "" {
		remark += ": " + names
	}
	return remark
}

// matchCalls finds, for each call in a tool's record, the call that a model made: by id, else by
// name and arguments, else by name and order. done is true for records with such a call; join is
// called for these. rest are the calls of open without a record.
func matchCalls(open []*callvet.Call, recorded []callvet.Call,
	join func(to *callvet.Call, i int),
) (rest []*callvet.Call, done []bool) {
	done = make([]bool, len(recorded))
	written := map[*callvet.Call]string{} // once for each, as there may be many pairs
	for _, c := range open {
		written[c] = compactArgs(c.Args)
	}
	for i := range recorded {
		written[&recorded[i]] = compactArgs(recorded[i].Args)
	}
	for _, same := range []func(o, c *callvet.Call) bool{
		func(o, c *callvet.Call) bool { return c.ID != "" && o.ID == c.ID },
		func(o, c *callvet.Call) bool { return alike(o, c) && written[c] != "" && written[o] == written[c] },
		alike,
	} {
		for i := range recorded {
			at := slices.IndexFunc(open, func(o *callvet.Call) bool { return same(o, &recorded[i]) })
			if done[i] || at < 0 {
				continue
			}
			join(open[at], i)
			open, done[i] = slices.Delete(open, at, at+1), true
		}
	}
	return open, done
}

// alike reports whether two calls have the same tool, and no different ids.
func alike(o, c *callvet.Call) bool { return (c.ID == "" || o.ID == "") && o.Tool == c.Tool }

// sameArgs compares the texts of arguments, ignoring white space; unknown arguments equal no
// others.
func sameArgs(a, b json.RawMessage) bool {
	x := compactArgs(a)
	return x != "" && x == compactArgs(b)
}

func compactArgs(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return ""
	}
	return b.String()
}
