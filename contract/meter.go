// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxSteps bounds the work of one verdict: a step is a schema applied to a value, or as
// much work of another kind. A small schema can ask for any amount of work, because its
// parts can refer to one another; no tool needs a millionth of this budget.
const MaxSteps = 1 << 23

// libraryStep is how many steps the library takes for a schema applied to a value.
const libraryStep = 24

const (
	tooMuch  = callvet.SchemaWithoutEnd + ": it is too much work to find out whether the value keeps the schema"
	noReason = "the value breaks the schema; it is too much work to find out why"
)

// meter is what is left of a budget; below 0 the verdict is not known.
type meter struct{ left int }

// spend takes n steps and reports whether they were left.
func (m *meter) spend(n int) bool {
	m.left -= n
	return m.left >= 0
}

// textSteps is the work of reading the text of a value once.
func textSteps(v value.Value) int { return len(v.Raw()) / 32 }

// figureSteps is the work of arithmetic with a number: short ones are free.
func figureSteps(v value.Value) int {
	words := len(v.Raw()) / 8
	return words * words / 16
}

// steps is the work of matching a text of so many bytes.
func (p *pattern) steps(size int) int { return size * len(p.src) / 32 }

func (s *stringRules) steps(v value.Value) int {
	n := textSteps(v)
	if s.re != nil {
		n += s.re.steps(len(v.Raw()))
	}
	return n
}

// uniqueSteps is the work of comparing the elements of an array.
func uniqueSteps(v value.Value) int { return v.Len() + len(v.Raw())/2 }

