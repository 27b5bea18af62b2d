// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
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
func parseYAML(file string, data []byte) (d *File, bad *SyntaxError) {
	d = &File{Name: file}
	roots, dups, bad := Documents(data)
	switch {
	case bad != nil:
		return d, bad
	case len(roots) > 1:
		p := d.Position(roots[1].At)
		return d, &SyntaxError{
			Line: p.Line, Column: p.Column, Message: "the file holds more than one YAML document",
			Fix: "keep one suite in a file and remove the --- line",
		}
	case len(roots) == 0:
		return d, &SyntaxError{Line: 1, Column: 1, Message: "the file is empty"}
	}
	d.Root, d.Dups = roots[0], dups
	return d, nil
}

// Documents reads all documents of a YAML text. Their places are like in a File that is not JSON.
func Documents(data []byte) (roots []Node, dups []Duplicate, bad *SyntaxError) {
	defer func() {
		if r := recover(); r != nil { // the parser has panicked on broken input before
			bad = &SyntaxError{Line: 1, Column: 1, Message: fmt.Sprintf("not readable as YAML: %v", r)}
		}
	}()
	tokens, bad := tokenize(data)
	if bad != nil {
		return nil, nil, bad
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, nil, yamlSyntax(err)
	}
	var y yamlReader
	for _, doc := range f.Docs {
		if doc.Body != nil {
			y.anchors = map[string]Node{}
			roots = append(roots, y.value(doc.Body, 0))
		}
	}
	return roots, y.dups, y.err
}

// MaxYAML is how many bytes of YAML are read.
const MaxYAML = 32 << 20

// maxMarks is how many keys, elements, brackets and lines a YAML text may have. The parser
// has one or two tokens for each, which with its tree take some 600 bytes apiece: a suite in
// YAML takes a hundred times its size in memory.
const maxMarks = 1 << 20

// tokenize splits YAML for the parser. Text that would need very much memory or time is refused
// with the line at which it exceeds the limit.
func tokenize(data []byte) (token.Tokens, *SyntaxError) {
	data = LineEnds(bytes.TrimPrefix(data, []byte("\ufeff"))) // the lexer counts some lines with other ends twice
	const fix = "write it as JSON, or split it into files of one folder"
	if len(data) > MaxYAML {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: "the YAML is larger than 32 MiB", Fix: fix}
	}
	if line := crowded(data); line > 0 {
		return nil, &SyntaxError{
			Line: line, Column: 1,
			Message: fmt.Sprintf(
				"the YAML has more than %d keys, elements, brackets and lines, which would take more than 1 GB of memory", maxMarks), Fix: fix,
		}
	}
	tokens := lexer.Tokenize(string(data))
	return tokens, sourceTooMuch(tokens)
}

// LineEnds returns a text with the line ends \n, in place of the \r\n and \r of other systems.
func LineEnds(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte{'\r'}, []byte{'\n'})
}

// crowded is the line at which a text exceeds the allowed number of marks; 0: it does not.
func crowded(data []byte) int {
	line, marks := 1, 0
	for i, c := range data {
		switch c {
		case '\n':
			line++
			marks++
		case ',', '[', ']', '{', '}', '#', '&', '*', '!':
			marks++
		case ':', '-', '?':
			if i+1 == len(data) || data[i+1] <= ' ' {
				marks++
			}
		}
		if marks > maxMarks {
			return line
		}
	}
	return 0
}

func yamlSyntax(err error) *SyntaxError {
	e := &SyntaxError{Line: 1, Column: 1}
	var s *yaml.SyntaxError
	if !errors.As(err, &s) {
		e.Message = "not valid YAML: " + err.Error()
	} else { // its Error would draw the source, which takes minutes for a large file
		e.Message = "not valid YAML: " + s.Message
		if s.Token != nil && s.Token.Position != nil {
			e.Line, e.Column = s.Token.Position.Line, s.Token.Position.Column
		}
	}
	if strings.Contains(e.Message, "tab") {
		e.Fix = "indent with spaces"
	}
	return e
}

// maxWork bounds the parser's work apart from reading. The parser copies a mapping for each of its
// keys, and all tokens for each empty value.
const maxWork = 1 << 30

