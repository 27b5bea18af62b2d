// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report/plain"
)

// Configured is a target with its settings in a run.
type Configured struct {
	// Name is the name of the target in the run.
	Name string         `json:"name"`
	Spec app.TargetSpec `json:"spec"`
	// Hash is the hash of all settings of the target except its name: two runs with the same hash
	// have the same settings.
	Hash  string `json:"hash"`
	Floor bool   `json:"floor,omitempty"`
}

// BriefOf summarizes the settings of a target: its profile, its tool choice, its parameters, and
// the hash and the beginning of its system prompt. "" if it has none of its own.
func BriefOf(s *app.TargetSpec) string {
	var parts []string
	if s.Profile != "" {
		parts = append(parts, "profile "+plain.Line(s.Profile))
	}
	set, err := results.ParametersOf(&callvet.Target{ToolChoice: s.ToolChoice, Params: s.Params})
	if err != nil { // parameters that are not JSON
		parts = append(parts, err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, name+" "+set[name])
	}
	if s.SystemPrompt != "" {
		how := "system prompt "
		if s.Replaces() {
			how = "system prompt in place of the suite's "
		}
		parts = append(parts, how+results.PromptBrief(s.SystemPrompt))
	}
	return strings.Join(parts, ", ")
}

// RunConfiguration is the suite and the targets of a run.
type RunConfiguration struct {
	Run       string       `json:"run"`
	SuiteHash string       `json:"suite_hash"`
	Repeats   int          `json:"repeats"`
	Targets   []Configured `json:"targets"`
	// Fresh: no answer of an earlier run was reused.
	Fresh bool `json:"fresh"`
	// Whole: all cases of the suite ran.
	Whole bool `json:"whole"`
}

// Configuration is the configuration of a stored run. It contains no secret: keys are in the
// environment. A run with a target that was opened as several has no targets here.
func Configuration(ctx context.Context, a *app.App, ref string) (*RunConfiguration, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	r, err := results.Stored(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	m, err := results.ReadManifest(&r)
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
		if c.Hash, err = results.HashOfTarget(&m.Specs[i], &m.Targets[i]); err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.ID, err)
		}
		out.Targets = append(out.Targets, c)
	}
	return out, nil
}
