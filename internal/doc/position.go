// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// File is a parsed file: its tree, and the data to find places.
type File struct {
	Name string
	Root Node
	// Dups are the keys that occur twice in one map.
	Dups []Duplicate
	// data and marks turn JSON offsets into lines; a YAML document has its lines
	// in the places themselves.
	data   []byte
	marks  []mark
	isJSON bool
}

// mark is the line and column of a block's first byte, so that a place in a file of one long line
// is found without reading the whole line.
type mark struct{ line, column int }

// Duplicate is a key that occurs twice in one map.
type Duplicate struct {
	Name      string
	At, First int
}

const blockSize = 4096

// place packs a YAML line and column into a node's place.
func place(line, column int) int { return line<<24 | min(max(column, 0), 1<<24-1) }

// Position resolves a place; columns count characters from 1.
func (d *File) Position(at int) callvet.Position {
	p := callvet.Position{File: d.Name}
	if !d.isJSON {
		p.Line, p.Column = at>>24, at&(1<<24-1)
		return p
	}
	if d.marks == nil {
		d.index()
	}
	at = min(max(at, 0), len(d.data))
	block := min(at/blockSize, len(d.marks)-1)
	m := advance(d.marks[block], d.data[block*blockSize:at])
	p.Line, p.Column = m.line, m.column
	return p
}

func (d *File) index() {
	m := mark{1, 1}
	for i := 0; ; i += blockSize {
		d.marks = append(d.marks, m)
		if i+blockSize >= len(d.data) {
			return
		}
		m = advance(m, d.data[i:i+blockSize])
	}
}

func advance(m mark, b []byte) mark {
	if n := bytes.Count(b, []byte{'\n'}); n > 0 {
		m = mark{m.line + n, 1}
		b = b[bytes.LastIndexByte(b, '\n')+1:]
	}
	for _, c := range b {
		if utf8.RuneStart(c) {
			m.column++
		}
	}
	return m
}
