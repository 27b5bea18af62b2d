// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var tokenPattern = regexp.MustCompile(`\{\{\s*(seed|snapshot):\s*([^{}]*?)\s*\}\}`)

// tokens resolves {{seed:a.b[0].c}} and {{snapshot:…}}, and remembers what each
// one became, so that an export can tell a resolved value from an edited one.
type tokens struct {
	roots map[string]node
	// known maps a token to its JSON value; the absent node is unresolved.
	known map[string]node
	order []string
}

func newTokens(opt Options) *tokens {
	t := &tokens{roots: map[string]node{}, known: map[string]node{}}
	t.roots["seed"], _ = trusted(opt.Seeds)
	t.roots["snapshot"], _ = trusted(opt.Snapshots)
	return t
}

// replay makes tokens that answer as they did at import.
func replay(rec node) *tokens {
	t := &tokens{roots: map[string]node{}, known: map[string]node{}}
	for _, m := range rec.members(nil) {
		v := m.val.get("value")
		t.known[m.name] = v
		t.order = append(t.order, m.name)
	}
	return t
}

// record is {"seed:a.b": {"value": …}} with no value where there was none.
func (t *tokens) record() []byte {
	var o record
	for _, key := range t.order {
		var v record
		v.raw("value", t.known[key].raw)
		o.raw(key, v.bytes())
	}
	return o.bytes()
}

func (t *tokens) resolve(kind, path string) node {
	key := kind + ":" + path
	if v, ok := t.known[key]; ok {
		return v
	}
	v := lookup(t.roots[kind], path)
	t.known[key] = v
	t.order = append(t.order, key)
	return v
}

// lookup walks "a.b[0].c"; the absent node when the path leads nowhere or to null.
func lookup(n node, path string) node {
	for _, part := range strings.Split(path, ".") {
		key, index, indexed := strings.Cut(part, "[")
		if key != "" || !indexed {
			n = n.get(key)
		}
		for indexed {
			var num string
			num, index, _ = strings.Cut(index, "]")
			i, err := strconv.Atoi(num)
			items := n.elements()
			if err != nil || i < 0 || i >= len(items) {
				return node{}
			}
			n = items[i]
			index, indexed = strings.CutPrefix(index, "[")
		}
	}
	if n.null() {
		return node{}
	}
	return n
}

// plain writes a resolved value as text: numbers in plain decimal, the rest as JSON.
func plain(v node) string {
	switch v.kind() {
	case '"':
		return unquote(v.raw)
	case '0':
		return decimal(string(v.raw))
	}
	return string(compact(v.raw))
}

// decimal writes a JSON number without exponent and trailing zeros; numbers
// with an exponent beyond 308 stay as they are.
func decimal(lit string) string {
	if i := strings.IndexAny(lit, "eE"); i >= 0 {
		if e, err := strconv.Atoi(lit[i+1:]); err != nil || e > 308 || e < -308 {
			return lit
		}
	} else if !strings.Contains(lit, ".") {
		return lit
	}
	rat, ok := new(big.Rat).SetString(lit)
	if !ok || rat.IsInt() {
		return rat.Num().String()
	}
	digits, _ := rat.FloatPrec() // a decimal literal is exact in decimals
	return rat.FloatString(digits)
}

// tokenReader substitutes the tokens of one case and counts what it drops.
type tokenReader struct {
	*reader
	tokens    *tokens
	skipped   int
	snapshots bool
}

// text substitutes every token of s; ok is false when one has no value.
func (t *tokenReader) text(s string, n node, key string) (string, bool) {
	if !strings.Contains(s, "{{") {
		return s, true
	}
	missing := ""
	out := tokenPattern.ReplaceAllStringFunc(s, func(tok string) string {
		m := tokenPattern.FindStringSubmatch(tok)
		t.snapshots = t.snapshots || m[1] == "snapshot"
		v := t.tokens.resolve(m[1], m[2])
		if v.absent() {
			missing = tok
			return ""
		}
		return plain(v)
	})
	if missing == "" {
		return out, true
	}
	t.drop(n, key, missing)
	return "", false
}

func (t *tokenReader) drop(n node, key, token string) {
	t.skipped++
	t.warn(n.off, "unresolved-token", key, "give the seed manifest or a snapshot with the suite", "%s has no value; this assertion is skipped", token)
}

func (t *tokenReader) texts(v node, key string) []string {
	if !v.given() {
		return nil
	}
	if v.kind() != '[' {
		return t.strs(v, key) // reports the wrong type
	}
	var out []string
	for _, e := range v.elements() {
		s, ok := e.text()
		if !ok {
			t.report(e.off, "wrong-type", key, "", "%s must be a list of strings; this is %s", key, kindName(e))
			continue
		}
		if s, ok = t.text(s, e, key); ok {
			out = append(out, s)
		}
	}
	return out
}

// groups reads synonym groups; a flat list of strings is one group.
func (t *tokenReader) groups(v node) [][]string {
	const key = "responseContainsAny"
	if !v.given() {
		return nil
	}
	items := v.elements()
	flat := 0
	for _, e := range items {
		if e.kind() == '"' {
			flat++
		}
	}
	switch {
	case v.kind() != '[' || (flat > 0 && flat < len(items)):
		t.report(v.off, "wrong-type", key, `write [["a","b"],["c"]]: one of each inner list must appear`, "%s must be a list of lists of strings", key)
		return nil
	case flat > 0:
		items = []node{v}
	}
	var out [][]string
	for _, e := range items {
		if g := t.texts(e, key); len(g) > 0 {
			out = append(out, g)
		} else if len(e.elements()) == 0 {
			t.report(e.off, "empty-group", key, "remove the empty list", "an empty synonym group can never be satisfied")
		}
	}
	return out
}

// value substitutes tokens anywhere in a JSON value. A string that is one token
// and nothing else becomes the token's value with its type, so that numbers
// compare with numbers.
func (t *tokenReader) value(v node, key string) (json.RawMessage, bool) {
	if !isTokenIn(v.raw) {
		return v.raw, true
	}
	switch v.kind() {
	case '"':
		s := unquote(v.raw)
		if m := tokenPattern.FindStringSubmatch(s); m != nil && m[0] == s {
			t.snapshots = t.snapshots || m[1] == "snapshot"
			val := t.tokens.resolve(m[1], m[2])
			if val.absent() {
				t.drop(v, key, s)
			}
			return val.raw, !val.absent()
		}
		s, ok := t.text(s, v, key)
		return quote(s), ok
	case '[':
		var items [][]byte
		for _, e := range v.elements() {
			if raw, ok := t.value(e, key); ok {
				items = append(items, raw)
			}
		}
		return array(items), len(items) > 0
	}
	var o record
	for _, m := range v.members(nil) {
		raw, ok := t.value(m.val, key)
		if !ok {
			return nil, false
		}
		o.raw(m.name, raw)
	}
	return o.bytes(), true
}
