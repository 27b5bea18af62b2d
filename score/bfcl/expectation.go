// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Expectation is one expected call with its acceptable values, compiled. It is
// immutable and safe for concurrent use.
type Expectation struct {
	rules    Rules
	name     string
	dotless  string // name with underscores for dots
	params   []param
	required []required
	answered uint64    // required params: no answer is ""
	literal  converter // nil for Python
}

// param is a name that the tool declares, the answer contains, or both.
type param struct {
	name     string
	declared bool
	answered bool
	decl     string // type name as declared
	inner    string // declared type of the elements, "" when not an array
	typ      pyType
	nested   pyType // pyUnset: not checked
	first    pyType // type of the first answer that is not ""
	answers  []answer
	raw      json.RawMessage
	optional bool // an answer is ""
}

type required struct {
	name string
	at   int
}

// answer is one acceptable value with precomputed forms for comparing it.
type answer struct {
	v    value.Value
	typ  pyType
	text string   // standard form of a string
	list []answer // elements of a list
	dict []entry  // members of a dictionary
}

// entry is a key of an acceptable dictionary with its acceptable values.
type entry struct {
	name     string
	values   []answer
	optional bool
	sub      *answer // V1: the value is a dictionary itself
}

// maxParams is how many parameters one call may have.
const maxParams = 64

// Compile makes an Expectation from an expected call. Its acceptable values are those of any_of
// matchers, in the form of the leaderboard's possible answers: inside dictionaries every value is a
// list, and "" marks optional ones. A plain value in Args is the only acceptable one. The declared
// types come from tool: Declared, else Parameters. With a nil tool types are not checked.
func Compile(tool *callvet.Tool, want *callvet.ExpectedCall, r Rules) (*Expectation, error) {
	e := &Expectation{rules: r, literal: newConverter(r.Language)}
	if len(want.Tools) > 0 {
		e.name = want.Tools[0]
	}
	e.dotless = underscored(e.name)
	schema, err := declaredSchema(tool)
	if err != nil {
		return nil, fmt.Errorf("compile call of %s: %w", e.name, err)
	}
	if err := e.answers(want); err != nil {
		return nil, fmt.Errorf("compile call of %s: %w", e.name, err)
	}
	e.declare(schema)
	if len(e.params) > maxParams {
		return nil, fmt.Errorf("compile call of %s: %w: more than %d parameters", e.name, callvet.ErrInvalid, maxParams)
	}
	for i := range e.params {
		if p := &e.params[i]; p.answered && !p.optional {
			e.answered |= 1 << i
		}
	}
	return e, nil
}

func underscored(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '.' {
			b[i] = '_'
		}
	}
	return string(b)
}

func declaredSchema(tool *callvet.Tool) (value.Value, error) {
	if tool == nil {
		return value.Value{}, nil
	}
	raw := tool.Declared
	if len(raw) == 0 {
		raw = tool.Parameters
	}
	if len(raw) == 0 {
		return value.Value{}, nil
	}
	v, err := value.Parse(raw)
	if err != nil {
		return v, fmt.Errorf("parameters: %w: %w", callvet.ErrInvalid, err)
	}
	return v, nil
}

// answers reads the acceptable values of every parameter.
func (e *Expectation) answers(want *callvet.ExpectedCall) error {
	args := value.Value{}
	if len(want.Args) > 0 {
		v, err := value.Parse(want.Args)
		if err != nil {
			return fmt.Errorf("args: %w: %w", callvet.ErrInvalid, err)
		}
		args = v
	}
	for x, ok := args.First(); ok; x, ok = args.Next(x) {
		if _, has := want.Matchers[x.Key()]; !has {
			list := plain(nil, x, true)
			if err := e.add(x.Key(), append(append([]byte("["), list...), ']'), false); err != nil {
				return err
			}
		}
	}
	for _, name := range sortedKeys(want.Matchers) {
		m := want.Matchers[name]
		list := m.Value
		if m.Mode != "any_of" {
			list = append(append(json.RawMessage("["), m.Value...), ']')
		}
		if err := e.add(name, list, m.Optional); err != nil {
			return err
		}
	}
	return nil
}

