// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet/value"
)

// maxPlain is how many comparisons a plain text joins at most.
const maxPlain = 16

// plain parses the most common conditions in a fraction of the library's time: comparisons of a
// path with a literal, joined by && or and. Files where every step has its own text have millions
// of conditions. It returns nil for any other text, and for a text that the library could read
// differently.
func plain(text string) *expression {
	s := scanner{rest: text}
	var all *expression
	for range maxPlain {
		e := s.comparison()
		if e == nil {
			return nil
		}
		if all == nil {
			all = e
		} else {
			all = &expression{op: opAnd, a: all, b: e}
		}
		s.space()
		if s.rest == "" {
			return all
		}
		if !s.take("&&") && s.word() != "and" {
			return nil
		}
	}
	return nil
}

type scanner struct{ rest string }

func (s *scanner) space() { s.rest = strings.TrimLeft(s.rest, " \t") }

func (s *scanner) take(token string) bool {
	rest, ok := strings.CutPrefix(s.rest, token)
	s.rest = rest
	return ok
}

// word reads a name; "" when there is none.
func (s *scanner) word() string {
	n := 0
	for n < len(s.rest) && isNameByte(s.rest[n], n) {
		n++
	}
	w := s.rest[:n]
	s.rest = s.rest[n:]
	return w
}

func isNameByte(c byte, at int) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || at > 0 && c >= '0' && c <= '9'
}

func (s *scanner) comparison() *expression {
	s.space()
	e := &expression{}
	isLength := s.take("len(")
	path, ok := s.path()
	if !ok || isLength && !s.take(")") {
		return nil
	}
	e.left = operand{kind: fromPath, path: path}
	if isLength {
		e.left.kind = fromLength
	}
	s.space()
	symbol := s.symbol()
	if e.op, ok = operators(symbol); !ok {
		return nil
	}
	s.space()
	e.right = operand{kind: fromLiteral}
	e.right.literal, ok = s.literal(isLength, e.op)
	if !ok || s.rest != "" && s.rest[0] != ' ' && s.rest[0] != '\t' && s.rest[0] != '&' {
		return nil
	}
	return e
}

func (s *scanner) symbol() string {
	for _, symbol := range [...]string{"==", "!=", "<=", ">=", "<", ">"} {
		if s.take(symbol) {
			return symbol
		}
	}
	return ""
}

// reserved reports names with a meaning in the library.
func reserved(w string) bool {
	switch w {
	case "", "and", "or", "not", "in", "let", "if", "else", "true", "false", "nil", nameNull, "contains", "startsWith",
		"endsWith", "matches", "exists":
		return true
	}
	return false
}

func (s *scanner) path() ([]part, bool) {
	w := s.word()
	if reserved(w) {
		return nil, false
	}
	var path []part
	if w != nameResult {
		path = []part{{key: w, isKey: true}}
	}
	for {
		switch {
		case s.take("."):
			if w = s.word(); reserved(w) {
				return nil, false
			}
			path = append(path, part{key: w, isKey: true})
		case s.take("["):
			n, ok := s.digits()
			if !ok || !s.take("]") {
				return nil, false
			}
			path = append(path, part{index: n})
		default:
			return path, s.rest != "" && s.rest[0] != '('
		}
	}
}

// digits reads a whole number of up to 15 digits without a leading zero.
func (s *scanner) digits() (int, bool) {
	n := 0
	for n < len(s.rest) && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	if n == 0 || n > 15 || n > 1 && s.rest[0] == '0' {
		return 0, false
	}
	i, err := strconv.Atoi(s.rest[:n])
	s.rest = s.rest[n:]
	return i, err == nil
}

// literal reads the right side of an operator: a whole number for a length, an ordered value for an
// ordering operator.
func (s *scanner) literal(isLength bool, o op) (value.Value, bool) {
	ordered := o != opEqual && o != opUnequal
	switch c := s.rest + " "; {
	case c[0] == '-' || c[0] >= '0' && c[0] <= '9':
		return s.number(isLength)
	case isLength:
		return value.Value{}, false
	case c[0] == '"' || c[0] == '\'':
		return s.quoted()
	case ordered:
		return value.Value{}, false
	}
	switch s.word() {
	case "true":
		return encode(true)
	case "false":
		return encode(false)
	case "nil", nameNull:
		return encode(nil)
	}
	return value.Value{}, false
}

func (s *scanner) number(whole bool) (value.Value, bool) {
	negative := s.take("-")
	text := s.rest
	i, ok := s.digits()
	if !ok {
		return value.Value{}, false
	}
	if !strings.HasPrefix(s.rest, ".") {
		if negative {
			i = -i
		}
		return encode(i)
	}
	n := 1
	for n < len(s.rest) && s.rest[n] >= '0' && s.rest[n] <= '9' {
		n++
	}
	text = text[:len(text)-len(s.rest)+n]
	f, err := strconv.ParseFloat(text, 64)
	if n == 1 || err != nil || whole {
		return value.Value{}, false
	}
	s.rest = s.rest[n:]
	if negative {
		f = -f
	}
	return encode(f)
}

// quoted reads a string without escapes.
func (s *scanner) quoted() (value.Value, bool) {
	quote := s.rest[0]
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == quote:
			inside := s.rest[1:i]
			s.rest = s.rest[i+1:]
			if !utf8.ValidString(inside) {
				return value.Value{}, false
			}
			return encode(inside)
		case c == '\\' || c < ' ' || c == 0x7f:
			return value.Value{}, false
		}
	}
	return value.Value{}, false
}