// endless is an error for a schema that applies more than MaxSteps schemas to one value.
func endless(root *jsonschema.Schema) error {
	counts := map[*jsonschema.Schema]int{}
	var count func(s *jsonschema.Schema) int
	count = func(s *jsonschema.Schema) int {
		if s == nil {
			return 0
		}
		n, met := counts[s]
		if met {
			return n
		}
		counts[s] = 0 // where it meets itself again, the library ends
		n = 1
		for _, sub := range inPlace(s) {
			n = min(n+count(sub), MaxSteps+1)
		}
		counts[s] = n
		return n
	}
	seen := map[*jsonschema.Schema]bool{}
	var each func(s *jsonschema.Schema) error
	each = func(s *jsonschema.Schema) error {
		if s == nil || seen[s] {
			return nil
		}
		seen[s] = true
		if count(s) > MaxSteps {
			at := s.Location[min(len(schemaURL)+1, len(s.Location)):]
			return fmt.Errorf("%s: the schema at %q applies more than %d schemas to one value",
				callvet.SchemaWithoutEnd, at, MaxSteps)
		}
		for _, sub := range append(inPlace(s), deeper(s)...) {
			if err := each(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return each(root)
}

// covers reports whether the budget covers the library's work on a value. The library
// cannot be interrupted, so the same walk is done before, without verdicts.
func (m *meter) covers(s *jsonschema.Schema, v value.Value) bool {
	w := walk{meter: *m, root: s} // a copy, so that m stays where it is
	w.value(s, v)
	m.left = w.left
	return m.left >= 0
}

// walk visits what the library visits.
type walk struct {
	meter
	root  *jsonschema.Schema
	open  []*jsonschema.Schema            // those applied to the value at hand
	named map[string][]*jsonschema.Schema // those that a dynamic reference may mean
}

// value visits the parts of a schema about a value other than the present one.
func (w *walk) value(s *jsonschema.Schema, v value.Value) {
	if s == nil {
		return
	}
	open := w.open
	w.open = nil
	w.same(s, v)
	w.open = open
}

// same visits what a schema demands of the value at hand.
func (w *walk) same(s *jsonschema.Schema, v value.Value) {
	if s == nil || !w.spend(libraryStep+len(w.open)/4) || s.Bool != nil {
		return
	}
	for _, o := range w.open {
		if o == s { // the library reports the cycle
			return
		}
	}
	k := v.Kind()
	if t := maskOf(s.Types); t != maskAny && t>>k&1 == 0 && !(k == value.Number && t&maskInteger != 0) {
		return
	}
	if !w.spend(constantSteps(s, v)) {
		return
	}
	w.open = append(w.open, s)
	for _, sub := range inPlace(s) {
		w.same(sub, v)
	}
	w.dynamic(s, v)
	w.open = w.open[:len(w.open)-1]
	switch k {
	case value.Object:
		w.members(s, v)
	case value.Array:
		w.elements(s, v)
	}
}

// constantSteps is the work on what a schema demands of a value without further schemas.
func constantSteps(s *jsonschema.Schema, v value.Value) int {
	n := 0
	if s.Enum != nil {
		n += libraryStep*len(s.Enum.Values) + textSteps(v)
	}
	if s.Const != nil || s.Format != nil || s.ContentEncoding != nil || s.ContentMediaType != nil {
		n += textSteps(v)
	}
	switch v.Kind() {
	case value.Number:
		n += figureSteps(v)
	case value.String:
		n += textSteps(v)
		if p, ok := s.Pattern.(*pattern); ok {
			n += p.steps(len(v.Raw()))
		}
	case value.Array:
		if s.UniqueItems {
			n += uniqueSteps(v) + min(v.Len(), 20)*len(v.Raw())/32
		}
	case value.Object:
		n += len(s.Required) + len(s.DependentRequired) + v.Len()
	}
	return n
}

// dynamic visits what a reference may mean that depends on the way to it.
func (w *walk) dynamic(s *jsonschema.Schema, v value.Value) {
	name := ""
	switch {
	case s.DynamicRef != nil:
		name = s.DynamicRef.Anchor
		w.same(s.DynamicRef.Ref, v)
	case s.RecursiveRef != nil:
		w.same(s.RecursiveRef, v)
	default:
		return
	}
	if w.named == nil {
		w.named = map[string][]*jsonschema.Schema{}
		anchored(w.root, w.named, map[*jsonschema.Schema]bool{})
	}
	for _, sub := range w.named[name] {
		if s.DynamicRef == nil || sub != s.DynamicRef.Ref {
			w.same(sub, v)
		}
	}
}

// anchored collects the schemas that dynamic references may mean, by their name.
func anchored(s *jsonschema.Schema, to map[string][]*jsonschema.Schema, seen map[*jsonschema.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if s.DynamicAnchor != "" {
		to[s.DynamicAnchor] = append(to[s.DynamicAnchor], s)
	}
	if s.RecursiveAnchor {
		to[""] = append(to[""], s)
	}
	subs := append(inPlace(s), deeper(s)...)
	if s.DynamicRef != nil {
		subs = append(subs, s.DynamicRef.Ref)
	}
	for _, sub := range append(subs, s.RecursiveRef) {
		anchored(sub, to, seen)
	}
}

func (w *walk) members(s *jsonschema.Schema, v value.Value) {
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for e, ok := v.First(); ok && w.left >= 0; e, ok = v.Next(e) {
		key := e.Key()
		sub, evaluated := s.Properties[key]
		w.value(sub, e)
		for re, sub := range s.PatternProperties {
			if p, ok := re.(*pattern); ok && !w.spend(1+p.steps(len(key))) {
				return
			}
			if re.MatchString(key) {
				evaluated = true
				w.value(sub, e)
			}
		}
		if !evaluated {
			w.value(additional, e)
		}
		w.value(s.UnevaluatedProperties, e)
		if s.PropertyNames != nil {
			if name, err := value.Parse(rawJSON(key)); err == nil {
				w.value(s.PropertyNames, name)
			}
		}
	}
}

func (w *walk) elements(s *jsonschema.Schema, v value.Value) {
	i := 0
	for e, ok := v.First(); ok && w.left >= 0; e, ok = v.Next(e) {
		w.value(elementAt(s, i), e)
		w.value(s.Contains, e)
		w.value(s.UnevaluatedItems, e)
		i++
	}
}
