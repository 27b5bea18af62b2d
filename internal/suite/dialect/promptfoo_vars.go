// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"regexp"
	"strings"
)

// vars are the test's variables over those of defaultTest.
func (p *promptfooReader) vars(o object) []member {
	var out []member
	for _, src := range []node{o.get("vars"), p.defaults.get("vars")} {
		if ref, ok := src.text(); ok {
			src = p.file(src, ref)
		}
		for _, m := range src.members(p.keys) {
			if !hasMember(out, m.name) {
				out = append(out, p.variable(m))
			}
		}
	}
	return out
}

func hasMember(list []member, name string) bool {
	for _, m := range list {
		if m.name == name {
			return true
		}
	}
	return false
}

// variable reads a value that is a file.
func (p *promptfooReader) variable(m member) member {
	s, ok := m.val.text()
	if !ok || !strings.HasPrefix(s, "file://") {
		return m
	}
	b, _, err := p.read(s)
	if err != nil {
		p.report(m.val.off, "file", m.name, "write the value into the test", "%v", err)
		return m
	}
	m.val = node{raw: quote(string(b)), off: m.val.off}
	return m
}

// combos expands variables that are lists into every combination.
func (p *promptfooReader) combos(vars []member) [][]member {
	out := [][]member{nil}
	for _, m := range vars {
		values := m.val.elements()
		if m.val.kind() != '[' {
			values = []node{m.val}
		}
		if len(out)*len(values) > maxCombos {
			p.report(m.off, "too-many", m.name, "write the combinations that matter as tests", "lists of variables make more than %d combinations; %s is kept as one value", maxCombos, m.name)
			values = []node{m.val}
		}
		var next [][]member
		for _, have := range out {
			for _, v := range values {
				next = append(next, append(have[:len(have):len(have)], member{name: m.name, off: m.off, val: v}))
			}
		}
		out = next
	}
	return out
}

var (
	expression = regexp.MustCompile(`\{\{-?\s*(.*?)\s*-?\}\}`)
	reference  = regexp.MustCompile(`^[A-Za-z_][\w]*(\.[A-Za-z_0-9]\w*)*$`)
)

// render substitutes {{name}} and {{name.key}}; failure says what it could not do.
// Values may hold references themselves, one level deep.
func render(text string, vars []member) (out, failure string) {
	if strings.Contains(text, "{%") {
		return text, "it has {% %} statements"
	}
	for range 2 {
		text = expression.ReplaceAllStringFunc(text, func(e string) string {
			ref := expression.FindStringSubmatch(e)[1]
			if !reference.MatchString(ref) {
				failure = fmt.Sprintf("%s is more than a name", e)
				return e
			}
			v := variableAt(vars, ref)
			if v.absent() {
				failure = fmt.Sprintf("no variable is called %q", ref)
				return e
			}
			if v.kind() == '"' {
				return unquote(v.raw)
			}
			return string(compact(v.raw))
		})
		if failure != "" || !strings.Contains(text, "{{") {
			break
		}
	}
	return text, failure
}

func variableAt(vars []member, ref string) node {
	name, rest, deep := strings.Cut(ref, ".")
	for _, m := range vars {
		if m.name != name {
			continue
		}
		if !deep {
			return m.val
		}
		return m.val.at(strings.Split(rest, ".")...)
	}
	return node{}
}

// renderValue renders every string inside a JSON value.
func renderValue(n node, vars []member) (node, string) {
	switch n.kind() {
	case '"':
		s, failure := render(unquote(n.raw), vars)
		return node{raw: quote(s), off: n.off}, failure
	case '[':
		var items [][]byte
		for _, e := range n.elements() {
			v, failure := renderValue(e, vars)
			if failure != "" {
				return n, failure
			}
			items = append(items, v.raw)
		}
		return node{raw: array(items), off: n.off}, ""
	case '{':
		var o record
		for _, m := range n.members(nil) {
			v, failure := renderValue(m.val, vars)
			if failure != "" {
				return n, failure
			}
			o.raw(m.name, v.raw)
		}
		return node{raw: o.bytes(), off: n.off}, ""
	}
	return n, ""
}
