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

// The codes of mistakes in a callvet.Problem.
const (
	CodeSyntax  = "not-json"
	CodeType    = "wrong-type"
	CodeValue   = "bad-value"
	CodeUnknown = "unknown-key"
	CodeMissing = "missing-key"
)

// Wrong is the first value in a JSON text that does not have the required form.
type Wrong struct {
	Code string
	// Key is the path of the member, "judged[0].judge"; "" for the value itself.
	Key string
	// What describes the mistake, with the key.
	What string
	// Near is the known name that may have been meant; "" when none is near.
	Near string
	// Offset is its place, in bytes of the parsed text.
	Offset int
}

// Error returns the mistake, and the name that may have been meant.
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

// In is w with its line and column in the parsed text.
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

// WithArticle is a kind of JSON value with its article.
func WithArticle(k value.Kind) string {
	switch k {
	case value.Array, value.Object:
		return "an " + k.String()
	case value.Null, value.Invalid:
		return k.String()
	}
	return "a " + k.String()
}

// maxShown is how many bytes of a value a sentence quotes.
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

// subject is a key as the subject of a sentence.
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
