// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/callvet/callvet"
)

// RoutePattern is a case-insensitive regular expression in RE2's syntax with Unicode \b, \B, \w and
// \W: letters, marks, digits and the underscore make words. Matching takes time in proportion to
// the text. Safe for concurrent use.
type RoutePattern struct {
	source string
	prog   *syntax.Prog
	// first has the runes that a match may begin with, one bit each; all runes beyond firstRunes
	// may. any: a match may begin with every rune, or be empty.
	first [firstRunes / 64]uint64
	any   bool
}

// firstRunes covers the letters of European languages in Latin script.
const firstRunes = 0x180

// maxPattern is the length in bytes of the longest pattern.
const maxPattern = 4096

// CompileRoutePattern reads a pattern. Errors wrap callvet.ErrInvalid: not RE2's syntax, \W within
// a class, too long.
func CompileRoutePattern(source string) (*RoutePattern, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("compile pattern: %w: more than %d bytes", callvet.ErrInvalid, maxPattern)
	}
	wide, err := widen(source)
	if err != nil {
		return nil, fmt.Errorf("compile pattern %q: %w: %w", source, callvet.ErrInvalid, err)
	}
	re, err := syntax.Parse(wide, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil, fmt.Errorf("compile pattern %q: %w: %w", source, callvet.ErrInvalid, err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, fmt.Errorf("compile pattern %q: %w: %w", source, callvet.ErrInvalid, err)
	}
	p := &RoutePattern{source: source, prog: prog}
	p.listFirst(uint32(prog.Start), map[uint32]bool{})
	return p, nil
}

// listFirst follows empty transitions and ignores their conditions.
func (p *RoutePattern) listFirst(pc uint32, seen map[uint32]bool) {
	if seen[pc] {
		return
	}
	seen[pc] = true
	switch in := &p.prog.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		p.listFirst(in.Out, seen)
		p.listFirst(in.Arg, seen)
	case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
		p.listFirst(in.Out, seen)
	case syntax.InstMatch:
		p.any = true
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		for r := range rune(firstRunes) {
			if in.MatchRune(r) {
				p.first[r/64] |= 1 << (r % 64)
			}
		}
	}
}

// begins reports whether a match may begin with a rune; -1 is the end of the text.
func (p *RoutePattern) begins(r rune) bool {
	return p.any || r >= firstRunes || r >= 0 && p.first[r/64]&(1<<(r%64)) != 0
}

// String is the pattern as it was written.
func (p *RoutePattern) String() string { return p.source }

const wordClass = `\pL\pM\p{Nd}_`

// widen expands \w and \W, which RE2 defines for ASCII only.
func widen(s string) (string, error) {
	var b strings.Builder
	class := 0 // where the class began; 0: outside
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			part, n, err := widenEscape(s[i:], class > 0)
			if err != nil {
				return "", err
			}
			b.WriteString(part)
			i += n - 1
			continue
		case c == '[' && class == 0:
			class = i + 1
		case c == ']' && class > 0 && i != class && (i != class+1 || s[class] != '^'):
			class = 0
		}
		b.WriteByte(s[i])
	}
	return b.String(), nil
}

