// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Limits of a condition: bytes of its text, and nodes of its syntax tree.
const (
	MaxBytes = 4096
	MaxNodes = 300
)

// Condition is a compiled post-condition. It is immutable and safe for
// concurrent use.
type Condition struct {
	root *expression
	one  *single // nil: not of that form
}

// truth has three values: a missing member makes a comparison unknown.
type truth uint8

const (
	unknown truth = iota
	yes
	no
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// Compile reads a condition. The error wraps callvet.ErrInvalid and contains the place where the
// text is not understood.
func Compile(text string) (*Condition, error) {
	c := reader{}
	return c.compile(text)
}

// Holds reports whether the condition holds for a result; the zero Value is an absent result
// without members.
func (c *Condition) Holds(result value.Value) bool {
	if c.one == nil {
		return c.root.eval(result) == yes
	}
	if m := result.Members(); m.Ok() && m.Named(c.one.key) >= 0 { // mostly the first member
		if n, known := m.Whole(); known && c.one.known {
			return c.one.holds[order(n, c.one.whole)]
		}
	}
	return c.anyMember(result)
}

// anyMember is Holds for a single comparison, at any position of the member.
func (c *Condition) anyMember(result value.Value) bool {
	m := result.Members()
	for m.Ok() && m.Named(c.one.key) < 0 && m.Decoded(c.one.key) < 0 {
		m = m.Next()
	}
	switch {
	case !m.Ok():
		return false
	case m.Kind() == value.Number:
		return c.one.holds[value.Compare(m.Value(), c.one.number)+1]
	}
	return c.root.eval(result) == yes
}

// reader turns a syntax tree into expressions. libraryOnly lets the library evaluate every text
// and comparison, for tests.
type reader struct {
	libraryOnly bool
}

func (c *reader) compile(text string) (*Condition, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: longer than %d bytes", callvet.ErrInvalid, MaxBytes)
	}
	if !c.libraryOnly {
		if e := plain(text); e != nil {
			return newCondition(e), nil
		}
	}
	config := conf.CreateNew()
	config.MaxNodes = MaxNodes
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", callvet.ErrInvalid, reason(err))
	}
	root, err := c.logic(tree.Node)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", callvet.ErrInvalid, reason(err))
	}
	return newCondition(root), nil
}

// reason is an error of the library on one line.
func reason(err error) string {
	var f *file.Error
	if errors.As(err, &f) {
		return fmt.Sprintf("at character %d: %s", f.From+1, f.Message)
	}
	return err.Error()
}

func refusef(n ast.Node, format string, args ...any) error {
	return &file.Error{Location: n.Location(), Message: fmt.Sprintf(format, args...)}
}

// logic compiles operators that join comparisons.
func (c *reader) logic(n ast.Node) (*expression, error) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			a, err := c.logic(n.Node)
			return &expression{op: opNot, a: a}, err
		}
	case *ast.BinaryNode:
		op := opAnd
		switch n.Operator {
		case "||", "or":
			op = opOr
		case "&&", "and":
		default:
			return c.leaf(n)
		}
		a, err := c.logic(n.Left)
		if err != nil {
			return nil, err
		}
		b, err := c.logic(n.Right)
		return &expression{op: op, a: a, b: b}, err
	}
	return c.leaf(n)
}

// leaf compiles a comparison or another condition without parts. The library parses all of them,
// so that it alone defines validity, and evaluates all uncommon forms.
func (c *reader) leaf(n ast.Node) (*expression, error) {
	if call, ok := n.(*ast.CallNode); ok { // the only function that the library does not have
		return exists(call)
	}
	e := native(n)
	program, truth, err := compileLibrary(n)
	if err != nil {
		return nil, err
	}
	if e != nil && !c.libraryOnly {
		return e, nil
	}
	return &expression{op: opLibrary, program: program, truth: truth}, nil
}

func exists(call *ast.CallNode) (*expression, error) {
	name, ok := call.Callee.(*ast.IdentifierNode)
	if !ok || name.Value != "exists" {
		return nil, refusef(call, "%s is not a function; there are exists, %s", call.Callee, functionList())
	}
	if len(call.Arguments) != 1 {
		return nil, refusef(call, "exists takes one path, such as items[0].id")
	}
	path, ok := pathOf(call.Arguments[0])
	if !ok {
		return nil, refusef(call, "exists takes a path, such as items[0].id, not %s", call.Arguments[0])
	}
	return &expression{op: opExists, left: operand{kind: fromPath, path: path}}, nil
}
