// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"slices"
	"strings"

	"github.com/callvet/callvet/retrieve"
)

// Question is a case of a suite: its question and the right tools.
type Question struct {
	Case, Text string
	Right      []string
}

// Leak is a question that an edit adds to the catalog: a model that answers it has then read it
// before.
type Leak struct {
	Case string `json:"case"`
	Tool string `json:"tool"`
	// Text is the text of the edit.
	Text string `json:"text"`
}

// Leaks are the questions that texts of edits contain, nearly or word for word, and the tool's
// texts did not contain before. Each is listed at most once, in the order of the questions.
func Leaks(c *retrieve.Catalogue, edits []Edit, questions []Question) []Leak {
	before := map[string][]phrase{}
	for i := range c.Entries {
		before[c.Entries[i].Tool.Name] = nil
	}
	after := make([][]phrase, len(edits))
	for i := range edits {
		after[i] = phrases(edits[i].Texts())
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		if slices.ContainsFunc(edits, func(d Edit) bool { return d.Tool == e.Tool.Name }) {
			before[e.Tool.Name] = phrases(ownTexts(e))
		}
	}
	var out []Leak
	for _, q := range questions {
		words := retrieve.Words(q.Text)
		for i := range edits {
			at := slices.IndexFunc(after[i], func(p phrase) bool { return p.holds(words) })
			if at < 0 || slices.ContainsFunc(before[edits[i].Tool], func(p phrase) bool { return p.holds(words) }) {
				continue
			}
			out = append(out, Leak{Case: q.Case, Tool: edits[i].Tool, Text: after[i][at].text})
			break
		}
	}
	return out
}

// Leaked marks the questions that texts of the catalog contain, nearly or word for word: a reader
// of the catalog has read them. Example questions do not count, because a Prompt leaves them out.
func Leaked(c *retrieve.Catalogue, questions []Question) []bool {
	var all []phrase
	for i := range c.Entries {
		e := c.Entries[i]
		e.Examples = nil
		all = append(all, phrases(ownTexts(&e))...)
	}
	having := map[string][]int{}
	for i := range all {
		for w := range all[i].has {
			having[w] = append(having[w], i)
		}
	}
	out := make([]bool, len(questions))
	for i, q := range questions {
		words := retrieve.Words(q.Text)
		// A text with nearly all words has one of the rarest of them.
		rare := slices.SortedFunc(slices.Values(words),
			func(a, b string) int { return len(having[a]) - len(having[b]) })
		for _, w := range rare[:min(len(rare), int((1-nearlyAll)*float64(len(rare)))+1)] {
			out[i] = out[i] || slices.ContainsFunc(having[w], func(at int) bool { return all[at].holds(words) })
		}
	}
	return out
}

// without leaves out the texts that contain one of some questions.
func without(texts []string, questions []Question) []string {
	out := slices.Clone(texts)
	for _, q := range questions {
		words := retrieve.Words(q.Text)
		out = slices.DeleteFunc(out, func(s string) bool {
			p := phrases([]string{s})
			return p[0].holds(words)
		})
	}
	return out
}

// ownTexts are the texts of a tool that edits can change.
func ownTexts(e *retrieve.Entry) []string {
	out := append([]string{e.Title, e.Tool.Description}, e.Keywords...)
	return append(append(out, e.Examples...), string(e.Tool.Parameters))
}

// phrase is a text as words.
type phrase struct {
	text  string
	words []string
	has   map[string]bool
}

func phrases(texts []string) []phrase {
	var out []phrase
	for _, s := range texts {
		p := phrase{text: s, words: retrieve.Words(s), has: map[string]bool{}}
		for _, w := range p.words {
			p.has[w] = true
		}
		out = append(out, p)
	}
	return out
}

// Questions of fewer words than fewWords are contained in any text; they leak only where they are
// the whole text. From manyWords on, nearlyAll of the words in their order, close together, are
// the question.
const (
	fewWords  = 3
	manyWords = 5
	nearlyAll = 0.85
)

func (p *phrase) holds(question []string) bool {
	n := len(question)
	switch {
	case n == 0:
		return false
	case n < fewWords:
		return slices.Equal(p.words, question)
	}
	shared := 0
	for _, w := range question {
		if p.has[w] {
			shared++
		}
	}
	if float64(shared) < nearlyAll*float64(n) {
		return false
	}
	for i := 0; i+n <= len(p.words); i++ {
		if slices.Equal(p.words[i:i+n], question) {
			return true
		}
	}
	if n < manyWords {
		return false
	}
	for i := range p.words {
		window := p.words[i:min(i+n+2, len(p.words))]
		if float64(common(window, question)) >= nearlyAll*float64(n) {
			return true
		}
	}
	return false
}

// common is the length of the longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// normal is a question in a normalized form.
func normal(question string) string { return strings.Join(retrieve.Words(question), " ") }
