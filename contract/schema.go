// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of a schema document; a larger one does not compile.
const (
	MaxSchemaBytes = 1 << 20
	MaxSchemaDepth = 128
	// MaxExponent bounds |e| in numbers such as 1e400, in schemas and wherever
	// arguments need arbitrary precision.
	MaxExponent = 1000
)

// Schema is a compiled JSON Schema of a tool's arguments. It is immutable and
// safe for concurrent use.
type Schema struct {
	lib   *jsonschema.Schema
	fast  *node // nil when only the library can decide
	order []string
	props map[string]*Property
	need  []string
}

// Compile reads a tool's parameters schema. A nil, null or empty schema accepts
// any object. Errors wrap callvet.ErrInvalid and name the place in the schema.
func Compile(schema json.RawMessage) (*Schema, error) {
	if len(schema) == 0 {
		schema = json.RawMessage(`{}`)
	}
	doc, err := readSchema(schema)
	if err != nil {
		return nil, err
	}
	switch s := doc.(type) {
	case nil, bool:
		if s != false {
			doc = map[string]any{"type": "object"}
		}
	case map[string]any:
		if len(s) == 0 {
			s["type"] = "object"
		}
	}
	return compile(schema, doc, setup{draft: jsonschema.Draft2020})
}

// setup says which draft a schema without $schema has and which further
// documents, by URL, $ref may reach.
type setup struct {
	draft   *jsonschema.Draft
	remotes map[string]any
}

// compile builds a Schema from a decoded document.
func compile(raw []byte, doc any, with setup) (*Schema, error) {
	lib, err := compileLibrary(doc, with)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w: %w", callvet.ErrInvalid, err)
	}
	s := &Schema{lib: lib, fast: fastChecker(lib)}
	s.order, s.props = rootProperties(raw, lib)
	s.need = requiredOf(lib)
	for _, name := range s.need {
		if p := s.props[name]; p != nil {
			p.Required = true
		}
	}
	return s, nil
}

// readSchema decodes a schema document within the limits.
func readSchema(schema []byte) (any, error) {
	if len(schema) > MaxSchemaBytes {
		return nil, fmt.Errorf("compile schema: %w: %d bytes, the limit is %d", callvet.ErrInvalid, len(schema), MaxSchemaBytes)
	}
	v, err := value.Parse(schema)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w: not JSON: %w", callvet.ErrInvalid, err)
	}
	doc, err := decode(v, MaxSchemaDepth)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w: %w", callvet.ErrInvalid, err)
	}
	return doc, nil
}

// Valid reports whether v keeps the schema.
func (s *Schema) Valid(v value.Value) bool {
	if s.fast != nil {
		return s.fast.valid(v)
	}
	return libraryValid(s.lib, v)
}

// Check gives every violation of v, sorted by path; nil when v is valid. Of
// anyOf and oneOf it tells why each alternative was refused, in one violation.
func (s *Schema) Check(v value.Value) []callvet.Violation {
	if s.fast != nil && s.fast.valid(v) {
		return nil
	}
	doc, err := decode(v, value.MaxDepth+1)
	if err != nil {
		return []callvet.Violation{{Keyword: "number", Message: err.Error()}}
	}
	return violations(s.lib.Validate(doc))
}
