// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sheet

import (
	"bytes"
	"encoding/json"
	"io"
)

// Encode writes v as package json does with an indent of a space, and a newline. That
// package indents by looking at each byte for what might be wrong with it; what
// it has written itself needs no such care.
func Encode(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(indent(make([]byte, 0, 2*len(text)), text), '\n'))
	return err
}

// indent appends compact JSON, each member and element on its own line.
func indent(out, text []byte) []byte {
	depth := 0
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
			if next := text[i+1]; next == '}' || next == ']' { // nothing is in it
				out = append(out, next)
				i++
				continue
			}
			depth++
			out = newline(out, depth)
		case ',':
			out = newline(append(out, c), depth)
		case '}', ']':
			depth--
			out = append(newline(out, depth), c)
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
	return out
}

func newline(out []byte, depth int) []byte {
	const spaces = "\n                "
	if depth < len(spaces) {
		return append(out, spaces[:1+depth]...)
	}
	return append(append(out, '\n'), bytes.Repeat([]byte{' '}, depth)...)
}
