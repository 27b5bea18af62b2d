// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"errors"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
)

// RunRequest asks for a run of a suite.
type RunRequest struct {
	SuiteRequest
	// Words are for people. The name finds a run of the command line later; "": only its id does.
	store.Words
	// Owned is a run of a user of a server, as store.NewRun has it.
	Owned bool `json:"-"`
	// Targets are asked. TargetFile is a file with more of them: what its entries do not
	// say is as in Shared, and commands in it run with AllowExec only.
	Targets    []TargetSpec `json:"targets,omitempty"`
	TargetFile string       `json:"target_file,omitempty"`
	Shared     TargetSpec   `json:"shared,omitzero"`
	AllowExec  bool         `json:"allow_exec,omitempty"`
	// SystemFor are system prompts of single targets, by target or name.
	SystemFor map[string]string `json:"system_for,omitempty"`
	// Repeats is how often each target is asked for each case without a number of its own; 0 means once.
	Repeats int `json:"repeats,omitempty"`
	// Filter, Sample and FailedFrom choose cases: see run.Selection. Seed is that of the
	// sample, and of models that take one.
	Filter     []string `json:"filter,omitempty"`
	Sample     int      `json:"sample,omitempty"`
	Seed       int64    `json:"seed,omitempty"`
	FailedFrom string   `json:"failed_from,omitempty"`
	// Slices are those of the report: tag, tier or names of fields, * for all fields.
	Slices []string `json:"slices,omitempty"`
	// Keep are kinds of personal data that are kept and shown as they are.
	Keep []string `json:"keep,omitempty"`
	// Prices is a file that goes before the shipped prices.
	Prices string `json:"prices,omitempty"`
	// Guard is a file with a policy: which calls are executed and which results shown. Runs
	// are held to its rules; "": every call is executed.
	Guard string `json:"guard,omitempty"`
	// NoLint runs a suite with errors, NoCache asks again what was answered before, and
	// RealLatency waits as long as mocks say.
	NoLint      bool `json:"no_lint,omitempty"`
	NoCache     bool `json:"no_cache,omitempty"`
	RealLatency bool `json:"real_latency,omitempty"`
	Settings
	Origin Origin `json:"origin,omitzero"`
	// Selection is laid over what the suite says of scoring decisions.
	Selection *SelectionRequest `json:"selection,omitempty"`
	// Judges are asked when the attempts are over; nil: none is.
	Judges *RunJudges `json:"judges,omitempty"`
	// Faults is a file with faults that calls of tools meet, in place of the suite's own.
	Faults string `json:"faults,omitempty"`
	WorldRequest
	// Made is a suite that another request made; it is read from no file then.
	Made *callvet.Suite `json:"-"`
	// Drill: Made are drills, a usual suite with twins.
	Drill bool `json:"-"`
}

// SelectionRequest says how decisions over a catalogue are scored.
type SelectionRequest struct {
	// Scoring stands in place of the suite's; nil: the suite's.
	Scoring *callvet.SelectionScoring `json:"scoring,omitempty"`
	// K are the depths where neither says any.
	K []int `json:"k,omitempty"`
}

// Check refuses what no suite and no target can make right.
func (q *RunRequest) Check() error {
	switch {
	case q.Suite == "" && q.Text == nil:
		return Wrong("suite", "", "which suite?")
	case q.Repeats < 0:
		return Wrong("repeats", strconv.Itoa(q.Repeats), "write 1 or more")
	case q.Sample < 0:
		return Wrong("sample", strconv.Itoa(q.Sample), "write 1 or more")
	}
	_, err := Kinds(q.Keep)
	return errors.Join(err, CheckWords(&q.Words), q.Settings.Check(), q.WorldRequest.Check())
}

// CodeNotEvaluated is that of lint's problems with assertions that nothing here evaluates.
const CodeNotEvaluated = "not-evaluated"
