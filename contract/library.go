// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schemaURL is the base of a schema without $id; it is stripped from errors.
const schemaURL = "callvet://schema/"

// noLoader refuses every document that is not part of the schema.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the schema, and nothing is fetched; put the definition under $defs", url)
}

func compileLibrary(schema value.Value, with setup) (*jsonschema.Schema, error) {
	doc, err := decode(schema)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(with.draft)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(compileECMA)
	for url, d := range with.remotes {
		if err := c.AddResource(url, d); err != nil {
			return nil, err
		}
	}
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, plainError(err)
	}
	s, err := c.Compile(schemaURL)
	if err != nil {
		return nil, plainError(err)
	}
	return s, nil
}

// plainError words a compile error with the place in the schema first.
func plainError(err error) error {
	var sve *jsonschema.SchemaValidationError
	var ve *jsonschema.ValidationError
	if errors.As(err, &sve) && errors.As(sve.Err, &ve) {
		var parts []string
		for _, v := range violations(ve) {
			at := v.Path
			if at == "" {
				at = "the root"
			}
			parts = append(parts, fmt.Sprintf("at %s: %s", at, v.Message))
		}
		return errors.New(strings.Join(parts, "; "))
	}
	return errors.New(strings.ReplaceAll(err.Error(), schemaURL, ""))
}

// decode turns a value into what the library takes. It fails on exponents that
// would take arbitrary memory.
func decode(v value.Value) (any, error) {
	switch v.Kind() {
	case value.Bool:
		return v.Bool(), nil
	case value.String:
		return v.Str(), nil
	case value.Number:
		if wildExponent(v.Raw()) {
			return nil, fmt.Errorf("number %.40s is out of range (exponents up to ±%d)", v.Raw(), MaxExponent)
		}
		return json.Number(v.Raw()), nil
	case value.Array:
		out := make([]any, 0, v.Len())
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			x, err := decode(e)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case value.Object:
		out := make(map[string]any, v.Len())
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			x, err := decode(e)
			if err != nil {
				return nil, err
			}
			out[e.Key()] = x
		}
		return out, nil
	}
	return nil, nil
}

// wildExponent reports an exponent beyond MaxExponent.
func wildExponent(lit []byte) bool {
	for i, c := range lit {
		if c|0x20 == 'e' {
			n, err := strconv.Atoi(string(lit[i+1:]))
			return err != nil || n > MaxExponent || n < -MaxExponent
		}
	}
	return false
}

// libraryValid is false where the budget does not cover the library's work.
func libraryValid(s *jsonschema.Schema, v value.Value, m *meter) bool {
	if !m.covers(s, v) {
		return false
	}
	doc, err := decode(v)
	return err == nil && s.Validate(doc) == nil
}

func printer() *message.Printer { return message.NewPrinter(language.English) }
