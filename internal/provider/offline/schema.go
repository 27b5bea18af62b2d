// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/callvet/callvet/value"
)

// param are the facts of a schema's node for slot filling.
type param struct {
	name, desc string
	kind       string // object, array, string, number, integer, boolean; "" unknown
	format     string
	pattern    *regexp.Regexp
	min, max   *float64
	enum       []choice
	items      *param
	props      []*param
	required   bool
	nameWords  []string // folded
	near       map[string]bool
	fixed      json.RawMessage // const
}

// choice is one value of an enum with the texts that mean it.
type choice struct {
	raw  json.RawMessage
	text string
	also []string // synonyms from the description, folded
}

// maxSchemaDepth bounds what is read of a schema.
const maxSchemaDepth = 6

// readSchema reads a tool's parameters; a schema that cannot be read has none.
func readSchema(raw json.RawMessage) *param {
	v, err := value.Parse(raw)
	if err != nil {
		return &param{kind: "object"}
	}
	return readParam("", v, 0)
}

func readParam(name string, v value.Value, depth int) *param {
	p := &param{name: name, nameWords: words(name), near: map[string]bool{}}
	p.desc = str(v, "description")
	p.kind = typeOf(v)
	p.format = str(v, "format")
	p.min, p.max = bound(v, "minimum", "exclusiveMinimum"), bound(v, "maximum", "exclusiveMaximum")
	if s := str(v, "pattern"); s != "" {
		p.pattern = loosePattern(s)
	}
	if c, ok := v.Get("const"); ok {
		p.fixed = json.RawMessage(c.Raw())
	}
	if list, ok := v.Get("enum"); ok && list.Kind() == value.Array {
		p.readEnum(list)
	}
	for _, w := range append(words(p.desc), p.nameWords...) {
		if !isFunction(en, w) {
			p.near[stem(en, w)] = true
		}
	}
	if depth < maxSchemaDepth {
		p.readChildren(v, depth)
	}
	return p
}

func (p *param) readChildren(v value.Value, depth int) {
	if it, ok := v.Get("items"); ok && it.Kind() == value.Object {
		p.items = readParam(p.name, it, depth+1)
		if p.items.desc == "" {
			p.items.desc = p.desc
		}
	}
	props, _ := v.Get("properties")
	for e, ok := props.First(); ok; e, ok = props.Next(e) {
		p.props = append(p.props, readParam(e.Key(), e, depth+1))
	}
	req, _ := v.Get("required")
	for e, ok := req.First(); ok; e, ok = req.Next(e) {
		for _, c := range p.props {
			if c.name == e.Str() {
				c.required = true
			}
		}
	}
}

func str(v value.Value, key string) string {
	m, _ := v.Get(key)
	return m.Str()
}

// typeOf returns the type; of a list of types the first that is not null. BFCL's names for
// Python's types are understood.
func typeOf(v value.Value) string {
	t, ok := v.Get("type")
	if ok && t.Kind() == value.Array {
		for e, ok := t.First(); ok; e, ok = t.Next(e) {
			if e.Str() != "null" {
				t = e
				break
			}
		}
	}
	switch s := strings.ToLower(t.Str()); s {
	case "dict":
		return "object"
	case "float", "double":
		return "number"
	case "int", "long":
		return "integer"
	case "tuple", "list", "arraylist":
		return "array"
	case "bool":
		return "boolean"
	case "":
		if _, ok := v.Get("properties"); ok {
			return "object"
		}
		return ""
	default:
		return s
	}
}

func bound(v value.Value, keys ...string) *float64 {
	for _, k := range keys {
		if m, ok := v.Get(k); ok {
			if f, ok := m.Float(); ok {
				return &f
			}
		}
	}
	return nil
}

// loosePattern finds matches inside a text; nil when RE2 cannot read it or when
// it would match anything.
func loosePattern(s string) *regexp.Regexp {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "^"), "$")
	re, err := regexp.Compile(`(?:^|[^\pL\pN])(` + s + `)(?:[^\pL\pN]|$)`)
	if err != nil || re.MatchString("") || re.MatchString("the") {
		return nil
	}
	return re
}

func (p *param) readEnum(list value.Value) {
	also := synonyms(p.desc)
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		c := choice{raw: json.RawMessage(e.Raw()), text: e.Str()}
		if e.Kind() != value.String {
			c.text = string(e.Raw())
		}
		if e.Kind() == value.Null {
			continue
		}
		c.also = also[fold(c.text)]
		p.enum = append(p.enum, c)
	}
}

// synonyms reads "AR = Argentina, BR = Brasil" and "clothing: ropa, roupas; books: libros".
func synonyms(desc string) map[string][]string {
	out := map[string][]string{}
	for _, part := range strings.FieldsFunc(desc, func(r rune) bool { return r == ';' || r == '\n' }) {
		last := ""
		for _, item := range strings.Split(part, ",") {
			k, v, ok := strings.Cut(item, "=")
			if !ok {
				k, v, ok = strings.Cut(item, ":")
			}
			if ok {
				last = fold(strings.Trim(strings.TrimSpace(k), `"'`))
			} else {
				v = item
			}
			if v = fold(strings.Trim(strings.TrimSpace(v), `"'. `)); v != "" && last != "" {
				out[last] = append(out[last], v)
			}
		}
	}
	return out
}

// visit walks the parameters below p.
func (p *param) visit(f func(*param)) {
	for _, c := range p.props {
		f(c)
		c.visit(f)
	}
	if p.items != nil {
		for _, e := range p.items.enum {
			f(&param{enum: []choice{e}})
		}
		p.items.visit(f)
	}
}

// named reports whether the parameter's name has one of the words.
func (p *param) named(list ...string) bool {
	for _, w := range p.nameWords {
		for _, x := range list {
			if w == x {
				return true
			}
		}
	}
	return false
}
