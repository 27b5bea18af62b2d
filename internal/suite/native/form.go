// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	_ "embed"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// The schema is the only list of the keys of a suite:
//
//	schema/suite.schema.json ─┬► form ─┬► reader.read   file ─► nouns, with all problems
//	json tags of the nouns ───┘        └► builder.noun  nouns ─► file, keys in the order of the schema
//
// A key belongs to the field with its name as json tag. A key without a field is read by code, or
// it is checked and kept nowhere.

//go:embed schema/suite.schema.json
var suiteSchema string

// kind is how a value is read.
type kind uint8

const (
	asAny       kind = iota // as it is
	asText                  // text; null is ""
	asLabel                 // text, or a number or boolean as it is written
	asWord                  // one of a few
	asFlag                  // true or false
	asInteger               // a whole number
	asNumber                // a number
	asTexts                 // a list of labels
	asOneOrMore             // text, or a list of labels
	asGroups                // a list of lists of labels
	asArguments             // a mapping, as it is
	asList                  // a list of elem
	asMap                   // a mapping of any names to elem
	asKeys                  // a mapping with known keys
)

// form is a form of the schema, with where its values belong in a Go type.
type form struct {
	name      string // in $defs
	kind      kind
	null      bool // null stands for an absent value
	words     []string
	low, high float64
	elem      *form
	keys      []formKey
	known     []string // the names of keys
}

// formKey is a key of a mapping.
type formKey struct {
	name  string
	form  *form
	field []int  // the index of its field; nil: it has none
	tag   string // the options of the field's json tag
	// flat keys are mappings without a field, but with keys that have one.
	flat bool
	// written is the key of its field in files that are written: several keys can be read into it.
	written bool
}

func (f *form) key(name string) *formKey {
	for i := range f.keys {
		if f.keys[i].name == name {
			return &f.keys[i]
		}
	}
	return nil
}

// flatKeys are the flat mappings of the schema.
const flatKeys = " function toolSpec annotations response weights "

// otherName is the json tag of the field for a key with a name of its own; "" when there is none.
func otherName(above, key string) string {
	switch above + "." + key {
	case "weights.tool":
		return "tool_weight"
	case "weights.args":
		return "args_weight"
	}
	switch key {
	case "tool_calls":
		return "calls"
	case "tool_call_id":
		return "call_id"
	case "name":
		return "tool"
	case "tool":
		return "tools"
	case "params":
		return "matchers"
	case "readOnlyHint":
		return "read_only"
	case "idempotentHint":
		return "idempotent"
	}
	return ""
}

// forms are the forms that code asks for, by name; "suite" is the whole.
var forms = sync.OnceValue(func() map[string]*form {
	d, bad := doc.ReadJSON("suite.schema.json", []byte(suiteSchema))
	if bad != nil {
		panic(bad)
	}
	c := compiler{root: &d.Root, done: map[string]*form{}}
	out := map[string]*form{"suite": c.form("suite", &d.Root, reflect.TypeFor[callvet.Suite]())}
	for name, t := range map[string]reflect.Type{
		"tool":        reflect.TypeFor[callvet.Tool](),
		"defaults":    reflect.TypeFor[callvet.Defaults](),
		"labels":      reflect.TypeFor[map[string]string](),
		"mocks":       reflect.TypeFor[[]callvet.Mock](),
		"reply":       reflect.TypeFor[callvet.MockReply](),
		"faults":      reflect.TypeFor[[]callvet.ToolFault](),
		"case":        reflect.TypeFor[callvet.Case](),
		"message":     reflect.TypeFor[callvet.Turn](),
		"multiTurn":   reflect.TypeFor[callvet.MultiTurn](),
		"plan":        reflect.TypeFor[callvet.Plan](),
		"scoring":     reflect.TypeFor[callvet.Scoring](),
		"matcherForm": reflect.TypeFor[callvet.Matcher](),
	} {
		out[name] = c.form(name, d.Root.Get("$defs").Get(name), t)
	}
	return out
})

type compiler struct {
	root *doc.Node
	done map[string]*form
}

// resolve follows references.
func (c *compiler) resolve(name string, s *doc.Node) (string, *doc.Node) {
	for s.Get("$ref") != nil {
		at := strings.Split(s.Get("$ref").Text(), "/")[1:]
		name, s = at[len(at)-1], c.root
		for _, key := range at {
			s = s.Get(key)
		}
	}
	return name, s
}

// form compiles a schema for values of t; nil: they are kept nowhere.
func (c *compiler) form(name string, s *doc.Node, t reflect.Type) *form {
	name, s = c.resolve(name, s)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	id := fmt.Sprint(name, " of ", t)
	if f := c.done[id]; f != nil {
		return f
	}
	f := &form{name: name, low: math.Inf(-1), high: math.Inf(1)}
	c.done[id] = f
	c.fill(f, s, t)
	return f
}

