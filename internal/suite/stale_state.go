// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
)

// StaleState are the tools, prompts and models around cases. Empty texts and nil lists mean
// unknown.
type StaleState struct {
	// At is the time of the state, in RFC 3339 or as a day.
	At string `json:"at,omitempty"`
	// System is the hash of the system prompt; without a prompt, the hash of the empty text.
	System string `json:"system_prompt_hash,omitempty"`
	// Models are the targets that were asked.
	Models []string `json:"models,omitempty"`
	// Registry is how many tools there were; 0: not known.
	Registry int `json:"registry_size,omitempty"`
	// Tools are the tools with a known state, by name. Whole: the list is complete.
	Tools map[string]StaleTool `json:"tools,omitempty"`
	Whole bool                 `json:"whole,omitempty"`
}

// StaleTool is the state of a tool.
type StaleTool struct {
	Version     string `json:"version,omitempty"`
	Description string `json:"description_hash,omitempty"`
	Schema      string `json:"schema_hash,omitempty"`
}

// StaleHash is the first 12 hexadecimal digits of the SHA-256 of a text.
func StaleHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:12]
}

// StaleStateOf is the state of a suite, asked of models, at a time in RFC 3339.
func StaleStateOf(s *callvet.Suite, models []string, at string) StaleState {
	out := StaleState{
		At: at, System: StaleHash([]byte(s.SystemPrompt)), Models: models, Registry: len(s.Tools),
		Tools: map[string]StaleTool{}, Whole: true,
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		out.Tools[t.Name] = StaleTool{
			Version: t.Version, Description: StaleHash([]byte(t.Description)),
			Schema: StaleHash(compact(t.Parameters)),
		}
	}
	return out
}

// compact removes the white space of a schema, which has no meaning.
func compact(schema []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return schema
	}
	return b.Bytes()
}

// Bytes is the state as JSON.
func (s *StaleState) Bytes() (json.RawMessage, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write state: %w", err)
	}
	return b, nil
}

// ReadStaleState reads what Bytes wrote. The error wraps callvet.ErrInvalid.
func ReadStaleState(raw []byte) (StaleState, error) {
	var s StaleState
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("read state: %w: not of its form", callvet.ErrInvalid)
	}
	return s, nil
}

// StaleEnvelope reads the metadata of an eval file that records one tool, and returns its
// name. A value of another kind is not known.
func StaleEnvelope(metadata []byte) (s StaleState, tool string) {
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
		s.Tools = map[string]StaleTool{tool: {
			Version: text("toolVersion"), Description: text("descriptionHash"),
			Schema: text("schemaHash"),
		}}
	}
	s.System = text("systemPromptHash")
	if model := text("model"); model != "" {
		s.Models = []string{model}
	}
	return s, tool
}

// Empty reports whether nothing is known.
func (s *StaleState) Empty() bool {
	return s.System == "" && s.Models == nil && s.Registry == 0 && len(s.Tools) == 0
}
