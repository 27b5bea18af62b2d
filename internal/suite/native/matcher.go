// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// The short matchers are a word and its value: {regex: "^A"} stands for
// {mode: regex, value: "^A"}.
const (
	matcherWords = "any_of regex present absent type fuzzy numeric date contains unordered subset partial semantic exact strict case_insensitive text"
	matcherMods  = "mode value optional epsilon relative threshold tolerance unanchored unordered"
)

// Modes lists every comparison that scoring knows.
func Modes() []string {
	return []string{
		"exact", "strict", "case_insensitive", "contains", "fuzzy", "numeric_tolerance", "date", "regex", "semantic",
		"any_of", "present", "absent", "type", "unordered", "subset", "partial", "text",
	}
}

func wordMode(word string) string {
	if word == "numeric" {
		return "numeric_tolerance"
	}
	return word
}

// ReadMatchers reads a mapping of arguments, by name or path, to matchers.
func ReadMatchers(d *doc.File) (map[string]callvet.Matcher, []callvet.Problem) {
	r := &reader{doc: d, format: "matchers"}
	r.duplicates()
	out := map[string]callvet.Matcher{}
	r.fields(&d.Root, "", func(key string, v *doc.Node) bool {
		out[key] = r.matcher(v)
		return true
	})
	return out, r.done()
}

// matcher reads a plain value, a short matcher or the long form.
func (r *reader) matcher(n *doc.Node) callvet.Matcher {
	var m callvet.Matcher
	if n.Kind != doc.Map {
		m.Value = n.JSON()
		return m
	}
	if len(n.Items) == 0 {
		r.problem(n.At, "bad-matcher", "write {value: {}} for an empty object", "the matcher is empty")
		return m
	}
	word := ""
	r.fields(n, matcherWords+" "+matcherMods, func(key string, v *doc.Node) bool {
		if isWord(key) && (key != "unordered" || v.Kind != doc.Bool) {
			if word != "" || n.Get("mode") != nil || n.Get("value") != nil {
				r.problem(v.At, "bad-matcher", "keep one", "the matcher has two comparisons")
				return true
			}
			word = key
			r.word(&m, key, v)
			return true
		}
		return r.matcherField(&m, key, v)
	})
	return m
}

func isWord(key string) bool {
	for w := range strings.FieldsSeq(matcherWords) {
		if w == key {
			return true
		}
	}
	return false
}

func (r *reader) word(m *callvet.Matcher, word string, v *doc.Node) {
	m.Mode = wordMode(word)
	switch word {
	case "present", "absent":
		if !r.boolean(v) && v.Kind == doc.Bool {
			other := map[string]string{"present": "absent", "absent": "present"}[word]
			r.problem(v.At, "bad-matcher", other+": true", "%s: false says nothing", word)
		}
		return
	case "any_of", "unordered":
		if v.Kind != doc.List {
			r.wrongKind(v, "a list of values")
		}
	case "regex", "type":
		r.str(v)
	case "numeric":
		r.number(v, -1e308)
	}
	m.Value = v.JSON()
}

func (r *reader) matcherField(m *callvet.Matcher, key string, v *doc.Node) bool {
	switch key {
	case "mode":
		m.Mode = r.choice(v, Modes()...)
	case "value":
		m.Value = v.JSON()
	case "optional":
		m.Optional = r.boolean(v)
	case "epsilon":
		m.Epsilon = r.number(v, 0)
	case "relative":
		m.Relative = r.number(v, 0)
	case "threshold":
		m.Threshold = r.number(v, 0)
	case "tolerance":
		m.Tolerance = r.str(v)
	case "unanchored":
		m.Unanchored = r.boolean(v)
	case "unordered":
		m.Unordered = r.boolean(v)
	default:
		return false
	}
	return true
}
