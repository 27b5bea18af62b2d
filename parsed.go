// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"bytes"

	"github.com/callvet/callvet/value"
)

// Parsed is the value of a JSON text, kept next to the text so that it is parsed once. No file has it.
// It is used only where its text equals the present one, so code that replaces the text need not clear it.
type Parsed struct{ v value.Value }

// maxParsed bounds the values that are kept: the tape of them takes 3 MB.
const maxParsed = 100_000

// ParsedOf keeps a value, unless it is very large. The bytes that it was parsed from must not change.
func ParsedOf(v value.Value) Parsed {
	if v.Values() > maxParsed {
		return Parsed{}
	}
	return Parsed{v}
}

// Of returns the value if it is that of text.
func (p Parsed) Of(text []byte) (v value.Value, ok bool) {
	return p.v, p.v.Kind() != value.Invalid && bytes.Equal(p.v.Raw(), text)
}

// IsOf reports whether the value is that of text. The text is JSON then.
func (p Parsed) IsOf(text []byte) bool {
	_, ok := p.Of(text)
	return ok
}

// OfText is Of for a string.
func (p Parsed) OfText(text string) (v value.Value, ok bool) {
	return p.v, p.v.Kind() != value.Invalid && string(p.v.Raw()) == text
}

// Equal is always true, so that comparisons in tests ignore a Parsed.
func (p Parsed) Equal(Parsed) bool { return true }

// ArgsValue returns the value of the arguments. It parses them unless the value is kept. The error is that of value.Parse.
func (c *Call) ArgsValue() (value.Value, error) {
	if v, ok := c.Parsed.Of(c.Args); ok {
		return v, nil
	}
	return value.Parse(c.Args)
}
