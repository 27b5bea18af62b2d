// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// Modes lists every comparison that scoring knows.
func Modes() []string { return slices.Clone(forms()["matcherForm"].Key("mode").Shape.Words) }

func wordMode(word string) string {
	if word == "numeric" {
		return "numeric_tolerance"
	}
	return word
}

// ReadMatchers reads a mapping of arguments, by name or path, to matchers.
func ReadMatchers(d *doc.File) (map[string]callvet.Matcher, []callvet.Problem) {
	r := newReader(d, "matchers")
	r.Duplicates()
	out := map[string]callvet.Matcher{}
	r.Fields(&d.Root, nil, func(key string, v *doc.Node) bool {
		out[key] = r.matcher(v)
		return true
	})
	return out, r.Done()
}

// matcher reads a plain value, a short matcher or the long form.
func (r *reader) matcher(n *doc.Node) callvet.Matcher {
	var m callvet.Matcher
	if n.Kind != doc.Map {
		m.Value = n.JSON()
		return m
	}
	if len(n.Items) == 0 {
		r.Note(n.At, "bad-matcher", "write {value: {}} for an empty object", "the matcher is empty")
		return m
	}
	word := ""
	f := forms()["matcherForm"]
	r.Members(f, n, reflect.ValueOf(&m).Elem(), func(key string, v *doc.Node) bool {
		switch {
		case !isWord(key):
			return false
		case key == "unordered" && v.Kind == doc.Bool:
			m.Unordered = r.Bool(v)
		case word != "" || n.Get("mode") != nil || n.Get("value") != nil:
			r.Note(v.At, "bad-matcher", "keep one", "the matcher has two comparisons")
		default:
			word = key
			r.word(&m, key, v)
		}
		return true
	})
	return m
}

// isWord returns whether a key is a short matcher, a comparison with its value: {regex: "^A"}
// stands for {mode: regex, value: "^A"}. These are the keys without a field, and unordered.
func isWord(key string) bool {
	k := forms()["matcherForm"].Key(key)
	return key == "unordered" || k != nil && k.Field == nil
}

func (r *reader) word(m *callvet.Matcher, word string, v *doc.Node) {
	m.Mode = wordMode(word)
	switch word {
	case "present", "absent":
		if !r.Bool(v) && v.Kind == doc.Bool {
			other := map[string]string{"present": "absent", "absent": "present"}[word]
			r.Note(v.At, "bad-matcher", other+": true", "%s: false says nothing", word)
		}
		return
	case "any_of", "unordered":
		if v.Kind != doc.List {
			r.WrongKind(v, "a list of values")
		}
	case "regex", "type":
		r.Str(v)
	case "numeric":
		r.Number(v, -1e308, 1e308)
	}
	m.Value = v.JSON()
}
