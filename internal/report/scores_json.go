// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/panel"
)

// EncodePanels writes what in makes of panels as package json does with an indent of a space,
// and a newline. Nearly all of it is metrics, in the tables of slices: these are written
// without reflection, on all processors, and the rest around them by package json.
func EncodePanels(w io.Writer, p *panel.Panels, in func(*panel.Panels) any) error {
	hollow, tables := emptied(p)
	text, err := json.Marshal(in(hollow))
	if err != nil {
		return err
	}
	// The quotes of texts are escaped: none has a gap in it.
	parts := bytes.Split(text, []byte(noMetrics))
	if len(parts) != len(tables)+1 {
		return fmt.Errorf("write tables: there are %d, and place for %d", len(tables), len(parts)-1)
	}
	var around sheetLines
	pieces := make([][]byte, 0, 2*len(parts))
	depths := make([]int, len(tables))
	for i, part := range parts {
		if around.add(part); i < len(tables) {
			around.add([]byte(`"metrics":`))
			depths[i] = around.depth
		} else {
			around.out = append(around.out, '\n')
		}
		pieces = append(pieces, around.out, nil)
		around.out = nil
	}
	err = parallel.Each(runtime.GOMAXPROCS(0), len(tables), func(i int) (err error) {
		pieces[2*i+1], err = sheetMetrics(tables[i], depths[i])
		return err
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	for _, piece := range pieces {
		_, _ = out.Write(piece) // whose errors Flush gives
	}
	return out.Flush()
}

// noMetrics stands in compact JSON where the metrics of a slice are to be.
const noMetrics = `"metrics":null`

// emptied are the panels without metrics, and the metrics in the order of their gaps.
func emptied(p *panel.Panels) (hollow *panel.Panels, tables [][]panel.Metric) {
	if p == nil {
		return nil, nil
	}
	out := *p
	out.Targets = slices.Clone(p.Targets)
	for i := range out.Targets {
		t := &out.Targets[i]
		tables = append(tables, t.Overall.Metrics)
		t.Overall.Metrics = nil
		t.Slices = slices.Clone(t.Slices)
		for j := range t.Slices {
			tables = append(tables, t.Slices[j].Metrics)
			t.Slices[j].Metrics = nil
		}
	}
	return &out, tables
}

// sheetMetrics is the list of a table, in lines; the first one continues a line.
func sheetMetrics(table []panel.Metric, depth int) (text []byte, err error) {
	if table == nil {
		return []byte("null"), nil
	}
	const long = 512 // of a metric, in bytes; about
	b := append(make([]byte, 0, long*(1+len(table))), '[')
	for i := range table {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = table[i].AppendJSON(b); err != nil {
			return nil, err
		}
	}
	l := sheetLines{out: make([]byte, 0, 2*len(b)), depth: depth}
	l.add(append(b, ']'))
	return l.out, nil
}

// sheetLines are compact JSON, each member and element of it on its own line. Package json
// does the same by looking at each byte for what might be wrong with it; what is
// written here needs no such care.
type sheetLines struct {
	out   []byte
	depth int
}

// add adds a run of whole tokens.
func (l *sheetLines) add(text []byte) {
	out := l.out
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, text[i:end+1]...)
			i = end
		case '{', '[':
			out = append(out, c)
			if i+1 < len(text) && (text[i+1] == '}' || text[i+1] == ']') { // nothing is in it
				i++
				out = append(out, text[i])
				continue
			}
			l.depth++
			out = newline(out, l.depth)
		case ',':
			out = newline(append(out, c), l.depth)
		case '}', ']':
			l.depth--
			out = append(newline(out, l.depth), c)
		case ':':
			out = append(out, ':', ' ')
		default:
			end := i + 1
			for end < len(text) && text[end] != ',' && text[end] != '}' && text[end] != ']' { // a number or a word
				end++
			}
			out = append(out, text[i:end]...)
			i = end - 1
		}
	}
	l.out = out
}

func newline(out []byte, depth int) []byte {
	const spaces = "\n                "
	if depth < len(spaces) {
		return append(out, spaces[:1+depth]...)
	}
	return append(append(out, '\n'), bytes.Repeat([]byte{' '}, depth)...)
}