func (c *compiler) fill(f *form, s *doc.Node, t reflect.Type) {
	types := words(s.Get("type"))
	f.null = slices.Contains(types, "null")
	f.low = bound(f.low, s.Get("minimum"), s.Get("exclusiveMinimum"))
	f.high = bound(f.high, s.Get("maximum"))
	more := s.Get("additionalProperties")
	switch {
	case s.Get("enum") != nil:
		f.kind, f.words = asWord, words(s.Get("enum"))
	case words(s.Get("const")) != nil:
		f.kind, f.words = asWord, words(s.Get("const"))
	case s.Get("properties") != nil:
		f.kind = asKeys
		c.keys(f, s.Get("properties"), t, "")
		f.settle()
	case s.Get("anyOf") != nil && types == nil:
		c.choice(f, s.Get("anyOf"), t)
	case more != nil && more.Kind == doc.Map:
		f.kind, f.elem = asMap, c.form(f.name+"{}", more, elemOf(t, reflect.Map))
	case s.Get("items") != nil:
		f.kind, f.elem = asList, c.form(f.name+"[]", s.Get("items"), elemOf(t, reflect.Slice))
		switch f.elem.kind {
		case asText, asLabel:
			f.kind = asTexts
		case asTexts:
			f.kind = asGroups
		}
	default:
		f.kind = plainKind(types)
	}
}

// choice is a value of several forms: text or texts, or a mapping or list, whose other forms are
// read by code.
func (c *compiler) choice(f *form, list *doc.Node, t reflect.Type) {
	f.kind = asOneOrMore
	for i := range list.Items {
		one := c.form(f.name+"|"+strconv.Itoa(i), &list.Items[i], t)
		f.null = f.null || one.null
		if one.kind == asKeys || one.kind == asList {
			f.kind, f.elem, f.keys, f.known = one.kind, one.elem, one.keys, one.known
		}
	}
}

func plainKind(types []string) kind {
	has := func(t string) bool { return slices.Contains(types, t) }
	switch {
	case has("array"):
		return asAny
	case has("string") && has("number"):
		return asLabel
	case has("string"):
		return asText
	case has("integer"):
		return asInteger
	case has("number"):
		return asNumber
	case has("boolean") && has("object"):
		return asAny
	case has("boolean"):
		return asFlag
	case has("object"):
		return asArguments
	}
	return asAny
}

// words are the texts of a list, or a text alone; nil: there are none.
func words(n *doc.Node) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == doc.String && n.Text() != "":
		return []string{n.Text()}
	}
	var out []string
	for i := range n.Items {
		out = append(out, words(&n.Items[i])...)
	}
	return out
}

func bound(otherwise float64, of ...*doc.Node) float64 {
	for _, n := range of {
		if n != nil {
			otherwise, _ = strconv.ParseFloat(string(n.Raw), 64)
		}
	}
	return otherwise
}

func elemOf(t reflect.Type, k reflect.Kind) reflect.Type {
	if t == nil || t.Kind() != k {
		return nil
	}
	return t.Elem()
}

// keys compiles the keys of a mapping for a struct; above is the flat key that they are below.
func (c *compiler) keys(f *form, list *doc.Node, t reflect.Type, above string) {
	if t != nil && t.Kind() != reflect.Struct {
		t = nil
	}
	for i := range list.Names {
		k := formKey{name: list.Names[i].Name}
		var own reflect.Type
		if t != nil {
			for _, name := range []string{above + "_" + k.name, k.name, otherName(above, k.name)} {
				if sf, ok := fieldNamed(t, name); ok && k.field == nil {
					k.field, own = sf.Index, sf.Type
					_, k.tag, _ = strings.Cut(sf.Tag.Get("json"), ",")
				}
			}
		}
		if k.flat = k.field == nil && t != nil && strings.Contains(flatKeys, " "+k.name+" "); k.flat {
			name, s := c.resolve(k.name, &list.Items[i])
			k.form = &form{name: name, kind: asKeys, null: slices.Contains(words(s.Get("type")), "null")}
			c.keys(k.form, s.Get("properties"), t, k.name)
		} else {
			k.form = c.form(f.name+"."+k.name, &list.Items[i], own)
		}
		f.keys, f.known = append(f.keys, k), append(f.known, k.name)
	}
}

// fieldNamed is the field of a struct, or of its field call, with a name as json tag.
func fieldNamed(t reflect.Type, name string) (sf reflect.StructField, ok bool) {
	if name == "" {
		return sf, false
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		switch tag, _, _ := strings.Cut(sf.Tag.Get("json"), ","); {
		case tag == name:
			return sf, true
		case tag == "call":
			if inner, ok := fieldNamed(sf.Type, name); ok {
				inner.Index = append(slices.Clone(sf.Index), inner.Index...)
				return inner, true
			}
		}
	}
	return sf, false
}

// settle chooses the key with which each field is written: the first, those of flat keys last.
func (f *form) settle() {
	taken := map[string]bool{}
	var choose func(f *form, flat bool)
	choose = func(f *form, flat bool) {
		for i := range f.keys {
			k := &f.keys[i]
			if at := fmt.Sprint(k.field); k.field != nil && !taken[at] {
				k.written, taken[at] = true, true
			}
			if k.flat && flat {
				choose(k.form, true)
			}
		}
	}
	choose(f, false)
	choose(f, true)
}
