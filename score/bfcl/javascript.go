// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import "strings"

func jsValue(dst []byte, s, typ, inner string) ([]byte, error) {
	switch typ {
	case "String":
		if quoted(s, `"'`) {
			return str(dst, peel(s)), nil
		}
	case "integer", "Bigint":
		suffix := ""
		if typ == "Bigint" {
			suffix = "n"
		}
		if n, text, ok := whole(s, suffix); ok && !n.fraction && !n.exponent {
			return integerText(dst, text), nil
		}
	case "float":
		if n, text, ok := whole(s, ""); ok && !n.exponent {
			return floatText(dst, text), nil
		}
	case "Boolean":
		if s == "true" || s == "false" {
			return append(dst, s...), nil
		}
	case "dict":
		return jsObject(dst, s), nil
	case "array":
		return jsArray(dst, s, inner), nil
	case "any":
	default:
		return nil, errUnsupported
	}
	return str(dst, s), nil
}

// jsOpen removes the opening of an array from s: a bracket, or new Array( with its closing
// character.
func jsOpen(s string) (rest, end string, ok bool) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		return rest, "]", true
	}
	if after, ok := strings.CutPrefix(s, "new"); ok {
		if t := skipSpace(after); len(t) < len(after) {
			rest, ok = strings.CutPrefix(t, "Array(")
			return rest, ")", ok
		}
	}
	return "", "", false
}

func jsArray(dst []byte, s, inner string) []byte {
	s = strings.TrimSpace(s)
	rest, end, ok := jsOpen(s)
	if !ok {
		return str(dst, s)
	}
	if first := skipSpace(rest); strings.HasPrefix(first, "[") {
		if to := rowsEnd(first, end[0]); to >= 0 {
			return jsRows(dst, first[:to])
		}
	}
	text, _, ok := line(rest, end, 0)
	if !ok {
		return str(dst, s)
	}
	out := []byte{'['}
	if text = strings.TrimSpace(text); text != "" {
		for i, e := range strings.Split(text, ",") {
			if i > 0 {
				out = append(out, ',')
			}
			e = strings.TrimSpace(e)
			if inner == "" {
				out = jsUntyped(out, e)
				continue
			}
			next, err := jsValue(out, e, inner, "")
			if err != nil { // the whole text then stays a string
				return str(dst, s)
			}
			out = next
		}
	}
	return append(append(dst, out...), ']')
}

// rowsEnd finds the end of a list of bracketed rows, from within its first row; -1: there is no
// end. A row ends at the first bracket on its line after which another row or end follows.
func rowsEnd(s string, end byte) int {
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		if s[i] != ']' {
			continue
		}
		rest := skipSpace(s[i+1:])
		if strings.HasPrefix(rest, string(end)) {
			return len(s) - len(rest)
		}
		if after, ok := strings.CutPrefix(rest, ","); ok {
			if next := skipSpace(after); strings.HasPrefix(next, "[") {
				i = len(s) - len(next)
			}
		}
	}
	return -1
}

// jsRows converts the text of bracketed rows; each ends at its first closing bracket.
func jsRows(dst []byte, s string) []byte {
	dst = append(dst, '[')
	sep := ""
	for {
		_, rest, ok := strings.Cut(s, "[")
		if !ok {
			return append(dst, ']')
		}
		s = rest
		text, after, ok := line(rest, "]", 0)
		if !ok {
			continue
		}
		s = after
		dst = append(append(dst, sep...), '[')
		for k, e := range strings.Split(text, ",") {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = jsUntyped(dst, e)
		}
		dst, sep = append(dst, ']'), ","
	}
}

func jsObject(dst []byte, s string) []byte {
	s = strings.TrimSpace(s)
	if s == "{}" {
		return append(dst, s...)
	}
	rest, ok := strings.CutPrefix(s, "{")
	if !ok {
		return str(dst, s)
	}
	text, _, ok := line(rest, "}", 0)
	if !ok {
		return str(dst, s)
	}
	var d dict
	for _, p := range jsPairs(text) {
		key := strings.Trim(strings.TrimSpace(p[0]), `'"`)
		v := strings.TrimSpace(p[1])
		switch {
		case strings.HasPrefix(v, "[") && strings.HasSuffix(v, "]"):
			d.set(key, jsArray(nil, v, ""))
		case strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}"):
			d.set(key, jsObject(nil, v))
		default:
			d.set(key, jsUntyped(nil, strings.Trim(v, `'"`)))
		}
	}
	return d.append(dst)
}

// jsPairs splits "a: 1, b: 2": a value ends at the end, or at a comma after
// which a key and a colon come before the next comma.
func jsPairs(s string) [][2]string {
	var out [][2]string
	for s != "" {
		colon := strings.IndexByte(s, ':')
		if colon < 0 {
			break
		}
		if colon == 0 { // a key has at least one character
			s = s[1:]
			continue
		}
		key, rest := s[:colon], skipSpace(s[colon+1:])
		end := pairEnd(rest)
		out = append(out, [2]string{key, rest[:end]})
		if end == len(rest) {
			break
		}
		s = rest[end+1:]
	}
	return out
}

func pairEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] != ',' {
			continue
		}
		next := s[i+1:]
		if c := strings.IndexByte(next, ','); c >= 0 {
			next = next[:c]
		}
		if strings.IndexByte(next, ':') > 0 {
			return i
		}
	}
	return len(s)
}

func jsUntyped(dst []byte, s string) []byte {
	s = strings.TrimSpace(s)
	if s == "true" || s == "false" {
		return append(dst, s...)
	}
	if quoted(s, `"'`) {
		return str(dst, peel(s))
	}
	return untyped(dst, s)
}
