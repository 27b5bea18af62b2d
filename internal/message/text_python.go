// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

var (
	errPython = errors.New("not a list of Python calls")
	errAfter  = fmt.Errorf("%w: text after the calls", errPython)
)

// maxPythonDepth bounds the nesting of lists, dicts and tuples.
const maxPythonDepth = 100

// PythonCalls reads calls written as Python: [f(a=1, b='x'), g.h()], with or without the brackets
// and a code fence around. Literals become JSON; any other expression (a name, a nested call,
// arithmetic) is kept as its source text in a string. Positional arguments take the names of the
// tool's schema in order and are an error for tools that are not among tools (nil: none). The
// error wraps the mistake and its place; it never panics and never returns half a list.
func PythonCalls(text string, tools *callvet.Toolset) ([]callvet.Call, error) {
	return pythonCalls(text, python{tools: tools})
}

func pythonCalls(text string, p python) ([]callvet.Call, error) {
	p.src = trimFence(text)
	calls, err := p.calls()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at != len(p.src) {
		return nil, fmt.Errorf("%w: byte %d", errAfter, p.at)
	}
	return calls, nil
}

// calls reads calls with commas between, with or without brackets around.
func (p *python) calls() ([]callvet.Call, error) {
	bracket := p.eat('[')
	var calls []callvet.Call
	for {
		p.space()
		if bracket && p.eat(']') {
			return calls, nil
		}
		if p.at == len(p.src) {
			break
		}
		c, err := p.call()
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
		p.space()
		if !p.eat(',') && !p.eat(';') && p.peek() != ']' {
			break
		}
	}
	if bracket && !p.eat(']') {
		return nil, p.errorf("a list is not closed")
	}
	return calls, nil
}

// PythonLike reports whether a text was meant as a list of calls; prose was not.
func PythonLike(text string) bool {
	s := trimFence(text)
	if !strings.HasPrefix(s, "[") {
		return false
	}
	p := python{src: s, at: 1}
	return p.begins()
}

// begins reports whether a call begins here.
func (p *python) begins() bool {
	p.space()
	return p.name() != "" && p.peek() == '('
}

func trimFence(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		if i := strings.IndexByte(rest, '\n'); i >= 0 && i < 20 && !strings.ContainsAny(rest[:i], "[(") {
			rest = rest[i:]
		}
		s = strings.TrimSuffix(strings.TrimSpace(rest), "```")
	}
	return strings.Trim(s, "` \n\r\t")
}

type python struct {
	src   string
	at    int
	tools *callvet.Toolset
	// own: the text is a model's own spelling. One object in place of all arguments is the arguments,
	// and where the tools are not known those given by place have numbers for names.
	own bool
	// steps counts the values tried: a set is read twice, so nested ones would
	// double the work at each level.
	steps int
}

func (p *python) errorf(msg string) error { return fmt.Errorf("%w: byte %d: %s", errPython, p.at, msg) }

func (p *python) space() {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			p.at++
		case c == '#':
			for p.at < len(p.src) && p.src[p.at] != '\n' {
				p.at++
			}
		case c == '\\' && p.at+1 < len(p.src) && p.src[p.at+1] == '\n':
			p.at += 2
		default:
			return
		}
	}
}

func (p *python) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *python) eat(c byte) bool {
	p.space()
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// name reads a dotted name; "" when there is none.
func (p *python) name() string {
	from := p.at
	for p.at < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.at:])
		digit := r >= '0' && r <= '9'
		letter := r == '_' || r|0x20 >= 'a' && r|0x20 <= 'z' || r > 127 && r != utf8.RuneError
		if !letter && (!digit && r != '.' || p.at == from) {
			break
		}
		p.at += n
	}
	return strings.TrimRight(p.src[from:p.at], ".")
}

func (p *python) call() (callvet.Call, error) {
	p.space()
	name := p.name()
	if name == "" {
		return callvet.Call{}, p.errorf("expected a function name")
	}
	if !p.eat('(') {
		return callvet.Call{}, p.errorf("expected ( after " + strconv.Quote(name))
	}
	args, err := p.arguments(name)
	if err != nil {
		return callvet.Call{}, err
	}
	return callvet.Call{Tool: name, Args: args, Repairs: []string{InPython}}, nil
}