// plain writes a value as a possible answer: each value in a dictionary becomes a list of one
// element.
func plain(dst []byte, v value.Value, top bool) []byte {
	switch v.Kind() {
	case value.Object:
		dst = append(dst, '{')
		sep := ""
		for x, ok := v.First(); ok; x, ok = v.Next(x) {
			key, _ := json.Marshal(x.Key()) // a string always marshals
			dst = append(append(append(dst, sep...), key...), ":["...)
			dst = append(append(dst, x.Raw()...), ']')
			sep = ","
		}
		return append(dst, '}')
	case value.Array:
		if !top {
			break
		}
		dst = append(dst, '[')
		sep := ""
		for x, ok := v.First(); ok; x, ok = v.Next(x) {
			dst = plain(append(dst, sep...), x, false)
			sep = ","
		}
		return append(dst, ']')
	}
	return append(dst, v.Raw()...)
}

func (e *Expectation) add(name string, list json.RawMessage, optional bool) error {
	v, err := value.Parse(list)
	if err != nil {
		return fmt.Errorf("answer for %s: %w: %w", name, callvet.ErrInvalid, err)
	}
	p := param{name: name, answered: true, optional: optional, raw: list}
	if v.Kind() != value.Array {
		return fmt.Errorf("answer for %s: %w: a list of acceptable values is needed", name, callvet.ErrInvalid)
	}
	for x, ok := v.First(); ok; x, ok = v.Next(x) {
		a := newAnswer(x, e.rules.Edition)
		empty := a.typ == pyStr && x.Len() == 0 && len(x.Raw()) == 2
		p.optional = p.optional || empty
		if p.first == pyUnset && !empty {
			p.first = a.typ
		}
		p.answers = append(p.answers, a)
	}
	e.params = append(e.params, p)
	return nil
}

func newAnswer(v value.Value, ed Edition) answer {
	a := answer{v: v, typ: typeOf(v)}
	switch a.typ {
	case pyStr:
		a.text = standardize(v.Str())
	case pyList:
		for x, ok := v.First(); ok; x, ok = v.Next(x) {
			a.list = append(a.list, newAnswer(x, ed))
		}
	case pyDict:
		for x, ok := v.First(); ok; x, ok = v.Next(x) {
			a.dict = append(a.dict, newEntry(x, ed))
		}
	}
	return a
}

func newEntry(v value.Value, ed Edition) entry {
	en := entry{name: v.Key()}
	x := newAnswer(v, ed)
	switch x.typ {
	case pyList:
		en.values = x.list
		for i := range x.list {
			en.optional = en.optional || x.list[i].typ == pyStr && len(x.list[i].v.Raw()) == 2
		}
	case pyDict:
		if ed == V1 {
			en.sub = &x
		}
	case pyStr: // its letters are the acceptable values, and every string contains ""
		en.optional = true
		for _, r := range v.Str() {
			en.values = append(en.values, answer{typ: pyStr, text: standardize(string(r))})
		}
	}
	return en
}

// declare adds the tool's parameters and their types.
func (e *Expectation) declare(schema value.Value) {
	props, _ := schema.Get("properties")
	at := make(map[string]int, len(e.params))
	for i := range e.params {
		at[e.params[i].name] = i
	}
	for x, ok := props.First(); ok; x, ok = props.Next(x) {
		i, found := at[x.Key()]
		if !found {
			i = len(e.params)
			at[x.Key()] = i
			e.params = append(e.params, param{name: x.Key()})
		}
		e.params[i].declare(x, e.rules.Language)
	}
	if schema.Kind() != value.Object { // nothing declared: nothing checked
		for i := range e.params {
			e.params[i].assume()
		}
	}
	req, _ := schema.Get("required")
	for x, ok := req.First(); ok; x, ok = req.Next(x) {
		if i, found := at[x.Str()]; found {
			e.required = append(e.required, required{x.Str(), i})
		} else {
			e.required = append(e.required, required{x.Str(), -1})
		}
	}
}

// assume takes the declared type from the answers where no tool is known.
func (p *param) assume() {
	p.declared, p.typ = true, p.first
	for i := range p.answers {
		if a := &p.answers[i]; a.typ == pyList && len(a.list) > 0 && a.list[0].typ == pyDict {
			p.nested = pyDict
		}
	}
}

func (p *param) declare(schema value.Value, l Language) {
	p.declared = true
	t, _ := schema.Get("type")
	p.decl = t.Str()
	p.typ = declared(l, p.decl)
	if p.typ != pyList {
		return
	}
	items, _ := schema.Get("items")
	inner, _ := items.Get("type")
	p.inner = inner.Str()
	switch p.decl {
	case "array", "tuple", "Array", "ArrayList":
		p.nested = declared(l, p.inner)
	}
}
