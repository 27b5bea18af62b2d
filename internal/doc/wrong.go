// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// The codes of mistakes, as a callvet.Problem has them.
const (
	CodeSyntax  = "not-json"
	CodeType    = "wrong-type"
	CodeValue   = "bad-value"
	CodeUnknown = "unknown-key"
	CodeMissing = "missing-key"
)

// Wrong is the first thing in a JSON value that does not have the form it must have.
type Wrong struct {
	Code string
	// Key is the path of the member, "judged[0].judge"; "" for the value itself.
	Key string
	// What says in words what is wrong, with the key.
	What string
	// Near is the known name that may have been meant; "" when none is near.
	Near string
	// Offset is where it stands, in bytes of the text that was parsed.
	Offset int
}

// Error gives what is wrong, and the name that may have been meant.
func (w *Wrong) Error() string {
	if fix := w.fix(); fix != "" {
		return w.What + " (" + fix + ")"
	}
	return w.What
}

func (w *Wrong) fix() string {
	if w.Near == "" {
		return ""
	}
	return "did you mean " + strconv.Quote(w.Near) + "?"
}

// Problem is w at a line of a file; line and column 0 are not known.
func (w *Wrong) Problem(file string, line, column int) callvet.Problem {
	return callvet.Problem{
		Position: callvet.Position{File: file, Line: line, Column: column}, Code: w.Code, Key: w.Key, Message: w.What,
		Fix: w.fix(),
	}
}

// In is w with its line and column in the text that was parsed.
func (w *Wrong) In(file string, text []byte) callvet.Problem {
	line, column := Place(text, w.Offset)
	return w.Problem(file, line, column)
}

// Place is the line and the column, from 1 and in characters, of an offset in a text.
func Place(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

// WithArticle is a kind of JSON value as a sentence has it.
func WithArticle(k value.Kind) string {
	switch k {
	case value.Array, value.Object:
		return "an " + k.String()
	case value.Null, value.Invalid:
		return k.String()
	}
	return "a " + k.String()
}

// maxShown is how much of a value a sentence cites.
const maxShown = 40

func describe(v value.Value) string {
	raw := string(v.Raw())
	if len(raw) > maxShown {
		cut := maxShown
		for cut > 0 && !utf8.RuneStart(raw[cut]) {
			cut--
		}
		raw = raw[:cut] + "…"
	}
	return raw
}

// subject is a key as a sentence begins with it.
func subject(key string) string {
	if key == "" {
		return "the value"
	}
	return strconv.Quote(key)
}

func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func wrongKind(key string, v value.Value, want string) *Wrong {
	return &Wrong{
		Code: CodeType, Key: key, Offset: v.Offset(),
		What: fmt.Sprintf("%s is %s, not %s", subject(key), WithArticle(v.Kind()), want),
	}
}

func wrongValue(key string, v value.Value, want string) *Wrong {
	return &Wrong{
		Code: CodeValue, Key: key, Offset: v.Offset(),
		What: fmt.Sprintf("%s is %s; it must be %s", subject(key), describe(v), want),
	}
}
