// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// tokens resolves {{seed:path}} and {{snapshot:path}}.
type tokens struct{ seeds, snapshots *doc.Node }

// readTokens reads the values that tokens stand for.
func readTokens(seeds, snapshots []byte) (*tokens, error) {
	t := &tokens{}
	for _, f := range []struct {
		name string
		data []byte
		to   **doc.Node
	}{{"seeds", seeds, &t.seeds}, {"snapshots", snapshots, &t.snapshots}} {
		if blank(f.data) {
			continue
		}
		d, bad := doc.Read(f.name, f.data)
		if bad != nil {
			return nil, fmt.Errorf("read %s: %w: %w", f.name, callvet.ErrInvalid, d.Problem(bad))
		}
		root := d.Root
		*f.to = &root
	}
	return t, nil
}

// resolved yields the cases with their tokens resolved.
func (t *tokens) resolved(cases iter.Seq[*callvet.Case]) iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		for c := range cases {
			if t.resolve(c); !yield(c) {
				return
			}
		}
	}
}

// resolve replaces tokens by their values. An assertion with a token that has no value is dropped
// and counted. A case with nothing left to assert, or with such a token in its input, is skipped,
// never passed. Source: Eval Case Interfaces and its token documents.
func (t *tokens) resolve(c *callvet.Case) {
	before := c.Expect
	missing := ""
	for i := range c.Input {
		text, lost := t.text(c.Input[i].Content)
		c.Input[i].Content, missing = text, firstOf(missing, lost)
	}
	text, lost := t.text(c.Context)
	c.Context, missing = text, firstOf(missing, lost)
	gone := t.expect(&c.Expect)
	for _, token := range gone {
		c.Expect.Unsupported = append(c.Expect.Unsupported,
			callvet.Unsupported{Name: "assertion", Reason: "the token " + token + " has no value"})
	}
	switch {
	case c.Skip != "":
	case missing != "":
		c.Skip = "the input has the token " + missing + ", which has no value"
	case len(gone) > 0 && !evaluated(&c.Expect) && evaluated(&before):
		c.Skip = "nothing is left to assert: the token " + gone[0] + " has no value"
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// expect resolves every assertion and returns the tokens of the dropped ones.
func (t *tokens) expect(e *callvet.Expect) (gone []string) {
	keep := func(list []string) []string {
		out := list[:0:0]
		for _, s := range list {
			text, lost := t.text(s)
			if lost != "" {
				gone = append(gone, lost)
				continue
			}
			out = append(out, text)
		}
		if len(out) == 0 && len(list) > 0 {
			return nil
		}
		return out
	}
	e.ResponseContains = keep(e.ResponseContains)
	e.ResponseNotContains = keep(e.ResponseNotContains)
	e.ResponseMatches = keep(e.ResponseMatches)
	var groups [][]string
	for _, g := range e.ResponseContainsAny {
		// A group is one assertion: it is lost only when no member is left.
		before := len(gone)
		if g := keep(g); len(g) > 0 {
			groups, gone = append(groups, g), gone[:before]
		} else if len(gone) > before {
			gone = gone[:before+1]
		}
	}
	e.ResponseContainsAny = groups
	e.ToolParams = slices.DeleteFunc(slices.Clone(e.ToolParams),
		func(p callvet.ToolParam) bool { return t.lost(&p.Matcher.Value, &gone) })
	if len(e.ToolParams) == 0 {
		e.ToolParams = nil
	}
	for i := range e.ToolParams {
		e.ToolParams[i].Matcher.Value, _ = t.value(e.ToolParams[i].Matcher.Value)
	}
	for i := range e.Plans {
		for j := range e.Plans[i].Calls {
			gone = t.call(&e.Plans[i].Calls[j], gone)
		}
	}
	return gone
}

func (t *tokens) lost(v *json.RawMessage, gone *[]string) bool {
	_, token := t.value(*v)
	if token != "" {
		*gone = append(*gone, token)
	}
	return token != ""
}

// call resolves the arguments of an expected call; an argument without a value is no longer
// compared.
func (t *tokens) call(c *callvet.ExpectedCall, gone []string) []string {
	for _, name := range slices.Sorted(maps.Keys(c.Matchers)) {
		m := c.Matchers[name]
		value, lost := t.value(m.Value)
		if lost != "" {
			gone = append(gone, lost)
			m = callvet.Matcher{Mode: "present", Optional: true}
		} else {
			m.Value = value
		}
		c.Matchers[name] = m
	}
	if !strings.Contains(string(c.Args), "{{") {
		return gone
	}
	d, bad := doc.ReadJSON("", c.Args)
	if bad != nil {
		return gone
	}
	out := doc.Node{Kind: doc.Map}
	for i := range d.Root.Items {
		name := d.Root.Names[i]
		value, lost := t.value(d.Root.Items[i].JSON())
		if lost != "" {
			gone = append(gone, lost)
			if c.Matchers == nil {
				c.Matchers = map[string]callvet.Matcher{}
			}
			if _, ok := c.Matchers[name.Name]; !ok {
				c.Matchers[name.Name] = callvet.Matcher{Mode: "present", Optional: true}
			}
			continue
		}
		v, bad := doc.ReadJSON("", value)
		if bad != nil {
			continue
		}
		out.Names, out.Items = append(out.Names, name), append(out.Items, v.Root)
	}
	c.Args = out.JSON()
	return gone
}

// value resolves the tokens inside a JSON value; a string that is one token
// becomes the token's own value, whatever its type.
func (t *tokens) value(raw json.RawMessage) (json.RawMessage, string) {
	if !strings.Contains(string(raw), "{{") {
		return raw, ""
	}
	d, bad := doc.ReadJSON("", raw)
	if bad != nil {
		return raw, ""
	}
	lost := t.walk(&d.Root)
	return d.Root.JSON(), lost
}

func (t *tokens) walk(n *doc.Node) string {
	lost := ""
	for i := range n.Items {
		lost = firstOf(lost, t.walk(&n.Items[i]))
	}
	if n.Kind != doc.String {
		return lost
	}
	text := n.Text()
	if token, rest, ok := nextToken(text); ok && rest == "" && strings.HasPrefix(text, "{{") {
		v := t.find(token)
		if v == nil {
			return token
		}
		*n = *v
		return ""
	}
	text, lost = t.text(text)
	n.Raw = doc.Quote(nil, text)
	return lost
}

// text resolves the tokens inside a text; lost names the first without a value.
func (t *tokens) text(s string) (out, lost string) {
	if !strings.Contains(s, "{{") {
		return s, ""
	}
	var b strings.Builder
	rest := s
	for {
		token, after, ok := nextToken(rest)
		if !ok {
			b.WriteString(rest)
			return b.String(), lost
		}
		b.WriteString(rest[:len(rest)-len(after)-len(token)])
		if v := t.find(token); v != nil {
			b.WriteString(plainText(v))
		} else {
			b.WriteString(token)
			lost = firstOf(lost, token)
		}
		rest = after
	}
}

func plainText(n *doc.Node) string {
	if n.Kind == doc.List || n.Kind == doc.Map {
		return string(n.JSON())
	}
	return n.Text()
}

// nextToken finds the first token of s and what follows it.
func nextToken(s string) (token, after string, ok bool) {
	for from := 0; ; {
		i := strings.Index(s[from:], "{{")
		if i < 0 {
			return "", "", false
		}
		i += from
		end := strings.Index(s[i:], "}}")
		if end < 0 {
			return "", "", false
		}
		token = s[i : i+end+2]
		if inner := strings.TrimSpace(token[2 : len(token)-2]); strings.HasPrefix(inner, "seed:") ||
			strings.HasPrefix(inner, "snapshot:") {
			return token, s[i+end+2:], true
		}
		from = i + 2
	}
}

// find looks a token up: dots and [n] go down, a key may hold dots itself.
func (t *tokens) find(token string) *doc.Node {
	source, path, _ := strings.Cut(strings.TrimSpace(token[2:len(token)-2]), ":")
	from := t.seeds
	if source == "snapshot" {
		from = t.snapshots
	}
	if from == nil {
		return nil
	}
	return descend(from, strings.TrimSpace(path))
}

func descend(n *doc.Node, path string) *doc.Node {
	path = strings.TrimPrefix(path, ".")
	if path == "" {
		return n
	}
	if strings.HasPrefix(path, "[") {
		end := strings.IndexByte(path, ']')
		if end < 0 {
			return nil
		}
		return element(n, path[1:end], path[end+1:])
	}
	for i := range n.Names {
		rest, ok := strings.CutPrefix(path, n.Names[i].Name)
		if ok && n.Names[i].Name != "" && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			if v := descend(&n.Items[i], rest); v != nil {
				return v
			}
		}
	}
	if n.Kind == doc.List {
		head, rest, _ := strings.Cut(path, ".")
		return element(n, head, rest)
	}
	return nil
}

func element(n *doc.Node, index, rest string) *doc.Node {
	i, err := strconv.Atoi(index)
	if err != nil || n.Kind != doc.List || i < 0 || i >= len(n.Items) {
		return nil
	}
	return descend(&n.Items[i], rest)
}

// asserts reports whether anything is expected at all.
func asserts(e *callvet.Expect) bool { return !reflect.ValueOf(*e).IsZero() }

// evaluated reports whether the case has an assertion that needs no judge.
func evaluated(e *callvet.Expect) bool {
	x := *e
	x.Rubric, x.ReferenceData, x.Unsupported = nil, nil, nil
	return asserts(&x)
}
