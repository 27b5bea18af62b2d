// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import "encoding/binary"

// label is a text of lines with its first eight bytes and its last eight, which tell
// most texts apart.
type label struct {
	first, last uint64
	text        string
}

func labelOf(text string) label {
	first, last := ends([]byte(text))
	return label{first, last, text}
}

// is reports whether l is a text with those ends. Up to sixteen bytes they are all of it.
func (l *label) is(text []byte, first, last uint64) bool {
	return l.first == first && l.last == last && len(l.text) == len(text) && (len(text) <= 16 || l.text == string(text))
}

// ends gives the first eight bytes of a text and the last eight, which of a shorter one
// are all of it and zero.
func ends(text []byte) (first, last uint64) {
	if n := len(text); n >= 8 {
		return binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[n-8:])
	}
	for i, c := range text {
		first |= uint64(c) << (8 * i)
	}
	return first, 0
}

// slot is a quick hash of a text.
func slot(first, last uint64) uint8 {
	const odd = 0x9E3779B97F4A7C15
	return uint8((first ^ last>>7) * odd >> 56)
}
