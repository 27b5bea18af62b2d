// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package check

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/callvet/callvet/value"
)

// Check is a compiled result_check: a condition over the JSON result of a call.
//
// Comparisons == != < <= > >= and "x in y" (element of a list, key of an
// object, part of a string), joined by and, or, not (also && || !) and
// parentheses. Operands are JSON literals, 'strings', [lists], paths such as
// items[0].id into the result ("result" itself is the whole), len(x) and
// exists(x). Comparing an absent value is false, except with !=. There is no
// arithmetic, no assignment, no loop: every check ends.
type Check struct {
	op       string
	a, b     *Check
	path     Path
	constant value.Value
	items    []*Check
}

// Limits of a check.
const (
	maxCheckLen   = 4096
	maxCheckDepth = 64
)

type checkParser struct {
	src   string
	pos   int
	tok   string
	depth int
	err   error
}

// Parse compiles a check; the error tells what was not understood.
func Parse(src string) (*Check, error) {
	p := &checkParser{src: src}
	if len(src) > maxCheckLen {
		return nil, fmt.Errorf("parse check: longer than %d bytes", maxCheckLen)
	}
	p.next()
	e := p.or()
	if p.err == nil && p.tok != "" {
		p.fail("unexpected %q", p.tok)
	}
	if p.err != nil {
		return nil, fmt.Errorf("parse check %q: %w", src, p.err)
	}
	return e, nil
}

func (p *checkParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.tok, p.pos = "", len(p.src)
}

// next reads one token into p.tok; "" at the end.
func (p *checkParser) next() {
	p.pos += len(p.src[p.pos:]) - len(strings.TrimLeft(p.src[p.pos:], " \t\r\n"))
	rest := p.src[p.pos:]
	n := 1
	switch {
	case rest == "":
		n = 0
	case rest[0] == '"' || rest[0] == '\'':
		n = quotedLen(rest)
		if n == 0 {
			p.fail("a string without end")
			return
		}
	case len(rest) > 1 && strings.Contains("== != <= >= && ||", rest[:2]) && rest[0] != ' ':
		n = 2
	case pathByte(rest[0]) || rest[0] == '-':
		for n < len(rest) && (pathByte(rest[n]) || (rest[n] == '+' || rest[n] == '-') && (rest[n-1] == 'e' || rest[n-1] == 'E') && digit(p.src[p.pos])) {
			n++
		}
		n = withIndexes(rest, n)
	}
	p.tok = rest[:n]
	p.pos += n
}

func pathByte(c byte) bool { return letter(c) || digit(c) || c == '_' || c == '.' || c == '$' }

// letter counts every byte of a letter outside ASCII.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// withIndexes extends a path over [0] and what follows it.
func withIndexes(s string, n int) int {
	for n < len(s) && s[n] == '[' && !digit(s[0]) {
		i := n + 1
		for i < len(s) && digit(s[i]) {
			i++
		}
		if i == n+1 || i >= len(s) || s[i] != ']' {
			return n
		}
		for n = i + 1; n < len(s) && pathByte(s[n]); n++ {
		}
	}
	return n
}

func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}

func (p *checkParser) accept(toks ...string) bool {
	for _, t := range toks {
		if p.tok == t {
			p.next()
			return true
		}
	}
	return false
}

func (p *checkParser) expect(tok string) {
	if !p.accept(tok) {
		p.fail("%q expected, found %q", tok, p.tok)
	}
}

func (p *checkParser) or() *Check {
	e := p.and()
	for p.accept("or", "||") {
		e = &Check{op: "or", a: e, b: p.and()}
	}
	return e
}

func (p *checkParser) and() *Check {
	e := p.not()
	for p.accept("and", "&&") {
		e = &Check{op: "and", a: e, b: p.not()}
	}
	return e
}

func (p *checkParser) not() *Check {
	if p.depth++; p.depth > maxCheckDepth {
		p.fail("nested more than %d deep", maxCheckDepth)
		return &Check{}
	}
	defer func() { p.depth-- }()
	if p.accept("not", "!") {
		return &Check{op: "not", a: p.not()}
	}
	e := p.operand()
	switch op := p.tok; op {
	case "==", "!=", "<", "<=", ">", ">=", "in":
		p.next()
		return &Check{op: op, a: e, b: p.operand()}
	case "=":
		p.fail("= is not a comparison, write ==")
	}
	return e
}

