// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet/score/condition"
)

// Some JavaScript of one line means exactly what an expression can say:
//
//	output.includes('x')                 text && answer contains "x"
//	output.startsWith('x')               text && answer startsWith "x"
//	output === 'x'                       text && answer == "x"
//	output.toLowerCase().includes('x')   text && answer matches "[xX]"
//	JSON.parse(output).a.b === 'x'       text && fromJSON(answer).a.b == "x"
//	A && B, A || B, (A)
//
// text requires a text output: of a message with calls promptfoo makes a list or an object, and
// none of these expressions is true of those. An exception fails in promptfoo, as a missing part
// does here. Everything else stays a program, among it
//
//   - a negation, !==, and what is true of a list of calls too;
//   - < and >, which read a text as a number ("5" > 3);
//   - .length, which counts UTF-16 units; .trim(), of other spaces; regular expressions, of another
//     language;
//   - toLowerCase with letters beyond ASCII: their lower case depends on the letters around them.

// isText is an expression that is true for a text output.
const isText = `turns[-1].role == "assistant" && !exists(turns[-1].calls)`

// formula gives the expression that means what a JavaScript of one line does; "" where there is
// none.
func formula(script string, vars []Member) string {
	script = strings.TrimRight(script, " \t\r\n")
	// of several lines it is the body of a function, which is not read
	p := scriptReader{rest: strings.TrimRight(script, "; \t"), vars: vars}
	e, ok := p.either()
	if p.space(); !ok || p.rest != "" {
		return ""
	}
	if e.joined {
		e.text = "(" + e.text + ")"
	}
	text := isText + " && " + e.text
	if len(text) > condition.MaxBytes {
		return ""
	}
	return text
}

// scriptPart is a part of a script in the language of expressions.
type scriptPart struct {
	text string
	// parses: it reads JSON, which may fail. joined: it is made with ||.
	parses, joined bool
}

// scriptReader reads a script from its beginning.
type scriptReader struct {
	rest string
	vars []Member
}

func (p *scriptReader) space() { p.rest = strings.TrimLeft(p.rest, " \t") }

// take takes a token, with the space before it.
func (p *scriptReader) take(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

// either reads operands of ||. In promptfoo, unreadable JSON fails the whole expression; here it
// would fail only the operand that reads it.
func (p *scriptReader) either() (scriptPart, bool) {
	e, ok := p.both()
	for ok && p.take("||") {
		var more scriptPart
		if more, ok = p.both(); e.parses || more.parses {
			return e, false
		}
		e = scriptPart{text: e.text + " || " + more.text, joined: true}
	}
	return e, ok
}

// both reads operands of &&.
func (p *scriptReader) both() (scriptPart, bool) {
	e, ok := p.one()
	for ok && p.take("&&") {
		var more scriptPart
		more, ok = p.one()
		e = scriptPart{text: e.text + " && " + more.text, parses: e.parses || more.parses}
	}
	return e, ok
}

func (p *scriptReader) one() (scriptPart, bool) {
	switch {
	case p.take("("):
		e, ok := p.either()
		if e.joined {
			e = scriptPart{text: "(" + e.text + ")", parses: e.parses}
		}
		return e, ok && p.take(")")
	case p.take("JSON.parse(output)"):
		return p.parsed()
	case p.take("output"):
		return p.output()
	}
	return scriptPart{}, false
}

// output reads an assertion about the text.
func (p *scriptReader) output() (scriptPart, bool) {
	lower := p.take(".toLowerCase()")
	for _, m := range [...]struct{ js, expr, before, after string }{
		{".includes(", "contains", "", ""},
		{".startsWith(", "startsWith", "^", ""},
		{".endsWith(", "endsWith", "", "$"},
		{"===", "==", "^", "$"},
	} {
		if !p.take(m.js) {
			continue
		}
		s, ok := p.text()
		if !ok || s == "" || strings.HasSuffix(m.js, "(") && !p.take(")") {
			return scriptPart{}, false
		}
		if !lower {
			return scriptPart{text: "answer " + m.expr + " " + strconv.Quote(s)}, true
		}
		pattern, ok := anyCase(s, m.after == "")
		return scriptPart{text: "answer matches " + strconv.Quote(m.before+pattern+m.after)}, ok
	}
	return scriptPart{}, false
}

// anyCase is a pattern of the texts that are s in lower case, or begin with it where more may
// follow. Two letters beyond ASCII have a lower case in it: the Kelvin sign, and the dotted capital
// I, an i with a dot behind it in lower case.
func anyCase(s string, open bool) (pattern string, ok bool) {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c >= utf8.RuneSelf || c >= 'A' && c <= 'Z':
			return "", false
		case c == 'k':
			b.WriteString(`[kK\x{212A}]`)
		case c == 'i' && open && i == len(s)-1:
			b.WriteString(`[iI\x{130}]`)
		case c >= 'a' && c <= 'z':
			fmt.Fprintf(&b, "[%c%c]", c, c-'a'+'A')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return b.String(), true
}

// parsed reads a member of the text as JSON, and its expected value.
func (p *scriptReader) parsed() (scriptPart, bool) {
	var path []string
	for p.take(".") {
		name := identifier.FindString(p.rest)
		if p.rest = p.rest[len(name):]; name == "" {
			return scriptPart{}, false
		}
		path = append(path, name)
	}
	if len(path) == 0 || !p.take("===") {
		return scriptPart{}, false
	}
	want, ok := p.literal()
	if !ok || !plainMembers(path) {
		return scriptPart{}, false
	}
	text := "fromJSON(answer)"
	for _, name := range path {
		text += "[" + strconv.Quote(name) + "]"
	}
	return scriptPart{text: text + " == " + want, parses: true}, true
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*`)
	numeral    = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,6})?`)
)

