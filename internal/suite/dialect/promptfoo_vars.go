// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"regexp"
	"strings"
)

// vars are the test's variables, which override the variables of defaultTest.
func (p *promptfooReader) vars(o Object) []Member {
	var out []Member
	for _, src := range []Node{o.Get("vars"), p.scenario.Get("vars"), p.defaults.Get("vars")} {
		if ref, ok := src.Text(); ok {
			src = p.file(src, ref)
		}
		for _, m := range src.Members(p.Keys) {
			if !hasMember(out, m.Name) {
				out = append(out, p.variable(m))
			}
		}
	}
	return out
}

func hasMember(list []Member, name string) bool {
	for _, m := range list {
		if m.Name == name {
			return true
		}
	}
	return false
}

// variable reads a value that is a file.
func (p *promptfooReader) variable(m Member) Member {
	s, ok := m.Val.Text()
	if !ok || !strings.HasPrefix(s, "file://") {
		return m
	}
	b, _, err := p.read(s)
	if err != nil {
		p.Report(m.Val.Off, "file", m.Name, "write the value into the test", "%v", err)
		return m
	}
	m.Val = Node{Raw: Quote(string(b)), Off: m.Val.Off}
	return m
}

// combos expands variables that are lists into every combination.
func (p *promptfooReader) combos(vars []Member) [][]Member {
	out := [][]Member{nil}
	for _, m := range vars {
		values := m.Val.Elements()
		if m.Val.Kind() != '[' {
			values = []Node{m.Val}
		}
		if len(out)*len(values) > maxCombos {
			p.Report(m.Off, "too-many", m.Name, "write the combinations that matter as tests",
				"lists of variables make more than %d combinations; %s is kept as one value", maxCombos, m.Name)
			values = []Node{m.Val}
		}
		var next [][]Member
		for _, have := range out {
			for _, v := range values {
				next = append(next, append(have[:len(have):len(have)], Member{Name: m.Name, Off: m.Off, Val: v}))
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

// render substitutes {{name}} and {{name.key}}; failure explains what it could not substitute.
// Values may contain references themselves, one level deep.
func render(text string, vars []Member) (out, failure string) {
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
			if v.Absent() {
				failure = fmt.Sprintf("no variable is called %q", ref)
				return e
			}
			if v.Kind() == '"' {
				return Unquote(v.Raw)
			}
			return string(Compact(v.Raw))
		})
		if failure != "" || !strings.Contains(text, "{{") {
			break
		}
	}
	return text, failure
}

func variableAt(vars []Member, ref string) Node {
	name, rest, deep := strings.Cut(ref, ".")
	for _, m := range vars {
		if m.Name != name {
			continue
		}
		if !deep {
			return m.Val
		}
		return m.Val.At(strings.Split(rest, ".")...)
	}
	return Node{}
}

// renderValue renders every string inside a JSON value.
func renderValue(n Node, vars []Member) (Node, string) {
	switch n.Kind() {
	case '"':
		s, failure := render(Unquote(n.Raw), vars)
		return Node{Raw: Quote(s), Off: n.Off}, failure
	case '[':
		var items [][]byte
		for _, e := range n.Elements() {
			v, failure := renderValue(e, vars)
			if failure != "" {
				return n, failure
			}
			items = append(items, v.Raw)
		}
		return Node{Raw: Array(items), Off: n.Off}, ""
	case '{':
		var o Record
		for _, m := range n.Members(nil) {
			v, failure := renderValue(m.Val, vars)
			if failure != "" {
				return n, failure
			}
			o.Raw(m.Name, v.Raw)
		}
		return Node{Raw: o.Bytes(), Off: n.Off}, ""
	}
	return n, ""
}
