// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
)

// Configured is a target as a run asked it.
type Configured struct {
	// Name is that of the target in the run.
	Name string     `json:"name"`
	Spec TargetSpec `json:"spec"`
	// Hash is of all that the target is asked with, but for its name: two runs with the same one
	// asked the same way.
	Hash  string `json:"hash"`
	Floor bool   `json:"floor,omitempty"`
}

// Brief says in a few words what a target is asked with: its tool choice, its parameters, and the
// hash and the beginning of its system prompt. "" where it has nothing of its own.
func (s *TargetSpec) Brief() string {
	var parts []string
	set, err := settingsOf(&callvet.Target{ToolChoice: s.ToolChoice, Params: s.Params})
	if err != nil { // parameters that are not JSON
		parts = append(parts, err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, name+" "+set[name])
	}
	if s.SystemPrompt != "" {
		how := "system prompt "
		if s.replaces() {
			how = "system prompt in place of the suite's "
		}
		parts = append(parts, how+promptBrief(s.SystemPrompt))
	}
	return strings.Join(parts, ", ")
}

// promptExcerpt is how much of a system prompt a summary shows, in bytes.
const promptExcerpt = 80

// promptBrief is the hash of a system prompt with its beginning.
func promptBrief(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6]) + " “" +
		plain.Limited(strings.Join(strings.Fields(text), " "), promptExcerpt) + "”"
}

// RunConfiguration is the suite and the targets of a run.
type RunConfiguration struct {
	Run       string       `json:"run"`
	SuiteHash string       `json:"suite_hash"`
	Repeats   int          `json:"repeats"`
	Targets   []Configured `json:"targets"`
	// Fresh: no answer of an earlier run was reused.
	Fresh bool `json:"fresh"`
	// Whole: all cases of the suite were asked.
	Whole bool `json:"whole"`
}

// Configuration is the configuration of a stored run. It contains no secret: keys are in the
// environment. A run with a target that was opened as several has no targets here.
func (a *App) Configuration(ctx context.Context, ref string) (*RunConfiguration, error) {
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	r, err := stored(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(&r)
	if err != nil {
		return nil, err
	}
	out := &RunConfiguration{
		Run: r.ID, SuiteHash: r.SuiteHash, Repeats: m.Repeats, Fresh: m.NoCache,
		Whole: m.Cases == nil, Targets: []Configured{},
	}
	if len(m.Specs) != len(m.Targets) {
		return out, nil
	}
	for i := range m.Specs {
		c := Configured{Name: m.Targets[i].Name, Spec: m.Specs[i], Floor: m.Targets[i].Floor}
		if c.Hash, err = hashOf(&m.Specs[i], &m.Targets[i]); err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.ID, err)
		}
		out.Targets = append(out.Targets, c)
	}
	return out, nil
}

// asked are the configuration hashes of the targets of a run, by their position. If one target was
// opened as several, they are those of the opened ones.
func (m *Manifest) asked() ([]string, error) {
	out := make([]string, len(m.Targets))
	for i := range m.Targets {
		spec := &TargetSpec{}
		if len(m.Specs) == len(m.Targets) {
			spec = &m.Specs[i]
		}
		var err error
		if out[i], err = hashOf(spec, &m.Targets[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// hashOf names how a target is asked. What only says how fast, or under which name, is left out.
func hashOf(spec *TargetSpec, opened *callvet.Target) (string, error) {
	s, t := *spec, *opened
	s.Name, s.Concurrency, s.Rate = "", 0, 0
	t.Name = ""
	b, err := json.Marshal([]any{s, t})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12]), nil
}
