// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Explain rewrites an error of a JSON library like a Wrong: by key, without names of Go types. It
// is for texts that this package does not read, such as the answer of a server; other errors are
// returned unchanged.
func Explain(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var meaning *jsonx.SemanticError
	var grammar *jsontext.SyntacticError
	switch {
	case errors.As(err, &kind):
		what, _, _ := strings.Cut(kind.Value, " ") // "number 1.5"
		if what == "bool" {
			what = "boolean"
		}
		return fmt.Errorf("%s is %s, not %s", subject(kind.Field), article(what), goKind(kind.Type))
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: byte %d: %s", syntax.Offset, syntax.Error())
	case errors.As(err, &grammar):
		return fmt.Errorf("not JSON: byte %d: %w", grammar.ByteOffset, grammar.Err)
	case errors.As(err, &meaning):
		return explainMeaning(meaning)
	}
	return err
}

func explainMeaning(e *jsonx.SemanticError) error {
	key := pathOf(e.JSONPointer)
	if errors.Is(e.Err, jsonx.ErrUnknownName) {
		return fmt.Errorf("unknown key %s", strconv.Quote(key))
	}
	what := map[jsontext.Kind]string{
		'n': "null", 'f': "boolean", 't': "boolean", '"': "string", '0': "number",
		'{': "object", '[': "array",
	}[e.JSONKind]
	if e.Err != nil && len(e.JSONValue) > 0 { // a number out of range, a text of another form
		return fmt.Errorf("%s is %s; it must be %s", subject(key), e.JSONValue, goKind(e.GoType))
	}
	return fmt.Errorf("%s is %s, not %s", subject(key), article(what), goKind(e.GoType))
}

// pathOf writes a JSON Pointer in the usual form of keys: turns[0].calls.
func pathOf(p jsontext.Pointer) string {
	out := ""
	for token := range p.Tokens() {
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			out += "[" + token + "]"
		case out == "":
			out = token
		default:
			out += "." + token
		}
	}
	return out
}

func article(what string) string {
	switch what {
	case "":
		return "something else"
	case "null":
		return what
	case "array", "object":
		return "an " + what
	}
	return "a " + what
}

// goKind is the JSON kind of the values of a Go type.
func goKind(t reflect.Type) string {
	if t == nil {
		return "what belongs there"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return "a string"
	case k == reflect.Bool:
		return "a boolean"
	case k >= reflect.Int && k <= reflect.Uint64:
		return "a whole number"
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.Slice || k == reflect.Array:
		return "an array"
	case k == reflect.Map || k == reflect.Struct:
		return "an object"
	}
	return "what belongs there"
}
