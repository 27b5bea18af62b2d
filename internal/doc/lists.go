// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// ReadLists is Read for files that list things, which may also be one JSON value a line: these
// values are the elements of a list.
func ReadLists(name string, data []byte) (*File, *SyntaxError) {
	d, bad := Read(name, data)
	switch {
	case bad == nil && !(byLine(name) && d.Root.Kind == Map), bad != nil && !bad.Trailing && !byLine(name):
		return d, bad
	}
	lines, worse := ReadJSON(name, listOf(data))
	if worse != nil && !byLine(name) {
		return d, bad
	}
	return lines, worse
}

func byLine(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	return slices.Contains([]string{".jsonl", ".ndjson"}, filepath.Ext(name))
}

// listOf makes one list of lines; each stays on its line.
func listOf(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	out := append(make([]byte, 0, len(data)+len(data)/64+2), '[')
	last := -1 // after the last value
	for line := range bytes.Lines(data) {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if last >= 0 {
				out = slices.Insert(out, last, ',')
			}
			out = append(out, line...)
			last = len(out) - len(line) + bytes.LastIndex(line, text) + len(text)
			continue
		}
		out = append(out, line...)
	}
	return append(out, ']')
}

// PlainJSON returns the input of ReadLists as one JSON text that keeps every value on its own line
// of the file. placed reports that each also keeps its column. JSON without a byte order mark is
// returned unchanged.
func PlainJSON(name string, data []byte) (text []byte, placed bool, bad error) {
	if !IsYAML(name, data) && !byLine(name) && validJSON(data) == nil {
		return data, true, nil
	}
	d, err := ReadLists(name, data)
	switch {
	case err != nil && d == nil:
		d = &File{Name: name}
		fallthrough
	case err != nil:
		return nil, false, d.Problem(err)
	case d.isJSON:
		return d.data, true, nil
	}
	w := lineWriter{line: 1}
	w.value(&d.Root)
	return w.out, false, nil
}

// lineWriter writes the values of a YAML document as JSON on the lines where they are.
type lineWriter struct {
	out  []byte
	line int
}

func (w *lineWriter) to(at int) {
	for ; w.line < at>>24; w.line++ {
		w.out = append(w.out, '\n')
	}
}

func (w *lineWriter) value(n *Node) {
	w.to(n.At)
	if n.Kind != List && n.Kind != Map {
		w.out = n.AppendJSON(w.out)
		return
	}
	brackets := "[]"
	if n.Kind == Map {
		brackets = "{}"
	}
	w.out = append(w.out, brackets[0])
	for i := range n.Items {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if n.Kind == Map {
			w.to(n.Names[i].At)
			w.out = append(Quote(w.out, n.Names[i].Name), ':')
		}
		w.value(&n.Items[i])
	}
	w.out = append(w.out, brackets[1])
}
