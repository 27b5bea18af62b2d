// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/value"
)

// DraftReason is the skip reason of a draft: a person removes the line to approve the case.
const DraftReason = "draft: not approved; write what a user would say, check what is expected, and remove this line"

// maxAskLen is how much of a description a draft repeats, in characters.
const maxAskLen = 200

// Draft makes a case from a tool's description: a prompt that does not name the tool, and the
// expectation that the tool is called. It is a draft for a person, and does not run until it is
// approved.
func Draft(t *Tool) callvet.Case {
	ask := asked(t)
	if have := t.have(); have != "" {
		ask += "\n" + have
	}
	return callvet.Case{
		ID: "draft-" + word(t.Name), Description: "Made from the description of " + t.Name +
			", not from a user's question", Tags: []string{"draft"},
		Input:  []callvet.Turn{{Role: callvet.RoleUser, Content: ask}},
		Expect: callvet.Expect{ToolsCalled: []string{t.Name}}, Skip: DraftReason,
	}
}

// word converts a name for the id of a case.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '-'
	}, name)
}

// asked is the first sentence of the description as a user's request, without the name of the tool.
func asked(t *Tool) string {
	text, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i]
	}
	text = strings.TrimRight(strings.Join(strings.Fields(text), " "), ".!:;, ")
	if n := utf8.RuneCountInString(text); n == 0 || n > maxAskLen || names(text, t.Name) {
		return "Please do what is needed with this."
	}
	first, size := utf8.DecodeRuneInString(text)
	if second, _ := utf8.DecodeRuneInString(text[size:]); !unicode.IsUpper(second) {
		text = string(unicode.ToLower(first)) + text[size:]
	}
	return "I need this done: " + text + "."
}

// names reports whether a text contains the name of a tool, unchanged or as words: "list issues"
// names list_issues, "list the issues" does not.
func names(text, name string) bool {
	return strings.Contains(plainWords(text), plainWords(name))
}

// plainWords are the small letters and digits of a text: getWeather, get_weather and "get weather" are one.
func plainWords(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// have is a sentence with values for the required arguments.
func (t *Tool) have() string {
	s, err := contract.Compile(t.Parameters)
	if err != nil || t.Parameters == nil {
		return ""
	}
	var parts []string
	for _, name := range s.Required() {
		v, err := json.Marshal(name)
		if err != nil || strings.Contains(plainWords(name), plainWords(t.Name)) {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %s", strings.Trim(string(v), `"`), t.example(s, name)))
	}
	return strings.Join(parts, "\n")
}

// example is a value that the schema of an argument probably allows.
func (t *Tool) example(s *contract.Schema, name string) string {
	schema, err := value.Parse(t.Parameters)
	if err != nil {
		return "?"
	}
	properties, _ := schema.Get("properties")
	of, _ := properties.Get(name)
	for _, key := range []string{"const", "default"} {
		if v, ok := of.Get(key); ok {
			return string(v.Raw())
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if list, ok := of.Get(key); ok {
			if v, ok := list.First(); ok {
				return string(v.Raw())
			}
		}
	}
	switch s.Type(name) {
	case "integer", "number":
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[…]"
	case "object":
		return "{…}"
	}
	return "…"
}
