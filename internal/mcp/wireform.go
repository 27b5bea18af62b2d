// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Definition is the definition of a tool for an agent. It has no hints that the tool does not have.
// Its schema is of type object, as the protocol requires.
func Definition(t *callvet.Tool) (json.RawMessage, error) {
	schema, err := objectSchema(t.Parameters)
	if err != nil {
		return nil, fmt.Errorf("list tool %s: %w", t.Name, err)
	}
	type hints struct {
		ReadOnly   *bool `json:"readOnlyHint,omitempty"`
		Idempotent *bool `json:"idempotentHint,omitempty"`
	}
	def := struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Input       json.RawMessage `json:"inputSchema"`
		Hints       *hints          `json:"annotations,omitempty"`
	}{Name: t.Name, Description: t.Description, Input: schema}
	if t.ReadOnly != nil || t.Idempotent != nil {
		def.Hints = &hints{t.ReadOnly, t.Idempotent}
	}
	return json.Marshal(def)
}

// objectSchema adds type object to a schema.
func objectSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || null(raw) {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	v, err := value.Parse(raw)
	if err != nil {
		return nil, err
	}
	if v.Kind() == value.Bool && v.Bool() {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	if v.Kind() != value.Object {
		return nil, fmt.Errorf("its parameters are no schema of an object: %w", callvet.ErrInvalid)
	}
	out, typed := []byte{'{'}, false
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		member := e.Raw()
		if e.Key() == "type" { // any other type breaks the protocol, and clients refuse the whole list
			member, typed = []byte(`"object"`), true
		}
		key, err := json.Marshal(e.Key())
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), member...)
	}
	out = append(out, '}')
	switch {
	case typed:
		return out, nil
	case len(out) == 2:
		return json.RawMessage(`{"type":"object"}`), nil
	}
	return append([]byte(`{"type":"object",`), out[1:]...), nil
}

// Result is the result for an agent: an object becomes a structured result and a text, a string
// becomes its text, and a failure becomes an error of the tool.
func Result(r *callvet.Reply) (json.RawMessage, error) {
	out := struct {
		Content    []block         `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}{Content: []block{}}
	if r.Status != callvet.StatusOK {
		out.IsError = true
		out.Content = append(out.Content, block{"text", r.Error})
		if r.Error == "" {
			out.Content[0].Text = "the tool failed"
		}
	}
	if v, err := value.Parse(r.Result); err == nil {
		switch v.Kind() {
		case value.Object:
			out.Structured = r.Result
		case value.String:
			if !out.IsError {
				out.Content = append(out.Content, block{"text", v.Str()})
			}
		}
		if v.Kind() != value.String && !out.IsError {
			out.Content = append(out.Content, block{"text", string(compact(r.Result))})
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
