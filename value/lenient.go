// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Repairs are the kinds of errors in a text that Read repaired. The zero value is none.
type Repairs uint8

// The repairs. Each is unambiguous: loggers write these texts where JSON has no such value.
const (
	// Surrogate is half of a surrogate pair, which became U+FFFD.
	Surrogate Repairs = 1 << iota
	// NotNumber is NaN, Infinity or -Infinity, which became a string of that name. It is then no
	// number, so that no comparison of numbers and no schema accepts it.
	NotNumber
	// NUL is a raw NUL: \u0000 in a string, a space elsewhere.
	NUL
	// InvalidUTF8 is a byte of a string that is not UTF-8, which became U+FFFD.
	InvalidUTF8
)

// String names the repairs, for a note: "a lone surrogate, NaN or Infinity".
func (r Repairs) String() string {
	var out []string
	for i, s := range [...]string{"a lone surrogate", "NaN or Infinity", "a raw NUL", "invalid UTF-8"} {
		if r>>i&1 != 0 {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// Note is what a person must know about repaired evidence; "" where nothing was repaired.
func (r Repairs) Note() string {
	if r == 0 {
		return ""
	}
	return "read with " + r.String()
}

// Read is Parse with the repairs of Repairs, for a text that Parse refuses. The values are then
// those of a repaired copy. The error is the error of Parse.
func (d *Doc) Read(src []byte) (Repairs, error) {
	err := d.Parse(src)
	if err == nil || Over(err) {
		return 0, err
	}
	return d.mend(src, err)
}

// mend parses a repaired copy of a text that Parse refused with err.
func (d *Doc) mend(src []byte, err error) (Repairs, error) {
	text, r := repaired(src)
	if r == 0 {
		return 0, err
	}
	if again := d.Parse(text); Over(again) {
		return 0, again
	} else if again != nil {
		return 0, err
	}
	return r, nil
}

// ReadLine is ParseLine that repairs, as Read does. The line is the repaired one.
func (d *Doc) ReadLine(data []byte) (line, rest []byte, r Repairs, err error) {
	line, rest, err = d.ParseLine(data)
	if err == nil || Over(err) {
		return line, rest, 0, err
	}
	if r, err = d.mend(line, err); err == nil {
		line = d.src
	}
	return line, rest, r, err
}

// Read reads src into a Doc of its own, as Doc.Read does.
func Read(src []byte) (Value, Repairs, error) {
	d := new(Doc)
	r, err := d.Read(src)
	if err != nil {
		return Value{}, 0, err
	}
	return d.Root(), r, nil
}

// Repair returns a text as strict JSON, and what was repaired in it. Strict JSON is unchanged. ok
// is false for a text that has other errors.
func Repair(src []byte) (strict []byte, r Repairs, ok bool) {
	if Valid(src) {
		return src, 0, true
	}
	text, r := repaired(src)
	if r == 0 || !Valid(text) {
		return nil, 0, false
	}
	return text, r, true
}

// repaired is a copy of a text with all possible repairs. The text may have other errors.
func repaired(src []byte) ([]byte, Repairs) {
	m := mender{src: src}
	for m.at < len(src) {
		switch c := src[m.at]; {
		case c == '"':
			m.text()
		case c == 0:
			m.put(1, " ", NUL)
		case c == 'N' || c == 'I' || c == '-':
			m.word()
		default:
			m.at++
		}
	}
	if m.made == 0 {
		return src, 0
	}
	return append(m.out, src[m.done:]...), m.made
}

// mender copies a text piece by piece: out has the result for the text before done.
type mender struct {
	src, out []byte
	done, at int
	made     Repairs
}

// put replaces the next n bytes by with.
func (m *mender) put(n int, with string, why Repairs) {
	m.out = append(append(m.out, m.src[m.done:m.at]...), with...)
	m.at += n
	m.done, m.made = m.at, m.made|why
}

// word reads a word that may be NaN or an infinity.
func (m *mender) word() {
	for _, w := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(m.src[m.at:], []byte(w)) {
			m.put(len(w), `"`+w+`"`, NotNumber)
			return
		}
	}
	m.at++
}

// text reads a string.
func (m *mender) text() {
	for m.at++; m.at < len(m.src); {
		switch c := m.src[m.at]; {
		case c == '"':
			m.at++
			return
		case c == '\\':
			m.escape()
		case c == 0:
			m.put(1, `\u0000`, NUL)
		case c < utf8.RuneSelf:
			m.at++
		default:
			if r, n := utf8.DecodeRune(m.src[m.at:]); r == utf8.RuneError && n == 1 {
				m.put(1, "\uFFFD", InvalidUTF8)
			} else {
				m.at += n
			}
		}
	}
}

// escape reads an escape sequence.
func (m *mender) escape() {
	rest := m.src[m.at:]
	switch n := escapeLen(rest); {
	case n > 0:
		m.at += n
	case len(rest) >= 6 && rest[1] == 'u' && hex4(rest[2:])&^0x7FF == 0xD800:
		m.put(6, `\uFFFD`, Surrogate)
	default: // a different error, which stays
		m.at += min(2, len(rest))
	}
}
