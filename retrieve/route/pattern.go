// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package route

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// Pattern is a regular expression in RE2's syntax, without regard to case, whose \b,
// \B, \w and \W are those of Unicode: letters, marks, digits and the underscore make
// words. It takes time in proportion to the text. Safe for concurrent use.
type Pattern struct {
	source string
	prog   *syntax.Prog
}

// maxPattern is the length in bytes of the longest pattern.
const maxPattern = 4096

// Compile reads a pattern. Errors wrap callvet.ErrInvalid: not RE2's syntax, \W within
// a class, too long.
func Compile(source string) (*Pattern, error) {
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
	return &Pattern{source: source, prog: prog}, nil
}

// String is the pattern as it was written.
func (p *Pattern) String() string { return p.source }

const wordClass = `\pL\pM\p{Nd}_`

// widen writes \w and \W out, which RE2 knows for ASCII only.
func widen(s string) (string, error) {
	var b strings.Builder
	class := 0 // where the class began; 0: outside
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			switch {
			case s[i] == 'Q' && class == 0:
				end := strings.Index(s[i:], `\E`)
				if end < 0 {
					end = len(s) - i
				}
				b.WriteByte('\\')
				b.WriteString(s[i : i+end])
				i += end - 1
			case s[i] == 'w' && class > 0:
				b.WriteString(wordClass)
			case s[i] == 'w':
				b.WriteString("[" + wordClass + "]")
			case s[i] == 'W' && class > 0:
				return "", fmt.Errorf(`\W within a class`)
			case s[i] == 'W':
				b.WriteString("[^" + wordClass + "]")
			default:
				b.WriteByte(c)
				b.WriteByte(s[i])
			}
			continue
		case c == '[' && class == 0:
			class = i + 1
		case c == ']' && class > 0 && !(i == class || i == class+1 && s[class] == '^'):
			class = 0
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// Find gives the first match, as regexp does: the leftmost, by the order of
// alternatives. ok is false when there is none.
func (p *Pattern) Find(text string) (start, end int, ok bool) {
	m := machine{prog: p.prog, now: newThreads(p.prog), next: newThreads(p.prog), start: -1}
	before := rune(-1)
	for at := 0; ; {
		r, size := rune(-1), 0
		if at < len(text) {
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		if m.start < 0 { // what began further left comes first
			m.add(m.now, uint32(p.prog.Start), at, borders(before, r))
		}
		after := rune(-1)
		if at+size < len(text) {
			after, _ = utf8.DecodeRuneInString(text[at+size:])
		}
		m.step(r, at, at+size, borders(r, after))
		if size == 0 || m.start >= 0 && len(m.next.list) == 0 {
			return m.start, m.end, m.start >= 0
		}
		m.now, m.next = m.next, m.now
		m.next.list = m.next.list[:0]
		before, at = r, at+size
	}
}

// borders says what holds between two runes; -1 is an end of the text.
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

// machine runs all threads of a program side by side, in order of preference.
// Source: Pike's simulation, as in Thompson 1968 and Cox 2009.
type machine struct {
	prog       *syntax.Prog
	now, next  *threads
	start, end int
}

type thread struct {
	pc    uint32
	start int
}

// threads is an ordered set of threads by pc.
type threads struct {
	list []thread
	at   []int // of a pc in list, when list says so
}

func newThreads(p *syntax.Prog) *threads { return &threads{at: make([]int, len(p.Inst))} }

func (t *threads) has(pc uint32) bool {
	i := t.at[pc]
	return i < len(t.list) && t.list[i].pc == pc
}

// add follows what needs no rune.
func (m *machine) add(t *threads, pc uint32, start int, at syntax.EmptyOp) {
	if t.has(pc) {
		return
	}
	t.at[pc] = len(t.list)
	t.list = append(t.list, thread{pc, start})
	switch in := &m.prog.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		m.add(t, in.Out, start, at)
		m.add(t, in.Arg, start, at)
	case syntax.InstCapture, syntax.InstNop:
		m.add(t, in.Out, start, at)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(in.Arg)&^at == 0 {
			m.add(t, in.Out, start, at)
		}
	}
}

// step moves every thread over a rune that stands at here; -1 is the end of the text.
func (m *machine) step(r rune, here, after int, at syntax.EmptyOp) {
	for _, t := range m.now.list {
		in := &m.prog.Inst[t.pc]
		switch in.Op {
		case syntax.InstMatch:
			m.start, m.end = t.start, here
			return // threads further down are less preferred
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && in.MatchRune(r) {
				m.add(m.next, in.Out, t.start, at)
			}
		}
	}
}
