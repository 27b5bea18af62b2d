// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/go-json-experiment/json/jsontext"
)

// parseYAML reads one YAML document.
func parseYAML(file string, data []byte) (d *document, bad *syntaxError) {
	d = &document{file: file}
	defer func() {
		if r := recover(); r != nil { // the parser has panicked on broken input before
			bad = &syntaxError{line: 1, column: 1, message: fmt.Sprintf("not readable as YAML: %v", r)}
		}
	}()
	tokens := lexer.Tokenize(strings.TrimPrefix(string(data), "\ufeff"))
	if bad := tooDeep(tokens); bad != nil {
		return d, bad
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return d, yamlSyntax(err)
	}
	var bodies []ast.Node
	for _, doc := range f.Docs {
		if doc.Body != nil {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) > 1 {
		e := at(bodies[1], "the file holds more than one YAML document")
		e.fix = "keep one suite in a file and remove the --- line"
		return d, e
	}
	if len(bodies) == 0 {
		return d, &syntaxError{line: 1, column: 1, message: "the file is empty"}
	}
	y := yamlReader{anchors: map[string]node{}}
	d.root = y.value(bodies[0], 0)
	d.dups = y.dups
	return d, y.err
}

func yamlSyntax(err error) *syntaxError {
	e := &syntaxError{line: 1, column: 1, message: "not valid YAML: " + err.Error()}
	var s *yaml.SyntaxError
	if errors.As(err, &s) {
		e.message = "not valid YAML: " + s.Message
		if s.Token != nil && s.Token.Position != nil {
			e.line, e.column = s.Token.Position.Line, s.Token.Position.Column
		}
	}
	if strings.Contains(e.message, "tab") {
		e.fix = "indent with spaces"
	}
	return e
}

// tooDeep refuses nesting before the recursive parser meets it: brackets, and
// block indicators that open several levels on one line.
func tooDeep(tokens token.Tokens) *syntaxError {
	depth, line, onLine := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, onLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			onLine++
		default:
		}
		if depth > maxDepth || (depth <= 0 && onLine > maxDepth) || t.Position.Column > 1<<22 {
			return &syntaxError{line: t.Position.Line, column: t.Position.Column, message: "values are nested more than 200 deep"}
		}
	}
	return nil
}

func at(n ast.Node, message string) *syntaxError {
	p := n.GetToken().Position
	return &syntaxError{line: p.Line, column: p.Column, message: message}
}

type yamlReader struct {
	anchors map[string]node
	dups    []duplicate
	err     *syntaxError
}

func (y *yamlReader) fail(n ast.Node, message, fix string) node {
	if y.err == nil {
		y.err = at(n, message)
		y.err.fix = fix
	}
	return node{kind: kindNull, raw: []byte("null"), size: 1}
}

func (y *yamlReader) value(n ast.Node, depth int) node {
	if depth > maxDepth {
		return y.fail(n, "values are nested more than 200 deep", "")
	}
	out := y.plain(n, depth)
	if out.size++; out.size > maxExpanded {
		return y.fail(n, "the document stands for millions of values once its aliases are followed", "use fewer aliases of aliases")
	}
	return out
}

func (y *yamlReader) plain(n ast.Node, depth int) node {
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.mapping(n, n.Values, depth)
	case *ast.MappingValueNode:
		return y.mapping(n, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out := node{kind: kindList, at: tokenPlace(n.Start)}
		for _, v := range n.Values {
			item := y.value(v, depth+1)
			out.size += item.size
			out.items = append(out.items, item)
		}
		return out
	case *ast.AnchorNode:
		v := y.value(n.Value, depth+1)
		y.anchors[n.Name.GetToken().Value] = v
		return v
	case *ast.AliasNode:
		v, ok := y.anchors[n.Value.GetToken().Value]
		if !ok {
			return y.fail(n, fmt.Sprintf("the alias *%s has no anchor before it", n.Value.GetToken().Value), "")
		}
		return v
	case *ast.TagNode:
		return y.tagged(n, depth)
	}
	return y.scalar(n)
}

