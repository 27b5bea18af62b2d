// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits of a YAML file, in addition to those of doc.Tokens: its nesting, and the bytes of JSON
// it may become (aliases repeat what they name, so a small file can say a lot).
const (
	maxYAMLDepth = 500
	maxYAMLJSON  = 4 << 20 // and eight times the file
)

// readYAML rewrites YAML documents as JSON text with a table of positions.
func (s *Source) readYAML(data []byte) (err error) {
	// The parser is a third party's; a panic in it is a file it cannot read.
	defer func() {
		if r := recover(); r != nil {
			err = s.yamlError(1, 1, fmt.Sprintf("the YAML parser gave up: %v", r))
		}
	}()
	tokens, bad := doc.Tokens(data)
	if bad != nil {
		return s.yamlProblem(callvet.Problem{
			Position: callvet.Position{Line: bad.Line, Column: bad.Column},
			Code:     "syntax", Message: bad.Message,
		}, bad.Fix)
	}
	file, perr := parser.Parse(tokens, 0)
	if perr != nil {
		return s.yamlParseError(perr)
	}
	w := &yamlWriter{src: s, anchors: map[string]ast.Node{}, limit: maxYAMLJSON + 8*len(data)}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if err := w.value(doc.Body, 0); err != nil {
			return err
		}
		w.out = append(w.out, '\n')
	}
	if len(w.out) == 0 {
		return fmt.Errorf("read suite: %w: %s is empty", callvet.ErrInvalid, Name(s.Path))
	}
	s.Text, s.marks, s.Form = w.out, w.marks, "yaml"
	return s.validate()
}

func (s *Source) yamlError(line, col int, msg string) error {
	p := callvet.Problem{Position: callvet.Position{Line: line, Column: col}, Code: "syntax", Message: msg}
	if strings.Contains(msg, "already defined") {
		p.Code = "duplicate-key"
	}
	return s.yamlProblem(p, "")
}

func (s *Source) yamlProblem(p callvet.Problem, fix string) error {
	if p.File = s.Path; fix == "" {
		fix = "correct the file at that position"
	}
	return &callvet.Hinted{Err: fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, p), Hint: fix}
}

func (s *Source) yamlParseError(err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
		pos := e.GetToken().Position
		return s.yamlError(pos.Line, pos.Column, "not valid YAML: "+e.GetMessage())
	}
	return s.yamlError(1, 1, "not valid YAML: "+treeFirstLine(err.Error()))
}

func treeFirstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

type yamlWriter struct {
	src     *Source
	out     []byte
	marks   []mark
	anchors map[string]ast.Node
	limit   int
}

func (w *yamlWriter) fail(n ast.Node, format string, args ...any) error {
	line, col := 1, 1
	if t := n.GetToken(); t != nil && t.Position != nil {
		line, col = t.Position.Line, t.Position.Column
	}
	return w.src.yamlError(line, col, fmt.Sprintf(format, args...))
}

func (w *yamlWriter) mark(n ast.Node) {
	if t := n.GetToken(); t != nil && t.Position != nil {
		w.marks = append(w.marks, mark{len(w.out), t.Position.Line, t.Position.Column})
	}
}

// start is the node whose token is where a person sees a value begin: for a
// block mapping that is its first key, not the colon.
func start(n ast.Node) ast.Node {
	switch v := n.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return v.Values[0].Key
		}
	case *ast.MappingValueNode:
		return v.Key
	}
	return n
}

