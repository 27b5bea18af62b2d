// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

var tokenPattern = regexp.MustCompile(`\{\{\s*(seed|snapshot):\s*([^{}]*?)\s*\}\}`)

// tokens resolves {{seed:a.b[0].c}} and {{snapshot:…}}, and remembers each result. So an export can
// distinguish a resolved value from an edited one.
type tokens struct {
	roots map[string]Node
	// known maps a token to its JSON value; the absent node is unresolved.
	known map[string]Node
	order []string
}

func newTokens(opt ReaderOptions) *tokens {
	t := &tokens{roots: map[string]Node{}, known: map[string]Node{}}
	t.roots["seed"], _ = Trusted(opt.Seeds)
	t.roots["snapshot"], _ = Trusted(opt.Snapshots)
	return t
}

// replay makes tokens that resolve as they did at import.
func replay(rec Node) *tokens {
	t := &tokens{roots: map[string]Node{}, known: map[string]Node{}}
	for _, m := range rec.Members(nil) {
		v := m.Val.Get("value")
		t.known[m.Name] = v
		t.order = append(t.order, m.Name)
	}
	return t
}

// record is {"seed:a.b": {"value": …}} with no value where there was none.
func (t *tokens) record() []byte {
	var o Record
	for _, key := range t.order {
		var v Record
		v.Raw("value", t.known[key].Raw)
		o.Raw(key, v.Bytes())
	}
	return o.Bytes()
}

func (t *tokens) resolve(kind, path string) Node {
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
func lookup(n Node, path string) Node {
	for _, part := range strings.Split(path, ".") {
		key, index, indexed := strings.Cut(part, "[")
		if key != "" || !indexed {
			n = n.Get(key)
		}
		for indexed {
			var num string
			num, index, _ = strings.Cut(index, "]")
			i, err := strconv.Atoi(num)
			items := n.Elements()
			if err != nil || i < 0 || i >= len(items) {
				return Node{}
			}
			n = items[i]
			index, indexed = strings.CutPrefix(index, "[")
		}
	}
	if n.Null() {
		return Node{}
	}
	return n
}

// plain writes a resolved value as text: numbers in plain decimal, the rest as JSON.
func plain(v Node) string {
	switch v.Kind() {
	case '"':
		return Unquote(v.Raw)
	case '0':
		return decimal(string(v.Raw))
	}
	return string(Compact(v.Raw))
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
	dropped   []callvet.Unsupported
	snapshots bool
}

// text substitutes every token of s; ok is false when one has no value.
func (t *tokenReader) text(s string, n Node, key string) (string, bool) {
	if !strings.Contains(s, "{{") {
		return s, true
	}
	missing := ""
	out := tokenPattern.ReplaceAllStringFunc(s, func(tok string) string {
		m := tokenPattern.FindStringSubmatch(tok)
		t.snapshots = t.snapshots || m[1] == "snapshot"
		v := t.tokens.resolve(m[1], m[2])
		if v.Absent() {
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

func (t *tokenReader) drop(n Node, key, token string) {
	t.dropped = append(t.dropped, callvet.Unsupported{Name: key, Reason: "the token " + token + " has no value"})
	t.Warn(n.Off, "unresolved-token", key, "give the seed manifest or a snapshot with the suite",
		"%s has no value; this assertion is skipped", token)
}

func (t *tokenReader) texts(v Node, key string) []string {
	if !v.Given() {
		return nil
	}
	if v.Kind() != '[' {
		return t.Strs(v, key) // reports the wrong type
	}
	var out []string
	for _, e := range v.Elements() {
		s, ok := e.Text()
		if !ok {
			t.Report(e.Off, "wrong-type", key, "", "%s must be a list of strings; this is %s", key, KindName(e))
			continue
		}
		if s, ok = t.text(s, e, key); ok {
			out = append(out, s)
		}
	}
	return out
}

// groups reads synonym groups; a flat list of strings is one group.
func (t *tokenReader) groups(v Node) [][]string {
	const key = "responseContainsAny"
	if !v.Given() {
		return nil
	}
	items := v.Elements()
	flat := 0
	for _, e := range items {
		if e.Kind() == '"' {
			flat++
		}
	}
	switch {
	case v.Kind() != '[' || (flat > 0 && flat < len(items)):
		t.Report(v.Off, "wrong-type", key, `write [["a","b"],["c"]]: one of each inner list must appear`,
			"%s must be a list of lists of strings", key)
		return nil
	case flat > 0:
		items = []Node{v}
	}
	var out [][]string
	for _, e := range items {
		if g := t.texts(e, key); len(g) > 0 {
			out = append(out, g)
		} else if len(e.Elements()) == 0 {
			t.Report(e.Off, "empty-group", key, "remove the empty list",
				"an empty synonym group can never be satisfied")
		}
	}
	return out
}

// value substitutes tokens anywhere in a JSON value. A string that is one token
// and nothing else becomes the token's value with its type, so that numbers
// compare with numbers.
func (t *tokenReader) value(v Node, key string) (json.RawMessage, bool) {
	if !isTokenIn(v.Raw) {
		return v.Raw, true
	}
	switch v.Kind() {
	case '"':
		s := Unquote(v.Raw)
		if m := tokenPattern.FindStringSubmatch(s); m != nil && m[0] == s {
			t.snapshots = t.snapshots || m[1] == "snapshot"
			val := t.tokens.resolve(m[1], m[2])
			if val.Absent() {
				t.drop(v, key, s)
			}
			return val.Raw, !val.Absent()
		}
		s, ok := t.text(s, v, key)
		return Quote(s), ok
	case '[':
		var items [][]byte
		for _, e := range v.Elements() {
			if raw, ok := t.value(e, key); ok {
				items = append(items, raw)
			}
		}
		return Array(items), len(items) > 0
	}
	var o Record
	for _, m := range v.Members(nil) {
		raw, ok := t.value(m.Val, key)
		if !ok {
			return nil, false
		}
		o.Raw(m.Name, raw)
	}
	return o.Bytes(), true
}
