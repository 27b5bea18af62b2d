// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import "strings"

func javaValue(dst []byte, s, typ, inner string) ([]byte, error) {
	switch typ {
	case "byte", "short", "integer", "long":
		suffix := ""
		if typ == "long" {
			suffix = "lL"
		}
		if n, text, ok := whole(s, suffix); ok && !n.fraction && !n.exponent {
			return integerText(dst, text), nil
		}
	case "float", "double":
		suffix := ""
		if typ == "float" {
			suffix = "fF"
		}
		if _, text, ok := whole(s, suffix); ok {
			return floatText(dst, text), nil
		}
	case "boolean":
		if s == "true" || s == "false" {
			return append(dst, s...), nil
		}
	case "ArrayList":
		return javaList(dst, s, inner)
	case "Array":
		return javaArray(dst, s, inner)
	case "HashMap":
		return javaMap(dst, s), nil
	case "String", "char", "any":
	default:
		return nil, errUnsupported
	}
	return str(dst, s), nil
}

func javaItems(dst []byte, items []string, inner string) ([]byte, error) {
	dst = append(dst, '[')
	for i, s := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		s = strings.TrimSpace(s)
		if inner == "" {
			dst = javaUntyped(dst, s)
			continue
		}
		var err error
		if dst, err = javaValue(dst, s, inner, ""); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// unquoted removes the quotes of text elements; only lists do this.
func unquoted(items []string, inner string) []string {
	if inner == "String" || inner == "char" {
		for i := range items {
			items[i] = peel(strings.TrimSpace(items[i]))
		}
	}
	return items
}

// creations returns the text after each "new NAME" in s.
func creations(s, name string) (out []string) {
	for {
		_, rest, ok := strings.Cut(s, "new")
		if !ok {
			return out
		}
		s = rest
		if after := skipSpace(rest); len(after) < len(rest) && strings.HasPrefix(after, name) {
			out = append(out, after[len(name):])
		}
	}
}

// word returns the letters, digits and underscores at the start of s, and the rest.
func word(s string) (string, string) {
	i := 0
	for i < len(s) && (isDigit(s[i]) || s[i] == '_' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
		i++
	}
	return s[:i], s[i:]
}

// javaList reads the three ways to write a list: of given elements, with an
// initializer that adds them, and empty.
func javaList(dst []byte, s, inner string) ([]byte, error) {
	var tails []string
	for _, c := range creations(s, "ArrayList<") {
		if _, rest := word(c); strings.HasPrefix(rest, ">(") {
			tails = append(tails, rest[2:])
		}
	}
	for _, t := range tails {
		if given, ok := strings.CutPrefix(t, "Arrays.asList("); ok {
			if text, _, ok := line(given, "))", 1); ok {
				return javaItems(dst, unquoted(strings.Split(text, ","), inner), inner)
			}
		}
	}
	empty := false
	for _, t := range tails {
		block, ok := strings.CutPrefix(t, ")")
		if !ok {
			continue
		}
		empty = true
		if block, ok = strings.CutPrefix(skipSpace(block), "{{"); ok {
			if end := strings.Index(block, "}}"); end >= 0 {
				return javaItems(dst, unquoted(added(block[:end]), inner), inner)
			}
		}
	}
	if empty {
		return append(dst, "[]"...), nil
	}
	return str(dst, s), nil
}

// added returns the arguments of the add calls in an initializer.
func added(s string) (out []string) {
	for {
		_, rest, ok := strings.Cut(s, "add(")
		if !ok {
			return out
		}
		s = rest
		if text, after, ok := line(rest, ")", 1); ok {
			out, s = append(out, text), after
		}
	}
}

func javaArray(dst []byte, s, inner string) ([]byte, error) {
	for _, c := range creations(s, "") {
		typ, rest := word(c)
		rest, ok := strings.CutPrefix(rest, "[]")
		if !ok || typ == "" {
			continue
		}
		if rest, ok = strings.CutPrefix(skipSpace(rest), "{"); !ok {
			continue
		}
		text, _, ok := line(rest, "}", 0)
		if !ok {
			continue
		}
		var items []string
		for _, x := range strings.Split(text, ",") {
			if strings.TrimSpace(x) != "" {
				items = append(items, x)
			}
		}
		return javaItems(dst, items, inner)
	}
	return str(dst, s), nil
}

// javaMap reads a map: with the members of its initializer, or empty.
func javaMap(dst []byte, s string) []byte {
	empty := false
	for _, c := range creations(s, "HashMap<") {
		for {
			_, rest, ok := strings.Cut(c, ">")
			if !ok {
				break
			}
			c = rest
			body, ok := strings.CutPrefix(skipSpace(rest), "()")
			if !ok {
				continue
			}
			empty = true
			if body, ok = strings.CutPrefix(skipSpace(body), "{"); !ok {
				continue
			}
			if text, _, ok := strings.Cut(body, "}"); ok {
				return puts(dst, text)
			}
		}
	}
	if empty {
		return append(dst, "{}"...)
	}
	return str(dst, s)
}

// puts collects the members from put calls.
func puts(dst []byte, s string) []byte {
	var d dict
	for {
		_, rest, ok := strings.Cut(s, `put("`)
		if !ok {
			return d.append(dst)
		}
		s = rest
		key, after, ok := line(rest, `",`, 0)
		if !ok {
			continue
		}
		if v, end, ok := line(skipSpace(after), ")", 0); ok {
			d.set(key, javaUntyped(nil, strings.TrimSpace(v)))
			s = end
		}
	}
}

func javaUntyped(dst []byte, s string) []byte {
	if s == "true" || s == "false" {
		return append(dst, s...)
	}
	if quoted(s, `"`) {
		return str(dst, peel(s))
	}
	if n, text, ok := whole(s, "lL"); ok && !n.fraction && !n.exponent {
		return integerText(dst, text)
	}
	if _, text, ok := whole(s, "fF"); ok {
		return floatText(dst, text)
	}
	return untyped(dst, s)
}