// plainMembers reports whether a path cannot lead to a built-in member of JavaScript: the length
// of a list or text, or the name of a function.
func plainMembers(path []string) bool {
	own := []string{"length", "constructor", "prototype", "__proto__", "arguments", "caller"}
	return !slices.ContainsFunc(path, func(name string) bool { return slices.Contains(own, name) }) &&
		(len(path) == 1 || path[len(path)-1] != "name")
}

// literal reads a text, a number, true, false or null.
func (p *scriptReader) literal() (string, bool) {
	if s, ok := p.text(); ok {
		return strconv.Quote(s), true
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if p.take(word) {
			return word, p.ends()
		}
	}
	n := numeral.FindString(p.rest)
	p.rest = p.rest[len(n):]
	return n, n != "" && p.ends()
}

// ends reports whether no letter, digit or dot follows.
func (p *scriptReader) ends() bool {
	return p.rest == "" || strings.ContainsRune(" \t)&|", rune(p.rest[0]))
}

// text reads a text in quotes, or a variable of the test that is one.
func (p *scriptReader) text() (string, bool) {
	if p.take("context.vars.") {
		name := identifier.FindString(p.rest)
		p.rest = p.rest[len(name):]
		for _, m := range p.vars {
			if m.Name == name {
				s, ok := m.Val.Text()
				return s, ok && p.ends() && sayable(s)
			}
		}
		return "", false
	}
	p.space()
	if p.rest == "" || !strings.ContainsRune("'\"`", rune(p.rest[0])) {
		return "", false
	}
	quote := p.rest[0]
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == quote:
			p.rest = p.rest[i+1:]
			return b.String(), sayable(b.String())
		case c == '\\' && i+1 < len(p.rest):
			i++
			at := strings.IndexByte(`nt'"\`+"`", p.rest[i])
			if at < 0 {
				return "", false
			}
			c = "\n\t'\"\\`"[at]
		case quote == '`' && c == '$':
			return "", false
		}
		b.WriteByte(c)
	}
	return "", false
}

// sayable reports whether a text can be written in an expression with the same meaning. U+FFFD
// replaces whatever is no character there.
func sayable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsPrint(r) && r != '\n' && r != '\t'
	})
}
