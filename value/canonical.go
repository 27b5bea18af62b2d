// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Canonical is the text that all equal JSON values share: members in the order of their names,
// one way to write each number and text, no space. What is absent is {}, as a call without
// arguments is; what is no JSON is itself as a JSON string.
func Canonical(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}")
	}
	v, err := Parse(raw)
	if err != nil {
		return Quote(string(raw))
	}
	return AppendCanonical(make([]byte, 0, len(raw)), v)
}

// AppendCanonical appends the canonical text of a value.
func AppendCanonical(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Number:
		return append(dst, canonicalNumber(string(v.Raw()))...)
	case String:
		return append(dst, Quote(v.Str())...)
	case Array:
		dst = append(dst, '[')
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			dst = append(AppendCanonical(dst, e), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte(",")), ']')
	case Object:
		dst = append(dst, '{')
		for _, e := range Members(v) {
			dst = append(append(dst, Quote(e.Key())...), ':')
			dst = append(AppendCanonical(dst, e), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte(",")), '}')
	}
	return append(dst, v.Raw()...)
}

// Members are those of an object in the order of their names.
func Members(v Value) []Value {
	out := make([]Value, 0, v.Len())
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Value) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// plainDigits bounds numbers that are written without an exponent.
const plainDigits = 21

// canonicalNumber is a number as people write it: 5 for 5.0 and 50e-1. Very large and very
// small ones have an exponent.
func canonicalNumber(lit string) string {
	digits, neg := strings.CutPrefix(lit, "-")
	exp := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		n, err := strconv.Atoi(strings.TrimPrefix(digits[i+1:], "+"))
		if err != nil { // an exponent that no number has
			return lit
		}
		exp, digits = n, digits[:i]
	}
	whole, part, _ := strings.Cut(digits, ".")
	exp -= len(part)
	digits = strings.TrimLeft(whole+part, "0")
	short := strings.TrimRight(digits, "0")
	exp += len(digits) - len(short)
	switch {
	case short == "":
		return "0"
	case exp >= 0 && len(short)+exp <= plainDigits:
		short += strings.Repeat("0", exp)
	case exp < 0 && -exp < len(short):
		short = short[:len(short)+exp] + "." + short[len(short)+exp:]
	case exp < 0 && -exp <= plainDigits:
		short = "0." + strings.Repeat("0", -exp-len(short)) + short
	default:
		short += "e" + strconv.Itoa(exp)
	}
	if neg {
		return "-" + short
	}
	return short
}
