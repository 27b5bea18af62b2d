// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package condition

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/callvet/callvet/value"
)

// Names that do not stand for members of the result.
const (
	nameResult = "result"
	nameNull   = "null"
	nameGet    = "get member"
	nameWithin = "is within"
	nameScalar = "as scalar"
)

// Limits of one evaluation by the library: the bytes of the result, beyond which
// the outcome is not known, and how many cells it may allocate.
const (
	maxResult    = 1 << 20
	memoryBudget = 100_000
)

var (
	errMissing = errors.New("a member is missing")
	errKinds   = errors.New("kinds do not compare")
)

// functions are the functions of the library that a condition may call: they read only their
// arguments and take time in proportion to them.
func functions() []string {
	return []string{
		"abs", "all", "any", "ceil", "count", "float", "floor", "fromJSON", "int", "len", "lower", "max", "mean", "min",
		"none", "one",
		"round", "string", "sum", "trim", "type", "upper",
	}
}

func functionList() string { return strings.Join(functions(), ", ") }

func isOperator(s string) bool {
	switch s {
	case "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||", "and", "or", "+", "-", "*", "/", "%", "contains",
		"startsWith", "endsWith", "matches":
		return true
	}
	return false
}

// compileLibrary compiles a part of a condition for the library's machine. truth: its result is
// known to be a boolean.
func compileLibrary(n ast.Node) (p *vm.Program, truth bool, err error) {
	r := rewriter{}
	if n, err = r.node(n); err != nil {
		return nil, false, err
	}
	config := conf.CreateNew()
	config.Optimize = false
	for _, f := range []*builtin.Function{
		{Name: nameGet, Func: getMember}, {Name: nameWithin, Func: isWithin}, {Name: nameScalar, Func: asScalar},
	} {
		config.Functions[f.Name] = f
	}
	tree := &parser.Tree{Node: n, Source: file.NewSource("")}
	kind, err := checker.Check(tree, config)
	if err != nil {
		return nil, false, err
	}
	p, err = compiler.Compile(tree, config)
	return p, kind != nil && kind.Kind() == reflect.Bool, err
}

// runLibrary evaluates; every error makes the result unknown.
func runLibrary(p *vm.Program, result value.Value) truth {
	out, err := libraryValue(p, result)
	if err != nil {
		return unknown
	}
	b, ok := out.(bool)
	if !ok {
		return unknown
	}
	return truthOf(b)
}

// libraryValue evaluates. The error wraps callvet.ErrLimited where a limit is exceeded.
func libraryValue(p *vm.Program, result value.Value) (any, error) {
	if len(result.Raw()) > maxResult {
		return nil, errLimit
	}
	decoded, err := decode(result)
	if err != nil {
		return nil, err
	}
	machine := vm.VM{MemoryBudget: memoryBudget}
	out, err := machine.Run(p, map[string]any{nameResult: decoded})
	// the library has no error of its own for it
	if err != nil && strings.Contains(err.Error(), "memory budget exceeded") {
		return nil, errLimit
	}
	return out, err
}

// decode converts to the library's kind of values; whole numbers stay exact as long as they fit.
func decode(v value.Value) (any, error) {
	switch v.Kind() {
	case value.Invalid:
		return nil, errMissing
	case value.Bool:
		return v.Bool(), nil
	case value.String:
		return v.Str(), nil
	case value.Number:
		if n, err := strconv.Atoi(string(v.Raw())); err == nil {
			return n, nil
		}
		return strconv.ParseFloat(string(v.Raw()), 64)
	case value.Array:
		out := make([]any, 0, v.Len())
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			x, err := decode(e)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case value.Object:
		out := make(map[string]any, v.Len())
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			x, err := decode(e)
			if err != nil {
				return nil, err
			}
			out[e.Key()] = x
		}
		return out, nil
	}
	return nil, nil
}

// getMember is base[key], but a missing member is an error.
func getMember(p ...any) (any, error) {
	switch base := p[0].(type) {
	case map[string]any:
		if key, ok := p[1].(string); ok {
			if x, has := base[key]; has {
				return x, nil
			}
		}
	case []any:
		if i, ok := p[1].(int); ok {
			if i < 0 {
				i += len(base)
			}
			if i >= 0 && i < len(base) {
				return base[i], nil
			}
		}
	}
	return nil, errMissing
}

// isWithin is "in", which the library does not have for texts.
func isWithin(p ...any) (any, error) {
	switch in := p[1].(type) {
	case []any:
		return slices.ContainsFunc(in, func(x any) bool { return runtime.Equal(p[0], x) }), nil
	case map[string]any:
		if key, ok := p[0].(string); ok {
			_, has := in[key]
			return has, nil
		}
	case string:
		if part, ok := p[0].(string); ok {
			return strings.Contains(in, part), nil
		}
	}
	return nil, errKinds
}

// maxScalar is the longest text from outside that a predicate may read.
const maxScalar = 1 << 10

