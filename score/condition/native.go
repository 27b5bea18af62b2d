// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/callvet/callvet/value"
)

type op uint8

const (
	opAnd op = iota
	opOr
	opNot
	opConstant
	opTruth
	opExists
	opEqual
	opUnequal
	opLess
	opLessEqual
	opMore
	opMoreEqual
	opIn
	opAmong // in a list of literals
	opContains
	opStarts
	opEnds
	opLibrary
)

// expression is a condition or a part of one.
type expression struct {
	op          op
	a, b        *expression // of and, or, not
	left, right operand
	among       []value.Value
	program     *vm.Program
	truth       bool // of a program: its result is a boolean
}

type source uint8

const (
	fromPath source = iota
	fromLiteral
	fromLength // of the value at the path
)

// operand is a side of a comparison.
type operand struct {
	kind    source
	path    []part
	literal value.Value
}

// part leads to a member by key, or to an element by index, from the end when
// it is negative.
type part struct {
	key   string
	index int
	isKey bool
}

// found is an operand's value: a length, or a value of the result.
type found struct {
	v        value.Value
	length   int
	isLength bool
}

func (f *found) missing() bool { return !f.isLength && f.v.Kind() == value.Invalid }

func (f *found) kind() value.Kind {
	if f.isLength {
		return value.Number
	}
	return f.v.Kind()
}

func (e *expression) eval(result value.Value) truth {
	switch e.op {
	case opAnd:
		a := e.a.eval(result)
		if a == no {
			return no
		}
		if b := e.b.eval(result); b != yes {
			return b
		}
		return a
	case opOr:
		a := e.a.eval(result)
		if a == yes {
			return yes
		}
		if b := e.b.eval(result); b != no {
			return b
		}
		return a
	case opNot:
		switch e.a.eval(result) {
		case yes:
			return no
		case no:
			return yes
		}
		return unknown
	case opConstant:
		return truthOf(e.left.literal.Bool())
	case opExists:
		return truthOf(at(result, e.left.path).Kind() != value.Invalid)
	case opLibrary:
		return runLibrary(e.program, result)
	}
	return e.compare(result)
}

func (e *expression) compare(result value.Value) truth {
	a := e.left.find(result)
	if a.missing() {
		return unknown
	}
	switch e.op {
	case opTruth:
		if a.kind() != value.Bool {
			return unknown
		}
		return truthOf(a.v.Bool())
	case opAmong:
		for _, x := range e.among {
			if same(&a, &found{v: x}) {
				return yes
			}
		}
		return no
	}
	b := e.right.find(result)
	if b.missing() {
		return unknown
	}
	switch e.op {
	case opEqual:
		return truthOf(same(&a, &b))
	case opUnequal:
		return truthOf(!same(&a, &b))
	case opIn:
		return inside(&a, b.v)
	case opContains, opStarts, opEnds:
		return e.text(&a, &b)
	}
	return e.order(&a, &b)
}

func (e *expression) order(a, b *found) truth {
	c, ok := 0, false
	switch {
	case a.kind() != b.kind():
	case a.kind() == value.Number:
		c, ok = compareNumbers(a, b), true
	case a.kind() == value.String:
		c, ok = bytes.Compare(a.v.Bytes(), b.v.Bytes()), true
	}
	if !ok {
		return unknown
	}
	switch e.op {
	case opLess:
		return truthOf(c < 0)
	case opLessEqual:
		return truthOf(c <= 0)
	case opMore:
		return truthOf(c > 0)
	}
	return truthOf(c >= 0)
}

func compareNumbers(a, b *found) int {
	if !a.isLength && !b.isLength {
		return value.Compare(a.v, b.v)
	}
	var x, y [20]byte
	return value.CompareNumbers(a.number(&x), b.number(&y))
}

func (f *found) number(mem *[20]byte) []byte {
	if f.isLength {
		return strconv.AppendInt(mem[:0], int64(f.length), 10)
	}
	return f.v.Raw()
}

func same(a, b *found) bool {
	if a.isLength || b.isLength {
		return a.kind() == b.kind() && compareNumbers(a, b) == 0
	}
	return value.Equal(a.v, b.v)
}

// inside is "in": an element of a list, a member's name, a part of a text.
func inside(a *found, in value.Value) truth {
	switch in.Kind() {
	case value.Array:
		for x, ok := in.First(); ok; x, ok = in.Next(x) {
			if same(a, &found{v: x}) {
				return yes
			}
		}
		return no
	case value.Object:
		if a.kind() == value.String {
			_, ok := in.Get(a.v.Str())
			return truthOf(ok)
		}
	case value.String:
		if a.kind() == value.String {
			return truthOf(bytes.Contains(in.Bytes(), a.v.Bytes()))
		}
	}
	return unknown
}

func (e *expression) text(a, b *found) truth {
	switch {
	case a.kind() == value.Null || b.kind() == value.Null: // null contains nothing
		return no
	case a.kind() != value.String || b.kind() != value.String:
		return unknown
	}
	x, y := a.v.Bytes(), b.v.Bytes()
	switch e.op {
	case opStarts:
		return truthOf(bytes.HasPrefix(x, y))
	case opEnds:
		return truthOf(bytes.HasSuffix(x, y))
	}
	return truthOf(bytes.Contains(x, y))
}

