// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What \s means in ECMA-262, and its complement, as the inside of a class.
const (
	spaceClass    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpaceClass = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

var errLookaround = errors.New("look-around is not supported; the pattern must be matchable in linear time")

// translator rewrites ECMA-262 (unicode mode) into RE2 of the same meaning.
type translator struct {
	src string
	pos int
	out strings.Builder
}

// translate gives the RE2 form of an ECMA-262 pattern; an error when the
// pattern is not valid there or needs back references or look-around.
func translate(src string) (string, error) {
	t := &translator{src: src}
	for t.pos < len(src) {
		if err := t.atom(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

func (t *translator) rest() string { return t.src[t.pos:] }

func (t *translator) atom() error {
	switch c := t.src[t.pos]; c {
	case '\\':
		return t.escape(false)
	case '[':
		return t.class()
	case '.':
		t.out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		t.pos++
	case '(':
		for _, p := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
			if strings.HasPrefix(t.rest(), p) {
				return errLookaround
			}
		}
		t.copyRune()
	default:
		t.copyRune()
	}
	return nil
}

func (t *translator) copyRune() {
	_, n := utf8.DecodeRuneInString(t.rest())
	t.out.WriteString(t.src[t.pos : t.pos+n])
	t.pos += n
}

func (t *translator) class() error {
	switch {
	case strings.HasPrefix(t.rest(), "[]"):
		t.out.WriteString(`[^\x00-\x{10FFFF}]`)
		t.pos += 2
		return nil
	case strings.HasPrefix(t.rest(), "[^]"):
		t.out.WriteString(`[\x00-\x{10FFFF}]`)
		t.pos += 3
		return nil
	}
	t.out.WriteByte('[')
	t.pos++
	if strings.HasPrefix(t.rest(), "^") {
		t.out.WriteByte('^')
		t.pos++
	}
	for t.pos < len(t.src) {
		switch t.src[t.pos] {
		case ']':
			t.out.WriteByte(']')
			t.pos++
			return nil
		case '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case '[':
			t.out.WriteString(`\[`)
			t.pos++
		default:
			t.copyRune()
		}
	}
	return errors.New("missing closing ]")
}

func (t *translator) escape(inClass bool) error {
	if t.pos+1 >= len(t.src) {
		return errors.New(`trailing \`)
	}
	c := t.src[t.pos+1]
	switch c {
	case 'd', 'D', 'w', 'W', 't', 'n', 'r', 'f', 'v':
		t.out.WriteString(t.src[t.pos : t.pos+2])
	case 's', 'S':
		t.space(c == 'S', inClass)
	case 'b', 'B':
		if inClass && c == 'b' {
			t.out.WriteString(`\x08`)
		} else if inClass {
			return errors.New(`invalid escape \B in a class`)
		} else {
			t.out.WriteString(t.src[t.pos : t.pos+2])
		}
	case 'p', 'P':
		return t.property()
	case 'u', 'x', 'c', '0':
		return t.codePoint()
	default:
		return t.identity(c)
	}
	t.pos += 2
	return nil
}

func (t *translator) space(not, inClass bool) {
	inside := spaceClass
	if not {
		inside = notSpaceClass
	}
	if inClass {
		t.out.WriteString(inside)
	} else {
		t.out.WriteString("[" + inside + "]")
	}
}

func (t *translator) identity(c byte) error {
	switch {
	case c >= '1' && c <= '9':
		return errors.New("back references are not supported; the pattern must be matchable in linear time")
	case c == 'k':
		return errors.New("named back references are not supported; the pattern must be matchable in linear time")
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return fmt.Errorf(`\%c is not an ECMA-262 escape`, c)
	case c >= utf8.RuneSelf || c == '_':
		t.pos++
		t.copyRune()
		return nil
	case c < 0x20 || c == ' ' || c == 0x7f:
		t.out.WriteString(fmt.Sprintf(`\x%02x`, c))
	default:
		t.out.WriteString(t.src[t.pos : t.pos+2])
	}
	t.pos += 2
	return nil
}

// codePoint handles \uXXXX (with surrogate pairs), \u{X…}, \xXX, \cX and \0.
func (t *translator) codePoint() error {
	r, n, err := readCodePoint(t.rest())
	if err != nil {
		return err
	}
	if r >= 0xD800 && r < 0xDC00 {
		lo, m, err := readCodePoint(t.src[t.pos+n:])
		if err != nil || lo < 0xDC00 || lo >= 0xE000 {
			return errors.New("a lone surrogate matches nothing in valid text")
		}
		r, n = (r-0xD800)<<10|(lo-0xDC00)+0x10000, n+m
	}
	if !utf8.ValidRune(r) {
		return errors.New("a lone surrogate matches nothing in valid text")
	}
	fmt.Fprintf(&t.out, `\x{%x}`, r)
	t.pos += n
	return nil
}

func readCodePoint(s string) (r rune, n int, err error) {
	bad := fmt.Errorf("invalid escape at %.8q", s)
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0, bad
	}
	digits, end := "", 0
	switch s[1] {
	case '0':
		if len(s) > 2 && s[2] >= '0' && s[2] <= '9' {
			return 0, 0, bad
		}
		return 0, 2, nil
	case 'c':
		if len(s) < 3 || s[2]|0x20 < 'a' || s[2]|0x20 > 'z' {
			return 0, 0, bad
		}
		return rune(s[2] & 31), 3, nil
	case 'x':
		end = 4
	case 'u':
		end = 6
		if strings.HasPrefix(s[2:], "{") {
			end = strings.IndexByte(s, '}')
			if end < 0 {
				return 0, 0, bad
			}
			digits, end = s[3:end], end+1
		}
	}
	if len(s) < end {
		return 0, 0, bad
	}
	if digits == "" {
		digits = s[2:end]
	}
	v, perr := strconv.ParseUint(digits, 16, 32)
	if perr != nil || v > utf8.MaxRune {
		return 0, 0, bad
	}
	return rune(v), end, nil
}

// property translates \p{…}: long names of general categories and Script=.
func (t *translator) property() error {
	rest := t.rest()
	end := strings.IndexByte(rest, '}')
	if len(rest) < 4 || rest[2] != '{' || end < 0 {
		return errors.New(`\p needs a property name in braces`)
	}
	name := rest[3:end]
	if k, v, ok := strings.Cut(name, "="); ok {
		switch k {
		case "Script", "sc", "Script_Extensions", "scx", "General_Category", "gc":
			name = v
		default:
			return fmt.Errorf("unknown property %q", name)
		}
	}
	if short, ok := shortCategory(name); ok {
		name = short
	}
	t.out.WriteString(rest[:2] + "{" + name + "}")
	t.pos += end + 1
	return nil
}

func shortCategory(name string) (string, bool) {
	s, ok := map[string]string{
		"Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll",
		"Titlecase_Letter": "Lt",
		"Modifier_Letter":  "Lm", "Other_Letter": "Lo", "Mark": "M", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc",
		"Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl",
		"Other_Number": "No",
		"Punctuation":  "P", "punct": "P", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
		"Modifier_Symbol": "Sk",
		"Other_Symbol":    "So", "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl",
		"Paragraph_Separator": "Zp",
		"Other":               "C", "Control": "Cc", "Format": "Cf", "Surrogate": "Cs", "Private_Use": "Co",
	}[name]
	return s, ok
}