// arguments reads up to and with the closing parenthesis.
func (p *python) arguments(tool string) (json.RawMessage, error) {
	if args := p.object(tool); args != nil {
		return args, nil
	}
	out := []byte{'{'}
	seen := map[string]bool{}
	for n := 0; !p.eat(')'); n++ {
		key, err := p.keyword(tool, n)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, p.errorf("argument " + strconv.Quote(key) + " is repeated")
		}
		seen[key] = true
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendString(out, key), ':')
		if out, err = p.value(out, 0); err != nil {
			return nil, err
		}
		if !p.eat(',') && p.peek() != ')' {
			return nil, p.errorf("expected , or ) after an argument")
		}
	}
	return append(out, '}'), nil
}

// object reads f({"a": 1}), as JavaScript has it; nil where the arguments are something else. Of a tool
// that is known the names must be those of its parameters, and none of these an object in first place.
func (p *python) object(tool string) json.RawMessage {
	at := p.at
	if p.space(); !p.own || p.peek() != '{' {
		p.at = at
		return nil
	}
	out, ok := p.dict(nil, 0)
	if ok = ok && len(out) > 0 && out[0] == '{' && p.eat(')'); ok && p.fits(tool, out) {
		return out
	}
	p.at = at
	return nil
}

// fits reports whether an object may be all arguments of a tool.
func (p *python) fits(tool string, args json.RawMessage) bool {
	t := p.tools.Find(tool)
	if t == nil {
		return true
	}
	props := properties(t)
	first, ok := props.First()
	if kind, _ := first.Get("type"); !ok || kind.Str() == "object" {
		return false
	}
	v, err := value.Parse(args)
	for m, ok := v.First(); err == nil && ok; m, ok = v.Next(m) {
		if _, known := props.Get(m.Key()); !known {
			return false
		}
	}
	return err == nil
}

// keyword reads "name=", or finds the name of the n-th positional argument.
func (p *python) keyword(tool string, n int) (string, error) {
	p.space()
	from := p.at
	if k := p.name(); k != "" && !strings.Contains(k, ".") {
		p.space()
		if p.peek() == '=' && !strings.HasPrefix(p.src[p.at:], "==") {
			p.at++
			return k, nil
		}
	}
	p.at = from
	t := p.tools.Find(tool)
	if t == nil && p.own && (p.tools == nil || len(p.tools.Tools) == 0) {
		return strconv.Itoa(n), nil
	}
	if t == nil {
		return "", p.errorf("an argument has no name")
	}
	schema, err := value.Parse(t.Parameters)
	if err != nil {
		return "", p.errorf("an argument has no name and the tool no schema")
	}
	props, _ := schema.Get("properties")
	e, ok := props.First()
	for ; ok && n > 0; n-- {
		e, ok = props.Next(e)
	}
	if !ok {
		return "", p.errorf("more arguments than the tool has")
	}
	return e.Key(), nil
}

// value appends one value as JSON; what is no literal becomes a string of its source.
func (p *python) value(out []byte, depth int) ([]byte, error) {
	if p.steps++; depth > maxPythonDepth || p.steps > 2*len(p.src)+64 {
		return nil, p.errorf("nested too deeply")
	}
	p.space()
	from, mark := p.at, len(out)
	res, ok := p.literal(out, depth)
	if ok {
		p.space()
		switch p.peek() {
		case ',', ')', ']', '}', ':', 0:
			return res, nil
		}
	}
	p.at = from
	src, err := p.expression()
	if err != nil {
		return nil, err
	}
	return appendString(out[:mark], src), nil
}

