// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// converter turns the source text of an argument into JSON by its declared type and the declared
// type of its elements. Text that is not a literal of the type stays a string, as in the
// leaderboard.
type converter func(dst []byte, s, typ, inner string) ([]byte, error)

// errUnsupported is a declared type for which the leaderboard has no converter.
var errUnsupported = errors.New("the type has no literal form")

// newConverter returns the converter of a language; nil for Python, where values are already
// decoded.
func newConverter(l Language) converter {
	switch l {
	case Java:
		return javaValue
	case JavaScript:
		return jsValue
	}
	return nil
}

func str(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return append(dst, `""`...)
	}
	return append(dst, b...)
}

// number describes a numeric literal: a sign, digits, a fraction, an exponent.
type number struct {
	length             int
	fraction, exponent bool
}

// scanNumber reads the longest number at the start of s; length 0: there is none.
func scanNumber(s string) (n number) {
	i := digits(s, strings.HasPrefix(s, "-"))
	if i == 0 {
		return n
	}
	n.length = i
	if strings.HasPrefix(s[i:], ".") {
		if k := digits(s[i+1:], false); k > 0 {
			i += 1 + k
			n.length, n.fraction = i, true
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		signed := strings.HasPrefix(s[i+1:], "-") || strings.HasPrefix(s[i+1:], "+")
		if k := digits(s[i+1:], signed); k > 0 {
			n.length, n.exponent = i+1+k, true
		}
	}
	return n
}

// digits counts a run of digits, with one sign before it where signed.
func digits(s string, signed bool) int {
	from := 0
	if signed {
		from = 1
	}
	i := from
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == from {
		return 0
	}
	return i
}

// whole reports whether s is a number, one of the suffix's letters (none when it is empty) and at
// most a line break. It also returns the number's text.
func whole(s, suffix string) (n number, text string, ok bool) {
	n = scanNumber(s)
	text, s = s[:n.length], s[n.length:]
	if suffix != "" {
		if s == "" || !strings.ContainsRune(suffix, rune(s[0])) {
			return n, text, false
		}
		s = s[1:]
	}
	return n, text, n.length > 0 && (s == "" || s == "\n")
}

// integerText appends the digits of an integer literal, which may have leading zeros.
func integerText(dst []byte, s string) []byte {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return str(dst, s)
	}
	return n.Append(dst, 10)
}

// floatText appends a float in a form that is read as a float.
func floatText(dst []byte, s string) []byte {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil { // too large: infinity
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "1e999"...)
	}
	b := strconv.AppendFloat(nil, f, 'g', -1, 64)
	if !strings.ContainsAny(string(b), ".e") {
		b = append(b, ".0"...)
	}
	return append(dst, b...)
}

// untyped appends an integer or a float by Python's notation (a plus sign, a
// point at either end, single underscores between digits), else the text.
func untyped(dst []byte, s string) []byte {
	sign, t := cutSign(strings.TrimSpace(s))
	if t == "" || t[0] == '-' || !plainUnderscores(t) {
		return str(dst, s)
	}
	t = strings.ReplaceAll(t, "_", "")
	pointed := strings.HasPrefix(t, ".") && len(t) > 1 && isDigit(t[1])
	if pointed {
		t = "0" + t
	}
	if i := digits(t, false); i > 0 && strings.HasPrefix(t[i:], ".") && (i+1 == len(t) || !isDigit(t[i+1])) {
		t, pointed = t[:i]+".0"+t[i+1:], true
	}
	n := scanNumber(t)
	switch {
	case n.length == 0 || n.length != len(t):
		return str(dst, s)
	case n.fraction || n.exponent || pointed:
		return floatText(dst, sign+t)
	}
	return integerText(dst, sign+t)
}

// cutSign cuts one sign off the front of s; a plus is dropped.
func cutSign(s string) (sign, rest string) {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return "-", rest
	}
	return "", strings.TrimPrefix(s, "+")
}

// plainUnderscores reports that every underscore is between two digits.
func plainUnderscores(s string) bool {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || !isDigit(s[i-1]) || !isDigit(s[i+1])) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// quoted reports that s begins and ends with the same kind of quote.
func quoted(s string, quotes string) bool {
	for _, q := range quotes {
		if strings.HasPrefix(s, string(q)) && strings.HasSuffix(s, string(q)) {
			return true
		}
	}
	return false
}

// peel drops the first and the last character.
func peel(s string) string {
	rs := []rune(s)
	if len(rs) < 2 {
		return ""
	}
	return string(rs[1 : len(rs)-1])
}

func skipSpace(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }

// line returns the text before end on the first line of s, with least characters or more; ok is
// false when the line does not contain end.
func line(s, end string, least int) (text, rest string, ok bool) {
	if len(s) < least {
		return "", "", false
	}
	i := strings.Index(s[least:], end)
	if i < 0 || strings.Contains(s[:least+i], "\n") {
		return "", "", false
	}
	return s[:least+i], s[least+i+len(end):], true
}

// dict collects members; a later one replaces an earlier of the same name.
type dict struct {
	keys   []string
	values map[string][]byte
}

func (d *dict) set(key string, v []byte) {
	if d.values == nil {
		d.values = map[string][]byte{}
	}
	if _, has := d.values[key]; !has {
		d.keys = append(d.keys, key)
	}
	d.values[key] = v
}

func (d *dict) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, k := range d.keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(str(dst, k), ':'), d.values[k]...)
	}
	return append(dst, '}')
}