func (p *checkParser) operand() *Check {
	tok := p.tok
	switch {
	case tok == "":
		p.fail("something is missing at the end")
		return &Check{}
	case p.accept("("):
		e := p.or()
		p.expect(")")
		return e
	case p.accept("["):
		return p.list()
	case tok == "len" || tok == "exists":
		return p.call(tok)
	case tok[0] == '"' || tok[0] == '\'' || tok[0] == '-' || digit(tok[0]) || tok == "true" || tok == "false" || tok == "null":
		return p.literal(tok)
	case !pathByte(tok[0]) || tok == "and" || tok == "or" || tok == "not" || tok == "in":
		p.fail("a value expected, found %q", tok)
		return &Check{}
	}
	p.next()
	return p.pathTo(tok)
}

func (p *checkParser) call(name string) *Check {
	p.next()
	if p.tok != "(" {
		return p.pathTo(name)
	}
	p.next()
	e := &Check{op: name, a: p.operand()}
	p.expect(")")
	return e
}

func (p *checkParser) list() *Check {
	e := &Check{op: "list"}
	for p.err == nil && !p.accept("]") {
		if len(e.items) > 0 {
			p.expect(",")
		}
		e.items = append(e.items, p.literal(p.tok))
	}
	return e
}

func (p *checkParser) pathTo(tok string) *Check {
	if tok == "result" {
		return &Check{op: "path"}
	}
	path, err := ParsePath(tok)
	if err != nil {
		p.fail("%v", err)
	}
	return &Check{op: "path", path: path}
}

func (p *checkParser) literal(tok string) *Check {
	text := []byte(tok)
	if len(tok) > 1 && tok[0] == '\'' {
		inside := strings.ReplaceAll(tok[1:len(tok)-1], `\'`, `'`)
		text = []byte(`"` + strings.ReplaceAll(inside, `"`, `\"`) + `"`)
	}
	v, err := value.Parse(text)
	if err != nil {
		p.fail("%q is not a value: %v", tok, err)
	}
	p.next()
	return &Check{op: "literal", constant: v}
}

// Holds evaluates the condition; a bare operand holds when it is true.
func (e *Check) Holds(result value.Value) bool {
	switch e.op {
	case "and":
		return e.a.Holds(result) && e.b.Holds(result)
	case "or":
		return e.a.Holds(result) || e.b.Holds(result)
	case "not":
		return !e.a.Holds(result)
	case "exists":
		v := e.a.value(result)
		return v.Kind() != value.Invalid
	case "in":
		return e.b.includes(e.a.value(result), result)
	case "==", "!=", "<", "<=", ">", ">=":
		return compareValues(e.op, e.a.value(result), e.b.value(result))
	}
	v := e.value(result)
	return v.Bool()
}

// value gives an operand; the zero Value when it is absent.
func (e *Check) value(result value.Value) value.Value {
	switch e.op {
	case "literal":
		return e.constant
	case "path":
		if found := e.path.Find(result); len(found) > 0 {
			return found[0]
		}
		// A field may itself be called result.
		if len(e.path) > 1 && e.path[0].Key == "result" {
			if found := e.path[1:].Find(result); len(found) > 0 {
				return found[0]
			}
		}
		return value.Value{}
	case "len":
		return length(e.a.value(result))
	case "list":
		return value.Value{}
	}
	v, err := value.Parse(fmt.Append(nil, e.Holds(result)))
	if err != nil {
		return value.Value{}
	}
	return v
}

// length counts members, elements or code points.
func length(v value.Value) value.Value {
	n := v.Len()
	switch v.Kind() {
	case value.String:
		n = len([]rune(v.Str()))
	case value.Array, value.Object:
	default:
		return value.Value{}
	}
	out, err := value.Parse(fmt.Append(nil, n))
	if err != nil {
		return value.Value{}
	}
	return out
}

func (e *Check) includes(v, result value.Value) bool {
	if e.op == "list" {
		for _, item := range e.items {
			if v.Kind() != value.Invalid && value.Equal(item.constant, v) {
				return true
			}
		}
		return false
	}
	in := e.value(result)
	switch in.Kind() {
	case value.String:
		return v.Kind() == value.String && strings.Contains(in.Str(), v.Str())
	case value.Object:
		_, ok := in.Get(v.Str())
		return ok && v.Kind() == value.String
	case value.Array:
		for x, ok := in.First(); ok; x, ok = in.Next(x) {
			if value.Equal(x, v) {
				return true
			}
		}
	}
	return false
}

func compareValues(op string, a, b value.Value) bool {
	switch op {
	case "==":
		return a.Kind() != value.Invalid && value.Equal(a, b)
	case "!=":
		return !value.Equal(a, b)
	}
	if a.Kind() != b.Kind() {
		return false
	}
	var c int
	switch a.Kind() {
	case value.Number:
		c = value.CompareNumbers(a.Raw(), b.Raw())
	case value.String:
		c = bytes.Compare(a.Bytes(), b.Bytes())
	default:
		return false
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}
