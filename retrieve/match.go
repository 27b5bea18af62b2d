// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/callvet/callvet"
)

// Match is the common text of a question and a tool.
type Match struct {
	// Words are the words of the question that the tool has in some form, in their order.
	Words []MatchedWord
	// Keywords and Examples are the tool's keywords and examples with one of these words; under
	// Additive the ones within the question.
	Keywords, Examples []string
}

// MatchedWord is a word as written in the question, with the tool's fields that have it.
type MatchedWord struct {
	Text   string
	Fields []string
}

// Match compares a question with one tool of any rank; vectors are not considered. The error
// wraps ErrNotFound for a tool that the index does not have.
func (x *Index) Match(question, id string) (Match, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	doc, ok := x.lexical.Doc(id)
	if !ok {
		return Match{}, fmt.Errorf("match tool %q: it is not in the catalog: %w", id, callvet.ErrNotFound)
	}
	if x.options.Formula == Additive {
		return x.matchPoints(question, doc), nil
	}
	asked, written := x.analyzer.Asked(question, x.spoken), asWritten(question)
	var m Match
	terms := map[string][]string{} // by field
	for i, p := range x.lexical.Explain(x.groups(question), doc) {
		if p.Term == "" {
			continue
		}
		w := MatchedWord{Text: cmp.Or(written[asked[i]], asked[i])}
		for _, f := range p.Fields {
			w.Fields = append(w.Fields, f.Field)
			terms[f.Field] = append(terms[f.Field], p.Term)
		}
		if !slices.ContainsFunc(m.Words, func(o MatchedWord) bool { return o.Text == w.Text }) {
			m.Words = append(m.Words, w)
		}
	}
	e := &x.entries[doc]
	m.Keywords = x.holding(slices.Concat(e.Keywords, e.Tool.Tags), terms[fieldKeyword])
	m.Examples = x.holding(e.Examples, terms[fieldExample])
	return m, nil
}

// The names of fields in bm25.
const (
	fieldKeyword = "keywords"
	fieldExample = "examples"
)

// holding returns the texts with one of the terms.
func (x *Index) holding(texts, terms []string) (out []string) {
	for _, t := range texts {
		stems := slices.Concat(x.analyzer.Query(t, x.spoken)...)
		if slices.ContainsFunc(terms, func(term string) bool { return slices.Contains(stems, term) }) &&
			!slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// matchPoints is Match under Additive, which compares substrings regardless of word borders.
func (x *Index) matchPoints(question string, doc int) (m Match) {
	q, a, e := additiveForm(question), &x.additive[doc], &x.entries[doc]
	for word, form := range asAdditive(question) {
		if strings.Contains(a.description, form) {
			m.Words = append(m.Words, MatchedWord{Text: word, Fields: []string{"description"}})
		}
	}
	slices.SortFunc(m.Words, func(a, b MatchedWord) int {
		return cmp.Compare(strings.Index(question, a.Text), strings.Index(question, b.Text))
	})
	within := func(texts []string) (out []string) {
		for _, t := range texts {
			if f := additiveForm(t); f != "" && strings.Contains(q, f) {
				out = append(out, t)
			}
		}
		return out
	}
	m.Keywords, m.Examples = within(e.Keywords), within(e.Examples)
	return m
}

// asAdditive are the words of a question with their forms under Additive.
func asAdditive(question string) map[string]string {
	out := map[string]string{}
	for _, w := range strings.FieldsFunc(question, notOfWords) {
		if f := additiveForm(w); f != "" && !strings.Contains(f, " ") {
			out[w] = f
		}
	}
	return out
}

func notOfWords(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r)
}

// asWritten maps folded forms to the words as written in a question, without parts of words, as
// in getHTTPPage.
func asWritten(question string) map[string]string {
	out := map[string]string{}
	for _, w := range strings.FieldsFunc(question, notOfWords) {
		if f := Fold(w); out[f] == "" {
			out[f] = w
		}
	}
	return out
}
