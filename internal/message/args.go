// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// The repairs, as they are written in Call.Repairs.
const (
	// InName: the function name was a JSON object that contained the call.
	InName = "call_in_name"
	// InText: the call was in the answer's text instead of a native call.
	InText = "call_in_text"
	// InPython: the call was written as Python source.
	InPython = "python_call"
	// InString: the arguments were a JSON string with the JSON inside.
	InString = "arguments_in_string"
	// NotStrict: the arguments contained text that is not JSON, such as NaN (value.Repairs).
	NotStrict = "not_strict_json"
)

// maxNesting is how many nested strings around an argument object are decoded.
const maxNesting = 3

// RepairArgs reads an argument payload. Empty or blank text means no arguments: {}. A string that
// contains an object (or nothing) is unwrapped, and the repair is recorded. args is nil when raw
// is not strict JSON (duplicate keys, invalid UTF-8, cut off): the caller keeps raw. Any other
// JSON value is returned unchanged.
func RepairArgs(raw string) (args json.RawMessage, repairs []string) {
	args, _, repairs = readArgs(raw)
	return args, repairs
}

// readArgs is RepairArgs that keeps the value of args, unless it was repaired.
func readArgs(raw string) (args json.RawMessage, kept callvet.Parsed, repairs []string) {
	s := strings.Trim(raw, " \t\r\n")
	if s == "" {
		return json.RawMessage("{}"), kept, nil
	}
	b := []byte(s)
	if b[0] != '"' {
		if v, err := value.Parse(b); err == nil {
			return b, callvet.ParsedOf(v), nil
		}
		strict, made, ok := value.Repair(b)
		switch {
		case !ok:
			return nil, kept, nil
		case made != 0:
			return strict, kept, []string{NotStrict}
		}
		return b, kept, nil
	}
	var d value.Doc
	if d.Parse(b) != nil {
		return nil, kept, nil
	}
	inner, broken := unwrapText(&d)
	switch {
	case broken:
		return nil, kept, nil
	case inner != nil:
		return inner, callvet.ParsedOf(d.Root()), []string{InString}
	}
	return b, kept, nil
}

// unwrapText decodes nested strings until an object appears. inner is nil when the string
// contains anything else. broken is true when the content begins like an object and is not JSON.
func unwrapText(d *value.Doc) (inner json.RawMessage, broken bool) {
	for range maxNesting {
		s := strings.Trim(d.Root().Str(), " \t\r\n")
		if s == "" {
			return json.RawMessage("{}"), false
		}
		b := []byte(s)
		if d.Parse(b) != nil {
			return nil, s[0] == '{'
		}
		switch d.Root().Kind() {
		case value.Object:
			return b, false
		case value.String:
		default:
			return nil, false
		}
	}
	return nil, false
}

// NewCall reads a native call. A name that starts with { is read as the whole
// call; its arguments count only where rawArgs has none. A call that cannot be
// read has nil Args and the payload in ArgsRaw (callvet.Call.Malformed).
func NewCall(id, name, rawArgs string) callvet.Call {
	if strings.HasPrefix(strings.TrimLeft(name, " \t\r\n"), "{") {
		return callInName(id, name, rawArgs)
	}
	c := callvet.Call{ID: id, Tool: name}
	c.Args, c.Parsed, c.Repairs = readArgs(rawArgs)
	if c.Args == nil || c.Repairs != nil {
		c.ArgsRaw = rawArgs
	}
	return c
}

func callInName(id, name, rawArgs string) callvet.Call {
	lost := callvet.Call{ID: id, Tool: name, ArgsRaw: rawArgs}
	if lost.ArgsRaw == "" {
		lost.ArgsRaw = name
	}
	v, err := value.Parse([]byte(strings.Trim(name, " \t\r\n")))
	if err != nil {
		return lost
	}
	s, ok := shapeOf(v)
	if !ok {
		return lost
	}
	if a := strings.Trim(rawArgs, " \t\r\n"); a == "" || a == "{}" {
		c := s.call(InName)
		c.ID, c.ArgsRaw = id, name
		return c
	}
	c := NewCall(id, s.name, rawArgs)
	c.Repairs = append([]string{InName}, c.Repairs...)
	return c
}