func (p *python) literal(out []byte, depth int) ([]byte, bool) {
	switch c := p.peek(); {
	case c == '[':
		return p.sequence(out, depth, ']')
	case c == '(':
		return p.sequence(out, depth, ')')
	case c == '{':
		return p.dict(out, depth)
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return p.number(out)
	}
	if s, ok := p.strings(); ok {
		return appendString(out, s), true
	}
	switch n := p.name(); n {
	case "True", "true":
		return append(out, "true"...), true
	case "False", "false":
		return append(out, "false"...), true
	case "None", "null":
		return append(out, "null"...), true
	case "":
		return out, false
	default:
		return appendString(out, n), true
	}
}

// sequence reads a list or a tuple; (x) is x alone.
func (p *python) sequence(out []byte, depth int, end byte) ([]byte, bool) {
	p.at++
	mark := len(out)
	out = append(out, '[')
	commas := 0
	for !p.eat(end) {
		if out[len(out)-1] != '[' || commas > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = p.value(out, depth+1); err != nil {
			return out, false
		}
		if p.eat(',') {
			commas++
		} else if p.peek() != end {
			return out, false
		}
	}
	if end == ')' && commas == 0 && len(out) > mark+1 {
		return append(out[:mark], out[mark+1:]...), true
	}
	return append(out, ']'), true
}

// dict reads {k: v}; a set becomes a list.
func (p *python) dict(out []byte, depth int) ([]byte, bool) {
	p.at++
	from, mark := p.at, len(out)
	out = append(out, '{')
	seen := map[string]bool{}
	for !p.eat('}') {
		key, err := p.value(nil, depth+1)
		if err != nil {
			return out, false
		}
		if !p.eat(':') {
			if len(seen) > 0 {
				return out, false
			}
			p.at = from - 1
			return p.sequence(out[:mark], depth, '}')
		}
		k := keyText(key)
		if seen[k] {
			return out, false
		}
		if seen[k] = true; len(seen) > 1 {
			out = append(out, ',')
		}
		out = append(appendString(out, k), ':')
		if out, err = p.value(out, depth+1); err != nil {
			return out, false
		}
		if !p.eat(',') && p.peek() != '}' {
			return out, false
		}
	}
	return append(out, '}'), true
}

// keyText is a dict key's name: strings as they are, other values as their text.
func keyText(k []byte) string {
	var s string
	if len(k) > 0 && k[0] == '"' && json.Unmarshal(k, &s) == nil {
		return s
	}
	return string(k)
}

// number reads an int or a float in Python's spellings as a JSON number.
func (p *python) number(out []byte) ([]byte, bool) {
	neg := false
	for p.peek() == '-' || p.peek() == '+' {
		neg = neg != (p.peek() == '-')
		p.at++
		p.space()
	}
	from := p.at
	for p.at < len(p.src) {
		c := p.src[p.at]
		sign := (c == '+' || c == '-') && p.at > from && p.src[p.at-1]|0x20 == 'e' &&
			!strings.HasPrefix(p.src[from:], "0x")
		if c != '.' && c != '_' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') && !sign {
			break
		}
		p.at++
	}
	lit := strings.ReplaceAll(strings.ToLower(p.src[from:p.at]), "_", "")
	if neg {
		out = append(out, '-')
	}
	if len(lit) > 4000 {
		return out, false
	}
	if i, ok := new(big.Int).SetString(lit, 0); ok {
		return i.Append(out, 10), true
	}
	if i, ok := new(big.Int).SetString(lit, 10); ok { // 007 is no Python, but it is plain
		return i.Append(out, 10), true
	}
	return appendFloat(out, lit)
}

// appendFloat keeps the digits as they were written: 1. and .5 get their zero.
func appendFloat(out []byte, lit string) ([]byte, bool) {
	if _, err := strconv.ParseFloat(lit, 64); err != nil || strings.ContainsAny(lit, "xpin") {
		return out, false
	}
	mant, exp, hasExp := strings.Cut(lit, "e")
	whole, frac, hasFrac := strings.Cut(mant, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	out = append(out, whole...)
	if hasFrac {
		if frac == "" {
			frac = "0"
		}
		out = append(append(out, '.'), frac...)
	}
	if hasExp {
		out = append(append(out, 'e'), exp...)
	}
	return out, true
}
