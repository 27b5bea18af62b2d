// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// corpus is text that argument values may come from: folded as exact mode
// compares strings, with its numbers.
type corpus struct {
	text    []byte
	numbers []float64 // sorted
}

// maxCorpus bounds the text searched for sources.
const maxCorpus = 1 << 20

func readSources(c *callvet.Case) corpus {
	var s corpus
	for i := range c.Input {
		t := &c.Input[i]
		if t.Role == callvet.RoleUser || t.Role == callvet.RoleTool {
			s.add([]byte(t.Content))
		}
		for j := range t.Calls {
			s.add(t.Calls[j].Result)
		}
	}
	s.add([]byte(c.Context))
	return s
}

func (s *corpus) add(text []byte) {
	if len(text) == 0 || len(s.text)+len(text) > maxCorpus {
		return
	}
	if len(s.text) > 0 {
		s.text = append(s.text, '\n')
	}
	s.text = match.Fold(s.text, text)
	s.numbers = numbersIn(s.numbers, text)
	slices.Sort(s.numbers)
}

// grounding scores the values of all calls by whether they have a source: the
// case's texts or the result of an earlier call.
func (w *scratch) grounding(l *scoreList) {
	g := grounder{sources: &w.k.sources, buf: w.text}
	for j := range w.calls {
		a := &w.calls[j]
		if j > 0 && len(w.calls[j-1].src.Result) > 0 {
			if g.sources == &w.k.sources {
				w.earlier.text = append(w.earlier.text[:0], w.k.sources.text...)
				w.earlier.numbers = append(w.earlier.numbers[:0], w.k.sources.numbers...)
				g.sources = &w.earlier
			}
			w.earlier.add(w.calls[j-1].src.Result)
		}
		if len(g.sources.text) > 0 && a.args.Kind() == value.Object {
			g.walk(a.args)
		}
	}
	w.text = g.buf
	if g.total > 0 {
		l.add(GroundedArgs, share(g.found, g.total, 1))
	}
}

type grounder struct {
	sources      *corpus
	buf          []byte
	found, total int
}

func (g *grounder) walk(v value.Value) {
	switch v.Kind() {
	case value.String, value.Number:
		if v.Kind() == value.String && len(v.Bytes()) == 0 {
			return
		}
		g.total++
		g.found += truth(g.has(v))
	case value.Object, value.Array:
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			g.walk(e)
		}
	}
}

// has reports whether a string occurs as whole words (all of them, anywhere), or
// a number as a number.
func (g *grounder) has(v value.Value) bool {
	if v.Kind() == value.Number {
		if holds(g.sources.text, v.Raw()) {
			return true
		}
		f, ok := v.Float()
		if !ok {
			return false
		}
		_, found := slices.BinarySearch(g.sources.numbers, math.Abs(f))
		return found
	}
	g.buf = match.Fold(g.buf[:0], v.Bytes())
	if len(g.buf) == 0 || holds(g.sources.text, g.buf) {
		return true
	}
	words := 0
	for rest := g.buf; len(rest) > 0; {
		start := 0
		for start < len(rest) && !wordByte(rest[start]) {
			start++
		}
		end := start
		for end < len(rest) && wordByte(rest[end]) {
			end++
		}
		if start < end {
			words++
			if !holds(g.sources.text, rest[start:end]) {
				return false
			}
		}
		rest = rest[end:]
	}
	return words > 0
}

// holds reports whether needle stands in text without a letter or digit of a
// longer word directly beside it.
func holds(text, needle []byte) bool {
	for at := 0; ; {
		i := bytes.Index(text[at:], needle)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(needle)
		left := start == 0 || !wordByte(needle[0]) || !wordByte(text[start-1])
		right := end == len(text) || !wordByte(needle[len(needle)-1]) || !wordByte(text[end])
		if left && right {
			return true
		}
		at = start + 1
	}
}

// wordByte counts every byte of a letter outside ASCII as part of a word.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// numbersIn appends the magnitudes of the numbers in a text: digits with
// decimals and thousands separators. Digits inside words (B12), and the numbers
// that only count the lines of a list, are left out.
func numbersIn(dst []float64, s []byte) []float64 {
	for i := 0; i < len(s); {
		if !digit(s[i]) {
			i++
			continue
		}
		start := i
		i = numberEnd(s, i)
		if start > 0 && (wordByte(s[start-1]) || s[start-1] == '_') || listNumber(s, start, i) {
			continue
		}
		f, err := strconv.ParseFloat(string(bytes.ReplaceAll(s[start:i], []byte(","), nil)), 64)
		if err == nil {
			dst = append(dst, f)
		}
	}
	return dst
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// numberEnd is where the number that starts at i ends.
func numberEnd(s []byte, i int) int {
	for i < len(s) && digit(s[i]) {
		i++
	}
	for i+3 < len(s) && s[i] == ',' && digit(s[i+1]) && digit(s[i+2]) && digit(s[i+3]) && (i+4 == len(s) || !digit(s[i+4])) {
		i += 4
	}
	if i+1 < len(s) && s[i] == '.' && digit(s[i+1]) {
		for i++; i < len(s) && digit(s[i]); i++ {
		}
	}
	return i
}

func listNumber(s []byte, start, end int) bool {
	if end+1 >= len(s) || s[end] != '.' && s[end] != ')' || s[end+1] != ' ' {
		return false
	}
	for start > 0 && (s[start-1] == ' ' || s[start-1] == '\t') {
		start--
	}
	return start == 0 || s[start-1] == '\n'
}
