// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Unreadable is why the text of a call's arguments cannot be read as arguments: it is not JSON, or
// it is JSON that parsers read differently.
func Unreadable(raw string) string {
	if !json.Valid([]byte(raw)) {
		return "the arguments are not JSON"
	}
	if key, twice := duplicateKey(raw); twice {
		return fmt.Sprintf("the arguments have the key %q twice", key)
	}
	return "the arguments are JSON with a text that is not Unicode, or nested too deep"
}

// Unreadable is why the call cannot be read. payload is the text of its arguments.
func (c *Call) Unreadable(payload string) string {
	if c.Nameless() {
		return "the call names no tool"
	}
	return Unreadable(payload)
}

// duplicateKey is the first key that occurs twice in an object of a valid JSON text.
func duplicateKey(raw string) (string, bool) {
	type frame struct {
		keys map[string]bool // nil: an array
		name bool            // a key comes next
	}
	var open []frame
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return "", false
		}
		if key, ok := tok.(string); ok && len(open) > 0 && open[len(open)-1].name {
			top := &open[len(open)-1]
			if top.keys[key] {
				return key, true
			}
			top.keys[key], top.name = true, false
			continue
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, frame{keys: map[string]bool{}, name: true})
			continue
		case json.Delim('['):
			open = append(open, frame{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		if len(open) > 0 { // a value ended
			open[len(open)-1].name = open[len(open)-1].keys != nil
		}
	}
}

// ToolName is the name of a tool in a sentence: in quotes where it is empty or has white space
// around it, which is otherwise invisible.
func ToolName(s string) string {
	if s == "" || s != strings.TrimSpace(s) {
		return strconv.Quote(s)
	}
	return s
}
