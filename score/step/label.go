// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import "github.com/callvet/callvet/value"

// label is a text of lines with its first eight bytes and its last eight, which tell
// most texts apart.
type label struct {
	first, last uint64
	text        string
}

func labelOf(text string) label {
	first, last := value.Ends([]byte(text))
	return label{first, last, text}
}

// is reports whether l is a text with those ends. Up to sixteen bytes they are all of it.
func (l *label) is(text []byte, first, last uint64) bool {
	return l.first == first && l.last == last && len(l.text) == len(text) && (len(text) <= 16 || l.text == string(text))
}

// slot is a quick hash of a text.
func slot(first, last uint64) uint8 {
	const odd = 0x9E3779B97F4A7C15
	return uint8((first ^ last>>7) * odd >> 56)
}
