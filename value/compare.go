// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"cmp"
	"strings"
)

// Equal reports whether two values are the same JSON value: numbers by exact
// decimal value, strings code point by code point, arrays in order, objects
// regardless of member order. Two zero Values are equal.
func Equal(a, b Value) bool {
	ka := a.Kind()
	if ka != b.Kind() {
		return false
	}
	switch ka {
	case Invalid, Null:
		return true
	case Bool:
		return a.Bool() == b.Bool()
	case Number:
		return Compare(a, b) == 0
	case String:
		if !(a.node().form | b.node().form).is(roundabout) {
			return bytes.Equal(a.Raw(), b.Raw())
		}
		return bytes.Equal(a.Bytes(), b.Bytes())
	case Array:
		return equalArrays(a, b)
	default:
		return equalObjects(a, b)
	}
}

func equalArrays(a, b Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	y, _ := b.First()
	for x, ok := a.First(); ok; x, ok = a.Next(x) {
		if !Equal(x, y) {
			return false
		}
		y, _ = b.Next(y)
	}
	return true
}

func equalObjects(a, b Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	if a.Len() > 16 {
		return equalLargeObjects(a, b)
	}
	for x, ok := a.First(); ok; x, ok = a.Next(x) {
		y, found := b.Get(x.Key())
		if !found || !Equal(x, y) {
			return false
		}
	}
	return true
}

func equalLargeObjects(a, b Value) bool {
	m := make(map[string]Value, b.Len())
	for y, ok := b.First(); ok; y, ok = b.Next(y) {
		m[y.Key()] = y
	}
	for x, ok := a.First(); ok; x, ok = a.Next(x) {
		y, found := m[x.Key()]
		if !found || !Equal(x, y) {
			return false
		}
	}
	return true
}

// decimal is a number as ±0.d1d2d3… scaled so that value = digits × 10^exp.
type decimal struct {
	neg    bool
	digits []byte // no leading or trailing zeros; empty for zero
	exp    int64  // power of ten of the last digit
}

// maxExp bounds exponents; literals beyond it compare as equal in size, which
// keeps hostile input such as 1e999999999999 cheap.
const maxExp = 1 << 40

func decompose(lit []byte) decimal {
	var d decimal
	if len(lit) > 0 && lit[0] == '-' {
		d.neg, lit = true, lit[1:]
	}
	if e := bytes.IndexAny(lit, "eE"); e >= 0 {
		d.exp = exponent(lit[e+1:])
		lit = lit[:e]
	}
	if dot := bytes.IndexByte(lit, '.'); dot >= 0 {
		frac := lit[dot+1:]
		d.exp -= int64(len(frac))
		lit = append(append(make([]byte, 0, len(lit)), lit[:dot]...), frac...)
	}
	t := bytes.TrimRight(lit, "0")
	d.exp += int64(len(lit) - len(t))
	d.digits = bytes.TrimLeft(t, "0")
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

func exponent(s []byte) int64 {
	neg := len(s) > 0 && s[0] == '-'
	var e int64
	for _, c := range bytes.TrimLeft(s, "+-") {
		if e = e*10 + int64(c-'0'); e > maxExp {
			e = maxExp
			break
		}
	}
	if neg {
		return -e
	}
	return e
}

// Compare is CompareNumbers of two values that are numbers.
func Compare(a, b Value) int {
	if x, y := a.node().count, b.node().count; x > 0 && y > 0 {
		return cmp.Compare(x, y)
	}
	return CompareNumbers(a.Raw(), b.Raw())
}

// CompareNumbers compares two JSON number literals by exact decimal value and returns -1, 0 or 1.
// No precision is lost at any size.
func CompareNumbers(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	if c, ok := compareSmall(a, b); ok {
		return c
	}
	x, y := decompose(a), decompose(b)
	sx, sy := x.sign(), y.sign()
	if sx != sy {
		if sx < sy {
			return -1
		}
		return 1
	}
	return sx * compareMagnitude(x, y)
}

// compareSmall decides plain integers of up to 18 digits without allocation.
func compareSmall(a, b []byte) (int, bool) {
	x, ok := smallInt(a)
	if !ok {
		return 0, false
	}
	y, ok := smallInt(b)
	switch {
	case !ok:
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, true
}

func smallInt(s []byte) (n int64, ok bool) {
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func compareMagnitude(x, y decimal) int {
	if len(x.digits) == 0 {
		return 0
	}
	// The position of the leading digit decides unless it is the same.
	px, py := x.exp+int64(len(x.digits)), y.exp+int64(len(y.digits))
	switch {
	case px < py:
		return -1
	case px > py:
		return 1
	}
	return strings.Compare(string(x.digits), string(y.digits))
}
