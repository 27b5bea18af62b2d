// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// LostCall is a call that cannot be read: the record v has no name of a tool, or no form that is
// known. The payload is the record.
func LostCall(v value.Value) callvet.Call {
	raw := v.Raw()
	return callvet.Call{ArgsRaw: strings.ToValidUTF8(string(raw[:min(len(raw), maxLost)]), "\ufffd")}
}

// maxLost is how much is kept of a record that is no call.
const maxLost = 4 << 10

// NewCustomCall reads a call with an input that is a text, as custom tools have it. A text that is
// an object of JSON gives arguments as those of other calls do; any other is one string.
func NewCustomCall(id, name, input string) callvet.Call {
	if s := strings.Trim(input, " \t\r\n"); strings.HasPrefix(s, "{") && value.Valid([]byte(s)) {
		return NewCall(id, name, input)
	}
	text, err := json.Marshal(input)
	if err != nil { // a text always encodes
		text = nil
	}
	return callvet.Call{ID: id, Tool: name, Args: text}
}

// MergeCalls adds the calls of one form of an answer to those of another form, where they are no
// repetition.
func MergeCalls(calls, more []callvet.Call) []callvet.Call {
	for i := range more {
		c := &more[i]
		again := false
		for j := range calls {
			again = again || c.ID != "" && calls[j].ID == c.ID ||
				calls[j].Tool == c.Tool && calls[j].ArgsRaw == c.ArgsRaw && sameJSON(calls[j].Args, c.Args)
		}
		if !again {
			calls = append(calls, *c)
		}
	}
	return calls
}

func sameJSON(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	x, err := value.Parse(a)
	if err != nil {
		return false
	}
	y, err := value.Parse(b)
	return err == nil && value.Equal(x, y)
}

// Empty reports whether a value holds nothing: it is not there, null, a blank text, {} or [], or
// an object of such values.
func Empty(v value.Value) bool {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return true
	case value.String:
		s := strings.TrimSpace(v.Str())
		return s == "" || s == "{}"
	case value.Array:
		return v.Len() == 0
	case value.Object:
		for m, ok := v.First(); ok; m, ok = v.Next(m) {
			if !Empty(m) {
				return false
			}
		}
		return true
	}
	return false
}
