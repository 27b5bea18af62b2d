// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pattern is an ECMA-262 regular expression compiled to RE2, with a direct
// matcher for the plain shapes that tools use (^[A-Z]{3}$, ^ORD-\d{6}$).
type pattern struct {
	src   string
	re    *regexp.Regexp
	plain []piece // nil: only re decides
}

// piece is a class of ASCII characters that occurs min to max times; max < 0 is
// unbounded. What follows it cannot start with a character of the class, so
// taking as many as possible is always right.
type piece struct {
	class    [2]uint64
	min, max int
}

func (c *piece) has(b byte) bool { return b < 128 && c.class[b>>6]>>(b&63)&1 == 1 }

// compileECMA is the library's regular expression engine.
func compileECMA(src string) (jsonschema.Regexp, error) {
	goSrc, err := translate(src)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(goSrc)
	if err != nil {
		return nil, err
	}
	return &pattern{src: src, re: re, plain: plainPieces(goSrc)}, nil
}

// String is the expression as the schema has it.
func (p *pattern) String() string { return p.src }

// MatchString reports whether the expression is found anywhere in s.
func (p *pattern) MatchString(s string) bool {
	if p.plain != nil {
		return p.match([]byte(s))
	}
	return p.re.MatchString(s)
}

func (p *pattern) match(b []byte) bool {
	if p.plain == nil {
		return p.re.Match(b)
	}
	for i := range p.plain {
		c := &p.plain[i]
		n := 0
		for n < len(b) && (c.max < 0 || n < c.max) && c.has(b[n]) {
			n++
		}
		if n < c.min {
			return false
		}
		b = b[n:]
	}
	return len(b) == 0
}

// plainPieces gives the pieces of an expression anchored on both sides, nil when
// it is anything more than a sequence of them.
func plainPieces(src string) []piece {
	t, err := syntax.Parse(src, syntax.Perl)
	if err != nil || t.Op != syntax.OpConcat || len(t.Sub) < 3 ||
		t.Sub[0].Op != syntax.OpBeginText || t.Sub[len(t.Sub)-1].Op != syntax.OpEndText {
		return nil
	}
	var out []piece
	for _, s := range t.Sub[1 : len(t.Sub)-1] {
		more, ok := pieces(s)
		if !ok {
			return nil
		}
		out = append(out, more...)
	}
	for i := 0; i+1 < len(out); i++ {
		a, b := &out[i], &out[i+1]
		overlap := a.class[0]&b.class[0] | a.class[1]&b.class[1]
		if a.min != a.max && (overlap != 0 || b.min == 0) {
			return nil
		}
	}
	return out
}

func pieces(s *syntax.Regexp) ([]piece, bool) {
	switch s.Op {
	case syntax.OpLiteral:
		if s.Flags&syntax.FoldCase != 0 {
			return nil, false
		}
		var out []piece
		for _, r := range s.Rune {
			if r > 127 {
				return nil, false
			}
			p := piece{min: 1, max: 1}
			p.class[r>>6] = 1 << (r & 63)
			out = append(out, p)
		}
		return out, true
	case syntax.OpCharClass:
		p := piece{min: 1, max: 1}
		for i := 0; i < len(s.Rune); i += 2 {
			if s.Rune[i+1] > 127 {
				return nil, false
			}
			for r := s.Rune[i]; r <= s.Rune[i+1]; r++ {
				p.class[r>>6] |= 1 << (r & 63)
			}
		}
		return []piece{p}, true
	case syntax.OpPlus, syntax.OpStar, syntax.OpQuest, syntax.OpRepeat:
		return repeated(s)
	}
	return nil, false
}

func repeated(s *syntax.Regexp) ([]piece, bool) {
	out, ok := pieces(s.Sub[0])
	if !ok || len(out) != 1 || out[0].min != 1 || out[0].max != 1 {
		return nil, false
	}
	switch s.Op {
	case syntax.OpPlus:
		out[0].max = -1
	case syntax.OpStar:
		out[0].min, out[0].max = 0, -1
	case syntax.OpQuest:
		out[0].min = 0
	default:
		out[0].min, out[0].max = s.Min, s.Max
	}
	return out, true
}