// sourceTooMuch refuses texts that the recursive parser cannot handle: nesting by brackets or by
// several block indicators on one line, very wide block mappings, and very many empty values.
func sourceTooMuch(tokens token.Tokens) *SyntaxError {
	var w yamlWork
	for i, t := range tokens {
		bad := w.nesting(t)
		w.widths(tokens, i)
		w.flows(tokens, i)
		if bad == "" && w.work > maxWork {
			bad = "the YAML has too many keys or empty values for its size; write it as JSON"
		}
		if bad != "" {
			return &SyntaxError{Line: t.Position.Line, Column: t.Position.Column, Message: bad}
		}
	}
	return nil
}

type yamlWork struct {
	depth, line, onLine int
	work                int
	open                []blockMap
	flow                []bracket
}

// bracket is an open list or mapping in brackets.
type bracket struct{ mapping, valued bool }

// blockMap is an open block mapping.
type blockMap struct{ column, keys int }

func (w *yamlWork) nesting(t *token.Token) string {
	if t.Position.Line != w.line {
		w.line, w.onLine = t.Position.Line, 0
	}
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		w.depth++
	case token.MappingEndType, token.SequenceEndType:
		w.depth--
	case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
		w.onLine++
	default:
	}
	if w.depth > maxDepth || (w.depth <= 0 && w.onLine > maxDepth) || t.Position.Column > 1<<22 {
		return "values are nested more than 200 deep"
	}
	return ""
}

// flows adds the work of the entries of mappings in brackets that have no value.
func (w *yamlWork) flows(tokens token.Tokens, i int) {
	t := tokens[i].Type
	switch t {
	case token.MappingStartType, token.SequenceStartType:
		w.flow = append(w.flow, bracket{mapping: t == token.MappingStartType})
		return
	default:
	}
	if len(w.flow) == 0 {
		return
	}
	top := &w.flow[len(w.flow)-1]
	switch t {
	case token.MappingValueType:
		top.valued = true
	case token.CollectEntryType, token.MappingEndType, token.SequenceEndType:
		before := tokens[i-1].Type
		if top.mapping && before != token.MappingStartType && (!top.valued || before == token.MappingValueType) {
			w.work += len(tokens)
		}
		if top.valued = false; t != token.CollectEntryType {
			w.flow = w.flow[:len(w.flow)-1]
		}
	default:
	}
}

// widths adds the work of block mappings, and of their values that are left empty.
func (w *yamlWork) widths(tokens token.Tokens, i int) {
	t := tokens[i]
	column := t.Position.Column
	switch {
	case w.depth > 0:
		return
	case t.Type == token.MappingValueType && i > 0 && tokens[i-1].Position.Line == t.Position.Line:
		w.key(tokens[i-1].Position.Column)
	case t.Type == token.MappingKeyType:
		w.key(column)
		w.work += len(tokens)
	case t.Type == token.SequenceEntryType, i == 0, tokens[i-1].Position.Line != t.Position.Line:
		for len(w.open) > 0 && w.open[len(w.open)-1].column > column {
			w.open = w.open[:len(w.open)-1]
		}
	}
	indicator := t.Type == token.MappingValueType || t.Type == token.SequenceEntryType
	if indicator && i+1 < len(tokens) && tokens[i+1].Position.Line != t.Position.Line &&
		tokens[i+1].Position.Column <= column {
		w.work += len(tokens)
	}
}

func (w *yamlWork) key(column int) {
	for len(w.open) > 0 && w.open[len(w.open)-1].column > column {
		w.open = w.open[:len(w.open)-1]
	}
	if len(w.open) == 0 || w.open[len(w.open)-1].column < column {
		w.open = append(w.open, blockMap{column: column})
	}
	top := &w.open[len(w.open)-1]
	w.work += 2*top.keys + 1
	top.keys++
}

func at(n ast.Node, message string) *SyntaxError {
	p := n.GetToken().Position
	return &SyntaxError{Line: p.Line, Column: p.Column, Message: message}
}

type yamlReader struct {
	anchors map[string]Node
	dups    []Duplicate
	err     *SyntaxError
}

func (y *yamlReader) fail(n ast.Node, message, fix string) Node {
	if y.err == nil {
		y.err = at(n, message)
		y.err.Fix = fix
	}
	return Node{Kind: Null, Raw: []byte("null"), size: 1}
}

func (y *yamlReader) value(n ast.Node, depth int) Node {
	if depth > maxDepth {
		return y.fail(n, "values are nested more than 200 deep", "")
	}
	out := y.plain(n, depth)
	if out.size++; out.size > maxExpanded {
		return y.fail(n, "the document stands for millions of values once its aliases are followed",
			"use fewer aliases of aliases")
	}
	return out
}