func (y *yamlReader) tagged(n *ast.TagNode, depth int) node {
	switch tag := n.Start.Value; tag {
	case "!!str":
		if s, ok := n.Value.(ast.ScalarNode); ok {
			text := s.GetToken().Value
			if l, ok := n.Value.(*ast.LiteralNode); ok {
				text = l.Value.Value
			}
			return node{kind: kindString, at: tokenPlace(n.Start), raw: quote(nil, text)}
		}
	case "!!map", "!!seq", "!!int", "!!float", "!!bool", "!!null":
		return y.value(n.Value, depth+1)
	}
	return y.fail(n, fmt.Sprintf("the YAML tag %s is not supported", n.Start.Value), "remove it")
}

func tokenPlace(t *token.Token) int { return place(t.Position.Line, t.Position.Column) }

func (y *yamlReader) mapping(n ast.Node, values []*ast.MappingValueNode, depth int) node {
	out := node{kind: kindMap, at: tokenPlace(n.GetToken())}
	if len(values) > 0 && out.at > tokenPlace(values[0].Key.GetToken()) {
		out.at = tokenPlace(values[0].Key.GetToken())
	}
	var merged []node
	for _, v := range values {
		item := y.value(v.Value, depth+1)
		out.size += item.size
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			if item.kind == kindList {
				merged = append(merged, item.items...)
			} else {
				merged = append(merged, item)
			}
			continue
		}
		out.names = append(out.names, entry{y.key(v.Key), tokenPlace(v.Key.GetToken())})
		out.items = append(out.items, item)
	}
	y.dups = duplicates(y.dups, out.names)
	for _, m := range merged {
		if m.kind != kindMap {
			return y.fail(n, "<< takes a mapping or a list of mappings", "")
		}
		for i := range m.items {
			if out.get(m.names[i].name) == nil {
				out.names, out.items = append(out.names, m.names[i]), append(out.items, m.items[i])
			}
		}
	}
	return out
}

func (y *yamlReader) key(k ast.MapKeyNode) string {
	var n ast.Node = k
	if m, ok := k.(*ast.MappingKeyNode); ok {
		n = m.Value
	}
	v := y.plain(n, 0)
	if v.kind == kindList || v.kind == kindMap {
		y.fail(n, "a key must be plain text", "")
	}
	return v.text()
}

func isJSONNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && jsontext.Value(s).IsValid() && strings.TrimSpace(s) == s
}

func (y *yamlReader) scalar(n ast.Node) node {
	t := n.GetToken()
	out := node{at: tokenPlace(t)}
	switch n := n.(type) {
	case *ast.NullNode:
		out.raw = []byte("null")
	case *ast.BoolNode:
		out.kind, out.raw = kindBool, strconv.AppendBool(nil, n.Value)
	case *ast.StringNode:
		if t.Type == token.StringType && isJSONNumber(t.Value) { // 1e5, and numbers beyond 64 bits
			out.kind, out.raw = kindNumber, []byte(t.Value)
			return out
		}
		out.kind, out.raw = kindString, quote(nil, n.Value)
	case *ast.LiteralNode:
		out.kind, out.raw = kindString, quote(nil, n.Value.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		return y.number(n, t.Value, out)
	case *ast.InfinityNode, *ast.NanNode:
		return y.fail(n, t.Value+" has no JSON form", "write it in quotes if text is meant")
	default:
		return y.fail(n, "unexpected YAML "+strings.ToLower(n.Type().String()), "")
	}
	return out
}

// number keeps a number as written where JSON can write it so, and gives the
// others their exact value.
func (y *yamlReader) number(n ast.Node, text string, out node) node {
	out.kind, out.raw = kindNumber, []byte(text)
	if isJSONNumber(text) {
		return out
	}
	out.odd = true
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	digits := strings.TrimPrefix(plain, "-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return y.fail(n, text+" is octal to some YAML readers and decimal to others", "write it without the leading zero, or in quotes if text is meant")
	}
	if i, ok := new(big.Int).SetString(plain, 0); ok {
		out.raw = []byte(i.String())
		return out
	}
	sign := plain[:len(plain)-len(digits)]
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		fraction = "0"
	}
	number := sign + whole + "." + fraction
	if scientific {
		number += "e" + exponent
	}
	if !isJSONNumber(number) {
		return y.fail(n, text+" is not a number that JSON can write", "write it in quotes if text is meant")
	}
	out.raw = []byte(number)
	return out
}