// asScalar lets single values into predicates, which read them again for every element.
func asScalar(p ...any) (any, error) {
	switch x := p[0].(type) {
	case []any, map[string]any:
		return nil, errKinds
	case string:
		if len(x) > maxScalar {
			return nil, fmt.Errorf("a text of more than %d bytes inside a predicate", maxScalar)
		}
	}
	return p[0], nil
}

// rewriter turns missing members into errors, and refuses every node that is not known to be
// harmless.
type rewriter struct {
	inside bool // a predicate
}

func call(name string, args ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
}

func (r *rewriter) node(n ast.Node) (ast.Node, error) {
	out, err := r.rewrite(n)
	if err == nil {
		out.SetLocation(n.Location())
	}
	return out, err
}

func (r *rewriter) rewrite(n ast.Node) (ast.Node, error) {
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return n, nil
	case *ast.PointerNode:
		if n.Name == "" || n.Name == "index" {
			return n, nil
		}
	case *ast.IdentifierNode:
		return r.name(n), nil
	case *ast.MemberNode:
		if !n.Optional && !n.Method {
			return r.member(n)
		}
	case *ast.UnaryNode:
		x, err := r.node(n.Node)
		return &ast.UnaryNode{Operator: n.Operator, Node: x}, err
	case *ast.BinaryNode:
		if isOperator(n.Operator) {
			return r.binary(n)
		}
		return nil, refusef(n, "%s is not available in conditions", n.Operator)
	case *ast.ConditionalNode:
		parts, err := r.nodes([]ast.Node{n.Cond, n.Exp1, n.Exp2})
		if err != nil {
			return nil, err
		}
		return &ast.ConditionalNode{Ternary: n.Ternary, Cond: parts[0], Exp1: parts[1], Exp2: parts[2]}, nil
	case *ast.ArrayNode:
		parts, err := r.nodes(n.Nodes)
		return &ast.ArrayNode{Nodes: parts}, err
	case *ast.BuiltinNode:
		return r.builtin(n)
	case *ast.CallNode:
		return nil, refusef(n, "%s cannot be called here; there are %s, and exists", n.Callee,
			functionList())
	}
	return nil, refusef(n, "%s is not available in conditions", n)
}

func (r *rewriter) nodes(list []ast.Node) ([]ast.Node, error) {
	out := make([]ast.Node, len(list))
	for i, n := range list {
		var err error
		if out[i], err = r.operand(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *rewriter) name(n *ast.IdentifierNode) ast.Node {
	switch n.Value {
	case nameNull:
		return &ast.NilNode{}
	case nameResult:
		return &ast.IdentifierNode{Value: nameResult}
	}
	return call(nameGet, &ast.IdentifierNode{Value: nameResult}, &ast.StringNode{Value: n.Value})
}

func (r *rewriter) member(n *ast.MemberNode) (ast.Node, error) {
	base, err := r.node(n.Node)
	if err != nil {
		return nil, err
	}
	property, err := r.node(n.Property)
	if err != nil {
		return nil, err
	}
	return call(nameGet, base, property), nil
}

func (r *rewriter) binary(n *ast.BinaryNode) (ast.Node, error) {
	a, err := r.operand(n.Left)
	if err != nil {
		return nil, err
	}
	b, err := r.operand(n.Right)
	if err != nil {
		return nil, err
	}
	if n.Operator == "in" {
		return call(nameWithin, a, b), nil
	}
	return &ast.BinaryNode{Operator: n.Operator, Left: a, Right: b}, nil
}

// operand guards the values that a predicate takes from outside.
func (r *rewriter) operand(n ast.Node) (ast.Node, error) {
	out, err := r.node(n)
	if _, outer := pathOf(n); outer && r.inside && err == nil {
		out = call(nameScalar, out)
	}
	return out, err
}

func (r *rewriter) builtin(n *ast.BuiltinNode) (ast.Node, error) {
	if !slices.Contains(functions(), n.Name) {
		return nil, refusef(n, "%s is not available in conditions; there are exists, %s", n.Name, functionList())
	}
	out := &ast.BuiltinNode{Name: n.Name, Throws: n.Throws}
	for _, arg := range n.Arguments {
		predicate, ok := arg.(*ast.PredicateNode)
		if !ok {
			x, err := r.node(arg)
			if err != nil {
				return nil, err
			}
			if r.inside && !aboutElement(arg) {
				x = call(nameScalar, x)
			}
			out.Arguments = append(out.Arguments, x)
			continue
		}
		if r.inside {
			return nil, refusef(n, "%s stands inside another predicate", n.Name)
		}
		within := rewriter{inside: true}
		x, err := within.node(predicate.Node)
		if err != nil {
			return nil, err
		}
		out.Arguments = append(out.Arguments, &ast.PredicateNode{Node: x})
	}
	return out, nil
}

// aboutElement reports whether a path starts at the element of a predicate.
func aboutElement(n ast.Node) bool {
	for {
		switch m := n.(type) {
		case *ast.PointerNode:
			return true
		case *ast.MemberNode:
			n = m.Node
		default:
			return false
		}
	}
}