func (y *yamlReader) plain(n ast.Node, depth int) Node {
	switch n := n.(type) {
	case *ast.MappingNode:
		return y.mapping(n, n.Values, depth)
	case *ast.MappingValueNode:
		return y.mapping(n, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out := Node{Kind: List, At: tokenPlace(n.Start)}
		for _, v := range n.Values {
			item := y.value(v, depth+1)
			out.size += item.size
			out.Items = append(out.Items, item)
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

func (y *yamlReader) tagged(n *ast.TagNode, depth int) Node {
	switch tag := n.Start.Value; tag {
	case "!!str":
		if s, ok := n.Value.(ast.ScalarNode); ok {
			text := s.GetToken().Value
			if l, ok := n.Value.(*ast.LiteralNode); ok {
				text = l.Value.Value
			}
			return Node{Kind: String, At: tokenPlace(n.Start), Raw: Quote(nil, text)}
		}
	case "!!map", "!!seq", "!!int", "!!float", "!!bool", "!!null":
		return y.value(n.Value, depth+1)
	}
	return y.fail(n, fmt.Sprintf("the YAML tag %s is not supported", n.Start.Value), "remove it")
}

func tokenPlace(t *token.Token) int { return place(t.Position.Line, t.Position.Column) }

func (y *yamlReader) mapping(n ast.Node, values []*ast.MappingValueNode, depth int) Node {
	out := Node{Kind: Map, At: tokenPlace(n.GetToken())}
	if len(values) > 0 && out.At > tokenPlace(values[0].Key.GetToken()) {
		out.At = tokenPlace(values[0].Key.GetToken())
	}
	var merged []Node
	for _, v := range values {
		item := y.value(v.Value, depth+1)
		out.size += item.size
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			if item.Kind == List {
				merged = append(merged, item.Items...)
			} else {
				merged = append(merged, item)
			}
			continue
		}
		out.Names = append(out.Names, Entry{y.key(v.Key), tokenPlace(v.Key.GetToken())})
		out.Items = append(out.Items, item)
	}
	y.dups = duplicates(y.dups, out.Names)
	for _, m := range merged {
		if m.Kind != Map {
			return y.fail(n, "<< takes a mapping or a list of mappings", "")
		}
		for i := range m.Items {
			if out.Get(m.Names[i].Name) == nil {
				out.Names, out.Items = append(out.Names, m.Names[i]), append(out.Items, m.Items[i])
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
	if v.Kind == List || v.Kind == Map {
		y.fail(n, "a key must be plain text", "")
	}
	return v.Text()
}

func isJSONNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && jsontext.Value(s).IsValid() &&
		strings.TrimSpace(s) == s
}

func (y *yamlReader) scalar(n ast.Node) Node {
	t := n.GetToken()
	out := Node{At: tokenPlace(t)}
	switch n := n.(type) {
	case *ast.NullNode:
		out.Raw = []byte("null")
	case *ast.BoolNode:
		out.Kind, out.Raw = Bool, strconv.AppendBool(nil, n.Value)
	case *ast.StringNode:
		if t.Type == token.StringType && isJSONNumber(t.Value) { // 1e5, and numbers beyond 64 bits
			out.Kind, out.Raw = Number, []byte(t.Value)
			return out
		}
		out.Kind, out.Raw = String, Quote(nil, n.Value)
	case *ast.LiteralNode:
		out.Kind, out.Raw = String, Quote(nil, n.Value.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		return y.number(n, t.Value, out)
	case *ast.InfinityNode, *ast.NanNode:
		return y.fail(n, t.Value+" has no JSON form", "write it in quotes if text is meant")
	default:
		return y.fail(n, "unexpected YAML "+strings.ToLower(n.Type().String()), "")
	}
	return out
}

// number keeps the text of a number that is valid in JSON, and writes the exact value of other
// numbers.
func (y *yamlReader) number(n ast.Node, text string, out Node) Node {
	out.Kind, out.Raw = Number, []byte(text)
	if isJSONNumber(text) {
		return out
	}
	out.Odd = true
	plain := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	digits := strings.TrimPrefix(plain, "-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return y.fail(n, text+" is octal to some YAML readers and decimal to others",
			"write it without the leading zero, or in quotes if text is meant")
	}
	if i, ok := new(big.Int).SetString(plain, 0); ok {
		out.Raw = []byte(i.String())
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
	out.Raw = []byte(number)
	return out
}
