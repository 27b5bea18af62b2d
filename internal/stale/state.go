// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stale

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
)

// State is what surrounds cases. Texts that are "" and lists that are nil are not known.
type State struct {
	// At is when it was so, in RFC 3339 or as a day.
	At string `json:"at,omitempty"`
	// System is the hash of the system prompt; that of no text where there is none.
	System string `json:"system_prompt_hash,omitempty"`
	// Models are the targets that were asked.
	Models []string `json:"models,omitempty"`
	// Registry is how many tools there were; 0: not known.
	Registry int `json:"registry_size,omitempty"`
	// Tools are those whose state is known, by name; Whole tells that these are all.
	Tools map[string]Tool `json:"tools,omitempty"`
	Whole bool            `json:"whole,omitempty"`
}

// Tool is the state of a tool.
type Tool struct {
	Version     string `json:"version,omitempty"`
	Description string `json:"description_hash,omitempty"`
	Schema      string `json:"schema_hash,omitempty"`
}

// Hash is the first 12 hexadecimal digits of the SHA-256 of a text.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:12]
}

// Of is the state of a suite, asked of models, at a time in RFC 3339.
func Of(s *callvet.Suite, models []string, at string) State {
	out := State{At: at, System: Hash([]byte(s.SystemPrompt)), Models: models, Registry: len(s.Tools), Tools: map[string]Tool{}, Whole: true}
	for i := range s.Tools {
		t := &s.Tools[i]
		out.Tools[t.Name] = Tool{Version: t.Version, Description: Hash([]byte(t.Description)), Schema: Hash(compact(t.Parameters))}
	}
	return out
}

// compact takes the white space out of a schema, which says nothing.
func compact(schema []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return schema
	}
	return b.Bytes()
}

// Bytes is the state as JSON.
func (s *State) Bytes() (json.RawMessage, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write state: %w", err)
	}
	return b, nil
}

// Read reads what Bytes wrote. The error wraps callvet.ErrInvalid.
func Read(raw []byte) (State, error) {
	var s State
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read state: %w: not of its form", callvet.ErrInvalid)
	}
	return s, nil
}

// Envelope reads the metadata of an eval file, in which one tool is recorded, and gives its
// name. A value of another kind is not known.
func Envelope(metadata []byte) (s State, tool string) {
	var m map[string]any
	if json.Unmarshal(metadata, &m) != nil {
		return s, ""
	}
	text := func(key string) string { v, _ := m[key].(string); return v }
	s.At, tool = text("generatedAt"), text("toolName")
	if n, ok := m["registrySize"].(float64); ok && n >= 1 && n == float64(int(n)) {
		s.Registry = int(n)
	}
	if tool != "" {
		s.Tools = map[string]Tool{tool: {Version: text("toolVersion"), Description: text("descriptionHash"), Schema: text("schemaHash")}}
	}
	s.System = text("systemPromptHash")
	if model := text("model"); model != "" {
		s.Models = []string{model}
	}
	return s, tool
}

// Empty reports whether nothing is known.
func (s *State) Empty() bool {
	return s.System == "" && s.Models == nil && s.Registry == 0 && len(s.Tools) == 0
}