func (o *operand) find(result value.Value) found {
	switch o.kind {
	case fromLiteral:
		return found{v: o.literal}
	case fromLength:
		v := at(result, o.path)
		switch v.Kind() {
		case value.Array, value.Object:
			return found{isLength: true, length: v.Len()}
		case value.String:
			return found{isLength: true, length: len([]rune(string(v.Bytes())))}
		}
		return found{}
	}
	return found{v: at(result, o.path)}
}

// at follows a path; the zero Value where it leads nowhere.
func at(v value.Value, path []part) value.Value {
	for i := range path {
		p := &path[i]
		var ok bool
		if p.isKey {
			v, ok = v.Get(p.key)
		} else {
			v, ok = element(v, p.index)
		}
		if !ok {
			return value.Value{}
		}
	}
	return v
}

func element(v value.Value, i int) (value.Value, bool) {
	if v.Kind() != value.Array {
		return value.Value{}, false
	}
	if i < 0 {
		i += v.Len()
	}
	if i < 0 || i >= v.Len() {
		return value.Value{}, false
	}
	e, _ := v.First()
	for range i {
		e, _ = v.Next(e)
	}
	return e, true
}

// native compiles the common forms; nil for others.
func native(n ast.Node) *expression {
	switch n := n.(type) {
	case *ast.BoolNode:
		lit, _ := literalOf(n)
		return &expression{op: opConstant, left: operand{kind: fromLiteral, literal: lit}}
	case *ast.BinaryNode:
		return nativeComparison(n)
	}
	if path, ok := pathOf(n); ok {
		return &expression{op: opTruth, left: operand{kind: fromPath, path: path}}
	}
	return nil
}

func nativeComparison(n *ast.BinaryNode) *expression {
	o, ok := operators(n.Operator)
	if !ok {
		return nil
	}
	e := &expression{op: o}
	if e.left, ok = operandOf(n.Left); !ok {
		return nil
	}
	if list, isList := n.Right.(*ast.ArrayNode); isList && o == opIn {
		e.op = opAmong
		for _, x := range list.Nodes {
			lit, ok := literalOf(x)
			if !ok {
				return nil
			}
			e.among = append(e.among, lit)
		}
		return e
	}
	if e.right, ok = operandOf(n.Right); !ok {
		return nil
	}
	return e
}

func operators(s string) (op, bool) {
	switch s {
	case "==":
		return opEqual, true
	case "!=":
		return opUnequal, true
	case "<":
		return opLess, true
	case "<=":
		return opLessEqual, true
	case ">":
		return opMore, true
	case ">=":
		return opMoreEqual, true
	case "in":
		return opIn, true
	case "contains":
		return opContains, true
	case "startsWith":
		return opStarts, true
	case "endsWith":
		return opEnds, true
	}
	return 0, false
}

func operandOf(n ast.Node) (operand, bool) {
	if lit, ok := literalOf(n); ok {
		return operand{kind: fromLiteral, literal: lit}, true
	}
	if b, ok := n.(*ast.BuiltinNode); ok && b.Name == "len" && len(b.Arguments) == 1 {
		path, ok := pathOf(b.Arguments[0])
		return operand{kind: fromLength, path: path}, ok
	}
	path, ok := pathOf(n)
	return operand{kind: fromPath, path: path}, ok
}

// pathOf reads a path from the result; ok is false for anything else.
func pathOf(n ast.Node) (path []part, ok bool) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		switch n.Value {
		case nameResult:
			return nil, true
		case nameNull:
			return nil, false
		}
		return []part{{key: n.Value, isKey: true}}, true
	case *ast.MemberNode:
		if n.Optional || n.Method {
			return nil, false
		}
		if path, ok = pathOf(n.Node); !ok {
			return nil, false
		}
		switch p := n.Property.(type) {
		case *ast.StringNode:
			return append(path, part{key: p.Value, isKey: true}), true
		case *ast.IntegerNode:
			return append(path, part{index: p.Value}), true
		case *ast.UnaryNode:
			if i, isInt := p.Node.(*ast.IntegerNode); isInt && p.Operator == "-" {
				return append(path, part{index: -i.Value}), true
			}
		}
	}
	return nil, false
}

// literalOf returns a literal as a value.
func literalOf(n ast.Node) (value.Value, bool) {
	var x any
	switch n := n.(type) {
	case *ast.NilNode:
	case *ast.IdentifierNode:
		if n.Value != nameNull {
			return value.Value{}, false
		}
	case *ast.BoolNode:
		x = n.Value
	case *ast.IntegerNode:
		x = n.Value
	case *ast.FloatNode:
		x = n.Value
	case *ast.StringNode:
		x = n.Value
	case *ast.UnaryNode:
		switch m := n.Node.(type) {
		case *ast.IntegerNode:
			x = -m.Value
		case *ast.FloatNode:
			x = -m.Value
		default:
			return value.Value{}, false
		}
		if n.Operator != "-" {
			return value.Value{}, false
		}
	default:
		return value.Value{}, false
	}
	return encode(x)
}

func encode(x any) (value.Value, bool) {
	text, err := json.Marshal(x)
	if err != nil {
		return value.Value{}, false
	}
	v, err := value.Parse(text)
	return v, err == nil
}
