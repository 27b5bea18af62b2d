// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Tool is a versioned contract: what a model may call and how.
type Tool struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments, byte for byte as the suite
	// has it (property order is part of the prompt). Nil means no schema.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Declared is the parameters object of the format the tool came from, where
	// Parameters had to be translated from it (BFCL's type names). It is never
	// sent to a model.
	Declared json.RawMessage `json:"declared,omitempty"`
	// ReadOnly and Idempotent are nil where the suite does not say.
	ReadOnly   *bool      `json:"read_only,omitempty"`
	Idempotent *bool      `json:"idempotent,omitempty"`
	RateLimit  *RateLimit `json:"rate_limit,omitempty"`
	// LatencyBudgetMS is what nine of ten executions should take at most,
	// LatencyP50MS what half of them should; nil: no budget.
	LatencyBudgetMS *float64    `json:"latency_budget_ms,omitempty"`
	LatencyP50MS    *float64    `json:"latency_p50_ms,omitempty"`
	Safety          *ToolSafety `json:"safety,omitempty"`
	Tags            []string    `json:"tags,omitempty"`
}

// SplitTool takes "name@vN" apart. Only a version after the last @ that starts
// with a digit, or with v and a digit, is one: "user@host" is a name.
func SplitTool(s string) (name, version string) {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 || i+1 == len(s) {
		return s, ""
	}
	v := s[i+1:]
	digits := strings.TrimPrefix(v, "v")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return s, ""
	}
	return s[:i], v
}

// RateLimit allows Calls calls in every Per seconds.
type RateLimit struct {
	Calls      int     `json:"calls"`
	PerSeconds float64 `json:"per_seconds"`
}

// ToolSafety says what a tool's arguments may carry and where it may reach.
type ToolSafety struct {
	PIIAllowed          bool     `json:"pii_allowed,omitempty"`
	Domains             []string `json:"domains,omitempty"`
	RequireConfirmation bool     `json:"require_confirmation,omitempty"`
}

// Toolset is an ordered list of tools with a stable identity, so that adapters
// can encode it once and reuse the bytes for every request.
type Toolset struct {
	Tools []Tool
	// Hash is the hex SHA-256 of the tools' JSON; equal hashes mean equal tools.
	Hash string
}

// NewToolset copies tools and computes the hash.
func NewToolset(tools []Tool) *Toolset {
	ts := append([]Tool(nil), tools...)
	b, err := json.Marshal(ts)
	if err != nil { // only an invalid RawMessage can do this; hash what there is
		b = []byte(err.Error())
	}
	sum := sha256.Sum256(b)
	return &Toolset{Tools: ts, Hash: hex.EncodeToString(sum[:])}
}

// Find returns the tool of that exact name, or nil.
func (s *Toolset) Find(name string) *Tool {
	if s == nil {
		return nil
	}
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return &s.Tools[i]
		}
	}
	return nil
}
