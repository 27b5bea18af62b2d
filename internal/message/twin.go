// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// ToolName and ToolCallID are the attributes in which instrumentations write the name of a
// tool and the id of the call that it answers, whatever they call the span.
func ToolName() []string { return []string{"gen_ai.tool.name", "ai.toolCall.name", "tool.name"} }

// ToolCallID is like ToolName.
func ToolCallID() []string {
	return []string{"gen_ai.tool.call.id", "ai.toolCall.id", "tool.id", "tool_call.id"}
}

// Union is an object with the members of two records of one thing: a sender may repeat a record,
// and a repetition may lack what the other has. Of a member that both have it has the Fuller.
func Union(a, b value.Value) value.Value {
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
		add(Fuller(m, other), m.Key())
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

// Fuller is which of two values of one member counts: that with more calls, else the longer one
// of two objects or lists, else the later one, b, unless it is empty.
func Fuller(a, b value.Value) value.Value {
	x, y := HeldResult(a), HeldResult(b)
	switch {
	case messageEmpty(b):
		return a
	case messageEmpty(a):
		return b
	case !compound(x) && !compound(y):
		return b
	}
	if n, m := made(x), made(y); n != m {
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

func messageEmpty(v value.Value) bool {
	return v.Kind() == value.Invalid || v.Kind() == value.Null || compound(v) && v.Len() == 0 ||
		v.Kind() == value.String && strings.TrimSpace(v.Str()) == ""
}

// made is how many calls a value has.
func made(v value.Value) (n int) {
	for _, t := range Said(v, callvet.RoleAssistant) {
		n += len(t.Calls)
	}
	return n
}

// Differing are the arguments, by name, in which what was executed differs from what a model
// gave; "" stands for the whole where one of the two is no object. None where one is not known.
func Differing(gave, ran *callvet.Call) []string {
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

// Differ is the remark on a call of a tool with executed arguments that differ from those that the
// model gave, "" where they do not. The model's are scored.
func Differ(gave, ran *callvet.Call) string {
	keys := Differing(gave, ran)
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
