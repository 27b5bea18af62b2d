// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
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
	// ReadOnly and Idempotent are nil where the suite does not declare them.
	ReadOnly   *bool      `json:"read_only,omitempty"`
	Idempotent *bool      `json:"idempotent,omitempty"`
	RateLimit  *RateLimit `json:"rate_limit,omitempty"`
	// LatencyBudgetMS is what nine of ten executions should take at most,
	// LatencyP50MS what half of them should; nil: no budget.
	LatencyBudgetMS *float64    `json:"latency_budget_ms,omitempty"`
	LatencyP50MS    *float64    `json:"latency_p50_ms,omitempty"`
	Safety          *ToolSafety `json:"safety,omitempty"`
	// Family is the group of the tool ("payments"); reports are sliced by it.
	Family string   `json:"family,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// Families are the slices of a tool: its family, or its tags where it has no family.
func (t *Tool) Families() []string {
	if t.Family != "" {
		return []string{t.Family}
	}
	return t.Tags
}

// FamiliesOf maps names of tools to the families of all their versions.
func FamiliesOf(tools []Tool) map[string][]string {
	out := map[string][]string{}
	for i := range tools {
		for _, f := range tools[i].Families() {
			if !slices.Contains(out[tools[i].Name], f) {
				out[tools[i].Name] = append(out[tools[i].Name], f)
			}
		}
	}
	return out
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

// SplitToolFile takes the name of a tool's own file, NAME.vN.ext, apart; ok is false for
// other names. The version may have points: pay.v1.2.json.
func SplitToolFile(base string) (name, version string, ok bool) {
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 {
		return "", "", false
	}
	stem := base[:dot]
	i := strings.LastIndex(stem, ".v")
	if i < 1 || i+2 >= len(stem) || stem[i+2] < '0' || stem[i+2] > '9' {
		return "", "", false
	}
	return stem[:i], stem[i+1:], true
}

// CompareVersions orders versions as people count them: v9 is before v10, 1.2 before 1.10, and no
// version before all. The result is negative, 0 or positive.
func CompareVersions(a, b string) int {
	x, y := strings.FieldsFunc(strings.TrimPrefix(a, "v"), versionEnd),
		strings.FieldsFunc(strings.TrimPrefix(b, "v"), versionEnd)
	for i := range min(len(x), len(y)) {
		m, n := strings.TrimLeft(x[i], "0"), strings.TrimLeft(y[i], "0")
		if number(x[i]) && number(y[i]) && len(m) != len(n) {
			return len(m) - len(n)
		}
		if c := strings.Compare(m, n); c != 0 {
			return c
		}
	}
	return len(x) - len(y)
}

func versionEnd(c rune) bool { return c == '.' || c == '-' || c == '_' }

func number(s string) bool { return strings.Trim(s, "0123456789") == "" }

// RateLimit allows Calls calls in every Per seconds.
type RateLimit struct {
	Calls      int     `json:"calls"`
	PerSeconds float64 `json:"per_seconds"`
}

// ToolSafety is what a tool's arguments may contain and which hosts it may reach.
type ToolSafety struct {
	PIIAllowed          bool     `json:"pii_allowed,omitempty"`
	Domains             []string `json:"domains,omitempty"`
	RequireConfirmation bool     `json:"require_confirmation,omitempty"`
	// Code are arguments that the tool executes, in addition to those that their schema or name
	// shows. A Sandboxed tool may execute the result of another tool.
	Code      []string `json:"code,omitempty"`
	Sandboxed bool     `json:"sandboxed,omitempty"`
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

// SendableName reports whether providers of models and clients of MCP accept the name of a tool.
func SendableName(name string) bool {
	return len(name) >= 1 && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}) < 0
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