func (w *yamlWriter) value(n ast.Node, depth int) error {
	if depth > maxYAMLDepth || len(w.out) > w.limit {
		return w.fail(n, "the document is too deep or its aliases make it too large")
	}
	switch v := n.(type) {
	case *ast.AnchorNode:
		w.anchors[v.Name.GetToken().Value] = v.Value
		return w.value(v.Value, depth+1)
	case *ast.AliasNode:
		target, ok := w.anchors[v.Value.GetToken().Value]
		if !ok {
			return w.fail(n, "alias *%s has no anchor before it", v.Value.GetToken().Value)
		}
		return w.value(target, depth+1)
	case *ast.TagNode:
		return w.tagged(v, depth)
	}
	w.mark(start(n))
	switch v := n.(type) {
	case *ast.MappingNode:
		return w.mapping(v.Values, depth)
	case *ast.MappingValueNode:
		return w.mapping([]*ast.MappingValueNode{v}, depth)
	case *ast.SequenceNode:
		w.out = append(w.out, '[')
		for i, item := range v.Values {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.value(item, depth+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
		return nil
	}
	return w.scalar(n)
}

// tagged honors !!str; other tags say nothing that JSON can hold.
func (w *yamlWriter) tagged(v *ast.TagNode, depth int) error {
	if v.Value == nil {
		w.out = append(w.out, "null"...)
		return nil
	}
	if tag := v.GetToken().Value; tag == "!!str" {
		if s, ok := v.Value.(ast.ScalarNode); ok {
			w.mark(v.Value)
			return w.quote(v.Value, s.GetToken().Value)
		}
	} else if tag == "!!binary" || tag == "!!set" || tag == "!!omap" {
		return w.fail(v, "tag %s is not supported", tag)
	}
	return w.value(v.Value, depth+1)
}

func (w *yamlWriter) mapping(values []*ast.MappingValueNode, depth int) error {
	pairs, err := w.pairs(values, depth)
	if err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for i, p := range pairs {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.mark(p.at)
		if err := w.quote(p.at, p.key); err != nil {
			return err
		}
		w.out = append(w.out, ':')
		if err := w.value(p.val, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

type yamlPair struct {
	key string
	at  ast.Node
	val ast.Node
}

// pairs flattens merge keys: what a mapping says itself wins over what it merges.
func (w *yamlWriter) pairs(values []*ast.MappingValueNode, depth int) ([]yamlPair, error) {
	if depth > maxYAMLDepth {
		return nil, w.fail(values[0], "the document is too deep")
	}
	var own, merged []yamlPair
	for _, v := range values {
		if v.Key.IsMergeKey() {
			more, err := w.merge(v.Value, depth+1)
			if err != nil {
				return nil, err
			}
			merged = append(merged, more...)
			continue
		}
		key, err := w.key(v.Key)
		if err != nil {
			return nil, err
		}
		own = append(own, yamlPair{key, v.Key, v.Value})
	}
	if len(merged) == 0 {
		return own, nil
	}
	seen := make(map[string]bool, len(own))
	for _, p := range own {
		seen[p.key] = true
	}
	for _, p := range merged {
		if !seen[p.key] {
			seen[p.key] = true
			own = append(own, p)
		}
	}
	return own, nil
}

func (w *yamlWriter) merge(n ast.Node, depth int) ([]yamlPair, error) {
	if depth > maxYAMLDepth {
		return nil, w.fail(n, "merge keys are nested too deep")
	}
	switch v := n.(type) {
	case *ast.AliasNode:
		if target, ok := w.anchors[v.Value.GetToken().Value]; ok {
			return w.merge(target, depth+1)
		}
	case *ast.MappingNode:
		return w.pairs(v.Values, depth+1)
	case *ast.MappingValueNode:
		return w.pairs([]*ast.MappingValueNode{v}, depth+1)
	case *ast.SequenceNode:
		var out []yamlPair
		for _, item := range v.Values {
			more, err := w.merge(item, depth+1)
			if err != nil {
				return nil, err
			}
			if out = append(out, more...); len(out) > 1e5 {
				return nil, w.fail(n, "merge keys bring in too many keys")
			}
		}
		return out, nil
	}
	return nil, w.fail(n, "a merge key needs a mapping or an alias of one")
}

func (w *yamlWriter) key(k ast.MapKeyNode) (string, error) {
	switch v := k.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.MappingKeyNode:
		return "", w.fail(k, "complex mapping keys are not supported")
	case *ast.AliasNode, *ast.AnchorNode, *ast.TagNode:
		return "", w.fail(k, "anchors, aliases and tags on keys are not supported")
	}
	return k.GetToken().Value, nil
}

func (w *yamlWriter) scalar(n ast.Node) error {
	switch v := n.(type) {
	case *ast.NullNode:
		w.out = append(w.out, "null"...)
	case *ast.BoolNode:
		w.out = strconv.AppendBool(w.out, v.Value)
	case *ast.StringNode:
		return w.quote(n, v.Value)
	case *ast.LiteralNode:
		return w.quote(n, v.Value.Value)
	case *ast.IntegerNode:
		return w.integer(v)
	case *ast.FloatNode:
		return w.float(v)
	case *ast.InfinityNode, *ast.NanNode:
		return w.fail(n, "%s has no JSON form", n.GetToken().Value)
	default:
		return w.fail(n, "%s is not supported here", n.Type())
	}
	return nil
}

// integer keeps a decimal literal as written and converts the other bases.
func (w *yamlWriter) integer(v *ast.IntegerNode) error {
	lit := v.GetToken().Value
	if jsonNumber(lit) {
		w.out = append(w.out, lit...)
		return nil
	}
	if i, ok := new(big.Int).SetString(strings.TrimPrefix(lit, "+"), 0); ok {
		w.out = i.Append(w.out, 10)
		return nil
	}
	w.out = fmt.Appendf(w.out, "%d", v.Value)
	return nil
}

func (w *yamlWriter) float(v *ast.FloatNode) error {
	if lit := v.GetToken().Value; jsonNumber(lit) {
		w.out = append(w.out, lit...)
		return nil
	}
	b, err := json.Marshal(v.Value)
	if err != nil {
		return w.fail(v, "%s has no JSON form", v.GetToken().Value)
	}
	w.out = append(w.out, b...)
	return nil
}

func jsonNumber(lit string) bool {
	v := jsontext.Value(lit)
	return v.IsValid() && v.Kind() == '0' && strings.TrimSpace(lit) == lit
}

func (w *yamlWriter) quote(n ast.Node, s string) error {
	out, err := jsontext.AppendQuote(w.out, s)
	if err != nil {
		return w.fail(n, "text is not valid UTF-8")
	}
	w.out = out
	return nil
}
