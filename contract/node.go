// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"math/big"

	"github.com/callvet/callvet/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// node is a schema compiled for tapes. Nil fields and empty lists constrain
// nothing. Where slow is set the library decides the whole node.
type node struct {
	slow  *jsonschema.Schema
	never bool // the false schema
	types typeMask

	enum    []value.Value // enum, and const as an enum of one
	strings []string      // the enum's strings, when all of it are strings
	words   *value.Names  // of the strings
	hasEnum bool
	format  *format

	ref                 *node
	refOnly             bool // drafts before 2019: $ref hides its siblings
	not                 *node
	allOf, anyOf, oneOf []*node
	cond, then, other   *node
	combined            bool    // one of the seven above is set
	left                [8]left // by kind

	obj *objectRules
	arr *arrayRules
	str *stringRules
	num *numberRules
}

type objectRules struct {
	props      []prop
	quick      []quick      // of props
	listed     *value.Names // their names
	required   uint64       // bits that must be seen
	more       []string     // required names beyond 64
	patterns   []patternProp
	closed     bool  // additionalProperties: false
	additional *node // additionalProperties as a schema
	names      *node
	min, max   int // -1: none
	dependent  []dependency
	needs      int // names that dependent looks up
	// plain: the node has only props, required and closed.
	plain bool
}

type prop struct {
	name     string
	n        *node // nil: any value
	bit      uint64
	declared bool // under "properties", so not additional
}

type patternProp struct {
	re *pattern
	n  *node
}

type dependency struct {
	name string
	need []string
	n    *node
}

type arrayRules struct {
	min, max   int // -1: none
	unique     bool
	prefix     []*node
	rest       *node // items after the prefix
	closed     bool  // additionalItems: false
	contains   *node
	minC, maxC int // -1: none
}

type stringRules struct {
	min, max int // -1: none
	re       *pattern
	sure     span // lengths as written that need no counting
}

type numberRules struct {
	min, max, above, below *bound
	multiple               *bound
	span                   span
}

// bound is a number of the schema, exact as a literal and, when it is short, as
// mantissa and scale.
type bound struct {
	lit   []byte
	small decimal
	ok    bool
	rat   *big.Rat
}

// typeMask is a set of JSON types: the bit of a value's kind, and one for
// numbers that are integers.
type typeMask uint8

const (
	maskNull    typeMask = 1 << value.Null
	maskBool    typeMask = 1 << value.Bool
	maskNumber  typeMask = 1 << value.Number
	maskString  typeMask = 1 << value.String
	maskArray   typeMask = 1 << value.Array
	maskObject  typeMask = 1 << value.Object
	maskInteger typeMask = 1 << 7
	maskAny     typeMask = 0
)

func maskOf(t *jsonschema.Types) typeMask {
	m := maskAny
	if t == nil {
		return m
	}
	for _, name := range t.ToStrings() {
		m |= typeBit(name)
	}
	return m
}

// builder turns library schemas into nodes, each once, so that recursion ends.
type builder struct {
	done map[*jsonschema.Schema]*node
}

// fastChecker compiles s for tapes; nil when its verdict depends on where it
// was reached from (dynamic references) or when it refers to itself without
// going deeper into the value.
func fastChecker(s *jsonschema.Schema) *node {
	if dynamic(s, map[*jsonschema.Schema]bool{}) || circular(s) {
		return nil
	}
	b := builder{done: map[*jsonschema.Schema]*node{}}
	return b.node(s)
}

func (b *builder) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n := b.done[s]; n != nil {
		return n
	}
	n := &node{}
	b.done[s] = n
	switch {
	case s.Bool != nil:
		n.never = !*s.Bool
		return n
	case s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil || s.ContentEncoding != nil ||
		s.ContentMediaType != nil || s.ContentSchema != nil || len(s.Extensions) > 0:
		n.slow = s
		return n
	}
	n.types, n.format = maskOf(s.Types), newFormat(s.Format)
	n.constants(s)
	if s.Ref != nil {
		n.ref, n.refOnly = b.node(s.Ref), s.DraftVersion < 2019
		if n.refOnly {
			return n
		}
	}
	n.obj, n.arr, n.str, n.num = b.object(s), b.array(s), stringsOf(s), numbersOf(s)
	n.not, n.allOf, n.anyOf, n.oneOf = b.node(s.Not), b.nodes(s.AllOf), b.nodes(s.AnyOf), b.nodes(s.OneOf)
	if s.If != nil {
		n.cond, n.then, n.other = b.node(s.If), b.node(s.Then), b.node(s.Else)
	}
	n.seal()
	return n
}

// seal notes whether subschemas apply to the same value, and what there is to
// look at in values of each kind.
func (n *node) seal() {
	n.combined = n.not != nil || n.cond != nil || len(n.allOf)+len(n.anyOf)+len(n.oneOf) > 0
	for k := value.Null; k <= value.Object; k++ {
		n.left[k] = n.leftOf(k)
	}
	if n.strings != nil {
		n.words = value.NamesOf(n.strings)
	}
	if n.str != nil {
		n.str.sure = n.str.sureOf()
	}
	if n.num != nil {
		n.num.span = n.num.spanOf()
	}
}

func (b *builder) nodes(list []*jsonschema.Schema) []*node {
	if len(list) == 0 {
		return nil
	}
	out := make([]*node, len(list))
	for i, s := range list {
		out[i] = b.node(s)
	}
	return out
}

// constants compiles enum and const. Both together are an enum of the values that also equal the
// const.
func (n *node) constants(s *jsonschema.Schema) {
	var vals []any
	if s.Enum != nil {
		vals, n.hasEnum = s.Enum.Values, true
	}
	if s.Const != nil {
		vals, n.hasEnum = append(vals[:len(vals):len(vals)], *s.Const), true
	}
	for _, x := range vals {
		v, err := value.Parse(rawJSON(x))
		if err != nil { // a value the strict reader refuses: leave the node to the library
			n.slow = s
			return
		}
		n.enum = append(n.enum, v)
		if str, ok := x.(string); ok {
			n.strings = append(n.strings, str)
		}
	}
	if s.Enum != nil && s.Const != nil {
		n.bothConstants()
	}
	if len(n.strings) != len(n.enum) {
		n.strings = nil
	}
}

// bothConstants keeps of the enum what equals the const, which stands last.
func (n *node) bothConstants() {
	last := n.enum[len(n.enum)-1]
	var kept []value.Value
	for _, v := range n.enum[:len(n.enum)-1] {
		if value.Equal(v, last) {
			kept = append(kept, v)
		}
	}
	n.enum, n.strings = kept, nil
}
