// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// Judge is the identity of a judge: any change makes a different judge, and calibrations of the
// old one do not apply to it.
type Judge struct {
	Name       string             `json:"judge" form:"required full"`
	Model      string             `json:"model,omitempty"`
	PromptHash string             `json:"prompt_hash,omitempty"`
	Params     map[string]float64 `json:"params,omitempty"`
	Threshold  *float64           `json:"threshold,omitempty"`
}

// ID is the name with eight hexadecimal digits of the whole identity, such as
// "task-judge@1f0c9a3e".
func (j Judge) ID() string {
	b, _ := json.Marshal(j) // strings and finite numbers only; maps come sorted
	sum := sha256.Sum256(b)
	return j.Name + "@" + hex.EncodeToString(sum[:4])
}

// Is reports whether s is the name or the ID of this judge.
func (j Judge) Is(s string) bool { return s == j.Name || s == j.ID() }

// Differs names the differing parts of two identities; nil for the same judge.
func (j Judge) Differs(o Judge) []string {
	var out []string
	for _, d := range []struct {
		what string
		same bool
	}{
		{"name", j.Name == o.Name},
		{"model", j.Model == o.Model},
		{"prompt hash", j.PromptHash == o.PromptHash},
		{"parameters", maps.Equal(j.Params, o.Params)},
		{"threshold", equal(j.Threshold, o.Threshold)},
	} {
		if !d.same {
			out = append(out, d.what)
		}
	}
	return out
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// String is the identity for a person, its ID first.
func (j Judge) String() string {
	var parts []string
	if j.Model != "" {
		parts = append(parts, "model "+j.Model)
	}
	if j.PromptHash != "" {
		parts = append(parts, "prompt "+j.PromptHash)
	}
	for _, k := range slices.Sorted(maps.Keys(j.Params)) {
		parts = append(parts, k+" "+number(j.Params[k]))
	}
	if j.Threshold != nil {
		parts = append(parts, "threshold "+number(*j.Threshold))
	}
	if len(parts) == 0 {
		return j.ID()
	}
	return fmt.Sprintf("%s (%s)", j.ID(), strings.Join(parts, ", "))
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Verdict is a judge's verdict on a task or a call.
type Verdict struct {
	Judge
	// Pass is nil where the judge gave only a score, or nothing that could be read.
	Pass *bool `json:"pass,omitempty"`
	// Score is in [0,1], or one of the categories of Rating in labels.
	Score *float64 `json:"score,omitempty"`
}

// Passed is the verdict, by the threshold if there is only a score; known is false if there is
// neither.
func (v Verdict) Passed() (pass, known bool) {
	return callvet.JudgePassed(v.Pass, v.Score, v.Threshold)
}
