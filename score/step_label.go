// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import "encoding/binary"

// label is a text of lines with the parts that distinguish it from most others.
type label struct {
	ends
	text string
}

// ends are the first eight bytes of a text, its last eight, and eight between them: with
// its size all there is of one of up to maxEnds. Of a text of fewer than eight, first is all.
type ends struct{ first, last, mid uint64 }

const maxEnds = 24

func endsOf(text []byte) (e ends) {
	n := len(text)
	if n < 8 {
		for i, c := range text {
			e.first |= uint64(c) << (8 * i)
		}
		return e
	}
	e = ends{first: binary.LittleEndian.Uint64(text), last: binary.LittleEndian.Uint64(text[n-8:])}
	if n > 16 {
		e.mid = binary.LittleEndian.Uint64(text[8:])
	}
	return e
}

func labelOf(text string) label { return label{endsOf([]byte(text)), text} }

// is reports whether l is a text with those ends.
func (l *label) is(text []byte, e ends) bool {
	return l.ends == e && len(l.text) == len(text) && (len(text) <= maxEnds || l.text == string(text))
}

// slot is a quick hash of a text.
func (e ends) slot() uint8 {
	const odd = 0x9E3779B97F4A7C15
	return uint8((e.first ^ e.last>>7) * odd >> 56)
}
