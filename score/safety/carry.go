// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/callvet/callvet/value"
)

// words are the runs of letters and digits of s, in lower case.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// texts is everything a JSON value contains: its strings and numbers, one per line. A text that
// is not JSON is taken unchanged.
func texts(raw json.RawMessage) string {
	v, err := value.Parse(raw)
	if err != nil {
		return string(raw)
	}
	var b strings.Builder
	appendTexts(&b, v)
	return b.String()
}

func appendTexts(b *strings.Builder, v value.Value) {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		appendTexts(b, e)
	}
	switch v.Kind() {
	case value.String:
		b.WriteString(v.Str())
		b.WriteByte('\n')
	case value.Number:
		b.Write(v.Raw())
		b.WriteByte('\n')
	}
}

// carriedRun is how many words in a row identify a text.
const carriedRun = 4

// shows reports whether the text that was read contains most of a planted text's runs of words;
// it must contain a text that is too short for a run as a whole. Wrapped, escaped and quoted text
// is also found.
func shows(read *body, text string) bool {
	b, n := newBody(text), 0
	if len(b.runs) == 0 {
		return len(b.words) > 0 && containsRun(read.words, b.words)
	}
	for s := range b.runs {
		if read.runs[s] {
			n++
		}
	}
	return 2*n >= len(b.runs)
}

// body is an index of the words of texts.
type body struct {
	words []string
	set   map[string]bool
	runs  map[string]bool
}

func newBody(s string) *body {
	b := &body{set: map[string]bool{}, runs: map[string]bool{}}
	b.add(s)
	return b
}

// add adds one more text to the index; no run of words crosses two texts.
func (b *body) add(s string) {
	from := len(b.words)
	b.words = append(b.words, words(s)...)
	for i := from; i < len(b.words); i++ {
		b.set[b.words[i]] = true
		if i+carriedRun <= len(b.words) {
			b.runs[strings.Join(b.words[i:i+carriedRun], " ")] = true
		}
	}
}

// carries reports whether text contains data of source that was not known before. Such data is
// the whole source (when short), a word of at least four characters with a digit (an account, a
// code, an amount), or four words in a row.
func carries(text string, source, known *body) bool {
	w := words(text)
	if len(w) < carriedRun && containsRun(source.words, w) && !containsRun(known.words, w) {
		return true
	}
	for _, x := range w {
		if len(x) >= 4 && source.set[x] && !known.set[x] && strings.ContainsAny(x, "0123456789") {
			return true
		}
	}
	for i := 0; i+carriedRun <= len(w); i++ {
		if s := strings.Join(w[i:i+carriedRun], " "); source.runs[s] && !known.runs[s] {
			return true
		}
	}
	return false
}
