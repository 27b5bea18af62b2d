// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// Modes lists every comparison that scoring knows.
func Modes() []string { return slices.Clone(forms()["matcherForm"].key("mode").form.words) }

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
	r.fields(&d.Root, nil, func(key string, v *doc.Node) bool {
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
	f := forms()["matcherForm"]
	r.members(f, n, reflect.ValueOf(&m).Elem(), func(key string, v *doc.Node) bool {
		switch {
		case !isWord(key):
			return false
		case key == "unordered" && v.Kind == doc.Bool:
			m.Unordered = r.boolean(v)
		case word != "" || n.Get("mode") != nil || n.Get("value") != nil:
			r.problem(v.At, "bad-matcher", "keep one", "the matcher has two comparisons")
		default:
			word = key
			r.word(&m, key, v)
		}
		return true
	})
	return m
}

// isWord returns whether a key is a short matcher, a comparison with its value: {regex: "^A"}
// stands for {mode: regex, value: "^A"}. Those are the keys without a field, and unordered.
func isWord(key string) bool {
	k := forms()["matcherForm"].key(key)
	return key == "unordered" || k != nil && k.field == nil
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
		r.number(v, -1e308, 1e308)
	}
	m.Value = v.JSON()
}