// widenEscape returns the replacement of the escape at the start of s, and the escape's length.
func widenEscape(s string, inClass bool) (part string, n int, err error) {
	switch {
	case s[1] == 'Q' && !inClass: // up to the end of the quotation nothing is an escape
		end := strings.Index(s, `\E`)
		if end < 0 {
			end = len(s)
		}
		return s[:end], end, nil
	case s[1] == 'w' && inClass:
		return wordClass, 2, nil
	case s[1] == 'w':
		return "[" + wordClass + "]", 2, nil
	case s[1] == 'W' && inClass:
		return "", 0, errors.New(`\W within a class`)
	case s[1] == 'W':
		return "[^" + wordClass + "]", 2, nil
	}
	return s[:2], 2, nil
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// Find returns the first match, like regexp: the leftmost, by the order of alternatives. ok is
// false when there is none.
func (p *RoutePattern) Find(text string) (start, end int, ok bool) {
	return p.find(newSubject(text), &machine{})
}

// subject is a text with the empty-width conditions before each rune and at its end.
type subject struct {
	runes   []rune // and -1
	offsets []int
	holds   []syntax.EmptyOp
}

func newSubject(text string) *subject {
	s := &subject{}
	before := rune(-1)
	put := func(r rune, at int) {
		s.runes, s.offsets, s.holds = append(s.runes, r), append(s.offsets, at), append(s.holds, borders(before, r))
		before = r
	}
	for at, r := range text {
		put(r, at)
	}
	put(-1, len(text))
	return s
}

// borders are the empty-width conditions between two runes; -1 is an end of the text.
func borders(before, after rune) syntax.EmptyOp {
	var op syntax.EmptyOp
	if before < 0 {
		op |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	if before == '\n' {
		op |= syntax.EmptyBeginLine
	}
	if after < 0 {
		op |= syntax.EmptyEndText | syntax.EmptyEndLine
	}
	if after == '\n' {
		op |= syntax.EmptyEndLine
	}
	if isWord(before) != isWord(after) {
		return op | syntax.EmptyWordBoundary
	}
	return op | syntax.EmptyNoWordBoundary
}

// machine runs all threads of a program side by side, in order of preference. It can
// be used for one pattern after another.
// Source: Pike's simulation, as in Thompson 1968 and Cox 2009.
type machine struct {
	prog       *syntax.Prog
	now, next  threads
	start, end int
}

type thread struct {
	pc    uint32
	start int
}

// threads is an ordered set of threads by pc.
type threads struct {
	list []thread
	at   []int // of a pc in list; valid if list has it there
}

func (t *threads) reset(insts int) {
	t.list = t.list[:0]
	if len(t.at) < insts {
		t.at = make([]int, insts)
	}
}

func (t *threads) has(pc uint32) bool {
	i := t.at[pc]
	return i < len(t.list) && t.list[i].pc == pc
}

func (p *RoutePattern) find(s *subject, m *machine) (start, end int, ok bool) {
	m.prog, m.start, m.end = p.prog, -1, 0
	m.now.reset(len(p.prog.Inst))
	m.next.reset(len(p.prog.Inst))
	for i, r := range s.runes {
		if m.start < 0 && p.begins(r) { // a match further left has priority
			m.add(&m.now, uint32(p.prog.Start), s.offsets[i], s.holds[i])
		}
		if len(m.now.list) == 0 {
			if m.start >= 0 {
				break
			}
			continue
		}
		m.step(s, i)
		m.now, m.next = m.next, m.now
		m.next.list = m.next.list[:0]
	}
	return m.start, m.end, m.start >= 0
}

// add follows empty transitions.
func (m *machine) add(t *threads, pc uint32, start int, holds syntax.EmptyOp) {
	if t.has(pc) {
		return
	}
	t.at[pc] = len(t.list)
	t.list = append(t.list, thread{pc, start})
	switch in := &m.prog.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		m.add(t, in.Out, start, holds)
		m.add(t, in.Arg, start, holds)
	case syntax.InstCapture, syntax.InstNop:
		m.add(t, in.Out, start, holds)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(in.Arg)&^holds == 0 {
			m.add(t, in.Out, start, holds)
		}
	}
}

// step moves every thread over a rune; over the end of the text none goes.
func (m *machine) step(s *subject, i int) {
	r := s.runes[i]
	for _, t := range m.now.list {
		in := &m.prog.Inst[t.pc]
		switch in.Op {
		case syntax.InstMatch:
			m.start, m.end = t.start, s.offsets[i]
			return // threads further down are less preferred
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && in.MatchRune(r) {
				m.add(&m.next, in.Out, t.start, s.holds[i+1])
			}
		}
	}
}
