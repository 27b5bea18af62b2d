// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

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
	fast  *node        // nil when only the library can decide
	plain *objectRules // what fast has to look at in objects, where that is plain members only
	order []string
	props map[string]*Property
	need  []string

	doc  value.Value // the schema
	once sync.Once   // guards lib of a schema that was compiled without it
	lib  *jsonschema.Schema
	err  error
}

// Compile reads a tool's parameters schema. A nil, null or empty schema accepts
// any object. Errors wrap callvet.ErrInvalid and name the place in the schema.
func Compile(schema json.RawMessage) (*Schema, error) {
	doc, err := readSchema(schema)
	if err != nil {
		return nil, err
	}
	if doc.Kind() == value.Null || doc.Kind() == value.Bool && doc.Bool() || doc.Kind() == value.Object &&
		doc.Len() == 0 {
		if doc, err = value.Parse([]byte(`{"type":"object"}`)); err != nil {
			return nil, err
		}
	}
	if s := plainRoot(doc); s != nil {
		s.doc = doc
		s.settle()
		return s, nil
	}
	return compile(doc, setup{draft: jsonschema.Draft2020})
}

// setup is the draft of a schema without $schema, and the further documents, by URL, that $ref may
// reach.
type setup struct {
	draft   *jsonschema.Draft
	remotes map[string]any
}

// compile builds a Schema through the library.
func compile(doc value.Value, with setup) (*Schema, error) {
	lib, err := compileLibrary(doc, with)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w: %w", callvet.ErrInvalid, err)
	}
	if err := endless(lib); err != nil {
		return nil, fmt.Errorf("compile schema: %w: %w", callvet.ErrInvalid, err)
	}
	s := &Schema{lib: lib, doc: doc, fast: fastChecker(lib), need: requiredOf(lib)}
	s.order, s.props = rootProperties(doc, lib)
	s.settle()
	return s, nil
}

// settle notes what is known of the whole schema once its parts are compiled.
func (s *Schema) settle() {
	if s.fast != nil && s.fast.left[value.Object] == leftMembers && s.fast.obj.plain {
		s.plain = s.fast.obj
	}
	for _, name := range s.need {
		if p := s.props[name]; p != nil {
			p.Required = true
		}
	}
}

// library is the schema as the library has it, compiled when first needed.
func (s *Schema) library() (*jsonschema.Schema, error) {
	s.once.Do(func() {
		if s.lib == nil {
			s.lib, s.err = compileLibrary(s.doc, setup{draft: jsonschema.Draft2020})
		}
	})
	return s.lib, s.err
}

// readSchema parses a schema document within the limits.
func readSchema(schema []byte) (value.Value, error) {
	if len(schema) > MaxSchemaBytes {
		return value.Value{}, fmt.Errorf("compile schema: %w: %d bytes, the limit is %d", callvet.ErrInvalid,
			len(schema), MaxSchemaBytes)
	}
	if len(schema) == 0 {
		schema = []byte("null")
	}
	v, err := value.Parse(bytes.Clone(schema))
	if err != nil {
		return v, fmt.Errorf("compile schema: %w: not JSON: %w", callvet.ErrInvalid, err)
	}
	if deeperThan(v, MaxSchemaDepth) {
		return v, fmt.Errorf("compile schema: %w: nested deeper than %d levels", callvet.ErrInvalid, MaxSchemaDepth)
	}
	return v, nil
}

func deeperThan(v value.Value, depth int) bool {
	if depth == 0 {
		return true
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if deeperThan(e, depth-1) {
			return true
		}
	}
	return false
}

// Valid reports whether v keeps the schema; false also where that is not known.
func (s *Schema) Valid(v value.Value) bool {
	valid, _ := s.Decide(v)
	return valid
}

// Decide reports whether v keeps the schema. Known is false where the work exceeds MaxSteps:
// then v is neither valid nor invalid.
func (s *Schema) Decide(v value.Value) (valid, known bool) {
	m := meter{left: MaxSteps}
	if s.fast != nil {
		valid = s.fast.valid(v, &m)
	} else {
		valid = libraryValid(s.lib, v, &m)
	}
	return valid && m.left >= 0, m.left >= 0
}

// DecideObject is Decide for a value that has to be an object.
func (s *Schema) DecideObject(v value.Value) (valid, known bool) {
	if v.Kind() != value.Object {
		return false, true
	}
	if s.plain != nil {
		m := meter{left: MaxSteps}
		valid = s.plain.validPlain(v, &m)
		return valid && m.left >= 0, m.left >= 0
	}
	return s.Decide(v)
}

// Broken are the names of the members of v that break the schema, sorted; missing ones included. It
// is much faster than Check, and ok is false where only Check can find them.
func (s *Schema) Broken(v value.Value) (names []string, ok bool) {
	if s.plain == nil || v.Kind() != value.Object || !tame(v) {
		return nil, false
	}
	m := meter{left: MaxSteps}
	names = s.plain.broken(v, &m)
	return names, m.left >= 0
}

// Check gives every violation of v, sorted by path; nil when v is valid. Of
// anyOf and oneOf it reports why each alternative refused v, in one violation.
// Where the work exceeds MaxSteps there is one violation, which is Unknown when
// it is not even known whether v is valid.
func (s *Schema) Check(v value.Value) []callvet.Violation {
	if s.fast != nil {
		switch valid, known := s.Decide(v); {
		case valid:
			return nil
		case !known:
			return []callvet.Violation{callvet.Unverified(tooMuch)}
		}
	}
	lib, err := s.library()
	if err != nil {
		return []callvet.Violation{{Message: err.Error()}}
	}
	switch m := (meter{left: MaxSteps}); {
	case m.covers(lib, v):
	case s.fast == nil:
		return []callvet.Violation{callvet.Unverified(tooMuch)}
	default:
		return []callvet.Violation{{Message: noReason}}
	}
	doc, err := decode(v)
	if err != nil {
		return []callvet.Violation{{Keyword: "number", Message: err.Error()}}
	}
	return violations(lib.Validate(doc))
}
