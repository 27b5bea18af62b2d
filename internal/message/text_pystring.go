// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// strings reads one or more adjacent string literals, which Python joins.
func (p *python) strings() (string, bool) {
	s, ok := p.str()
	if !ok {
		return "", false
	}
	for {
		from := p.at
		p.space()
		more, ok := p.str()
		if !ok {
			p.at = from
			return s, true
		}
		s += more
	}
}

// str reads one literal: any quotes, prefixes r, b, u (an f-string is no literal).
func (p *python) str() (string, bool) {
	from := p.at
	raw := false
	for i := 0; i < 2; i++ {
		switch p.peek() | 0x20 {
		case 'r':
			raw = true
			p.at++
		case 'b', 'u':
			p.at++
		}
	}
	q := p.peek()
	if q != '\'' && q != '"' {
		p.at = from
		return "", false
	}
	quote := p.src[p.at : p.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.src[p.at:], triple) {
		quote = triple
	}
	p.at += len(quote)
	var b strings.Builder
	for p.at < len(p.src) {
		if strings.HasPrefix(p.src[p.at:], quote) {
			p.at += len(quote)
			return strings.ToValidUTF8(b.String(), "\uFFFD"), true
		}
		c := p.src[p.at]
		if c == '\\' && p.at+1 < len(p.src) {
			if raw {
				b.WriteString(p.src[p.at : p.at+2])
				p.at += 2
			} else {
				p.escape(&b)
			}
			continue
		}
		b.WriteByte(c)
		p.at++
	}
	p.at = from
	return "", false
}

// escape reads a backslash and what follows; an unknown escape stays as written.
func (p *python) escape(b *strings.Builder) {
	c := p.src[p.at+1]
	p.at += 2
	if i := strings.IndexByte(`abfnrtv\'"`, c); i >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v\\'\""[i])
		return
	}
	switch {
	case c == '\n':
	case c == 'x' && p.hex(b, 2), c == 'u' && p.hex(b, 4), c == 'U' && p.hex(b, 8):
	case c >= '0' && c <= '7':
		n := rune(c - '0')
		for i := 0; i < 2 && p.peek() >= '0' && p.peek() <= '7'; i++ {
			n = n<<3 | rune(p.peek()-'0')
			p.at++
		}
		b.WriteRune(n)
	default:
		b.WriteByte('\\')
		b.WriteByte(c)
	}
}

func (p *python) hex(b *strings.Builder, n int) bool {
	if p.at+n > len(p.src) {
		return false
	}
	u, err := strconv.ParseUint(p.src[p.at:p.at+n], 16, 32)
	if err != nil || u > utf8.MaxRune {
		return false
	}
	p.at += n
	b.WriteRune(rune(u))
	return true
}

// expression reads the source up to the next delimiter at its own level.
func (p *python) expression() (string, error) {
	from := p.at
	var open []byte
	for p.at < len(p.src) {
		c := p.src[p.at]
		switch c {
		case '\'', '"':
			if _, ok := p.str(); !ok {
				return "", p.errorf("a string is not closed")
			}
			continue
		case '(', '[', '{':
			open = append(open, c)
		case ')', ']', '}':
			if len(open) == 0 {
				return p.cut(from)
			}
			open = open[:len(open)-1]
		case ',':
			if len(open) == 0 {
				return p.cut(from)
			}
		}
		p.at++
	}
	return "", p.errorf("an expression is not closed")
}

func (p *python) cut(from int) (string, error) {
	s := strings.TrimSpace(p.src[from:p.at])
	if s == "" {
		return "", p.errorf("expected a value")
	}
	return s, nil
}

// appendString appends s as a JSON string; invalid UTF-8 becomes U+FFFD.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, '\\', 'n')
		case r < 0x20:
			out = append(out, `\u00`...)
			out = append(out, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}
