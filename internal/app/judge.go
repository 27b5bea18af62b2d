// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
)

// A judge is a target like others: its questions are the cases of a suite made from attempts. One
// judging is a run of that suite, with the same limits, retries, budget, cache, lease and
// resumption. Such a run is in no list of runs; it belongs to its subject.

// JudgeSpec says which judges, and what they are shown.
type JudgeSpec struct {
	// Judges are built-in judges, and at most one of the user, with its prompt and schema in the
	// files Prompt and Schema.
	Judges []string `json:"judge"`
	Prompt string   `json:"prompt,omitempty"`
	Schema string   `json:"schema,omitempty"`
	// Unit is the unit of the user's judge: task (the default), call or turn.
	Unit judge.Unit `json:"unit,omitempty"`
	// ShowGold shows what the case expects.
	ShowGold bool `json:"show_gold,omitempty"`
	// MaxEvidence bounds what is shown of one thing, in bytes; 0 means judge.DefaultEvidence.
	MaxEvidence int `json:"max_evidence,omitempty"`
	// Threshold is the least score in [0,1] that passes, where the score decides.
	Threshold *float64 `json:"threshold,omitempty"`
}

// JudgeRequest asks judges for their verdicts on a run or a trace file.
type JudgeRequest struct {
	Side
	JudgeSpec
	// Against is the baseline run or trace file for a comparing judge: it sees its attempts of the
	// same targets and tasks. None: it compares the targets of one run.
	Against Side `json:"against,omitzero"`
	// Models are asked, each as a judge of its own.
	Models []TargetSpec `json:"models"`
	// Samples is how often each is asked the same; 0 means once.
	Samples int `json:"samples,omitempty"`
	// Under limits the judging to attempts whose automatic score is less, or not known.
	Under *float64 `json:"under,omitempty"`
	// Tools are files with the catalogue, for trace files that have none.
	Tools []string `json:"tools,omitempty"`
	// Again makes a new version although the last one did not end.
	Again bool `json:"again,omitempty"`
	// Output is a labels file that the verdicts are added to; "": none.
	Output string `json:"output,omitempty"`
	// Prices is a file that goes before the shipped prices.
	Prices string `json:"prices,omitempty"`
	// NoCache asks again what any judging asked before. Keep are kinds of personal data that
	// the judge is shown.
	NoCache bool     `json:"no_cache,omitempty"`
	Keep    []string `json:"keep,omitempty"`
	Settings
}

func (q *JudgeRequest) Check() error {
	switch {
	case len(q.Judges) == 0:
		return Wrong("judge", "", "which judge?")
	case len(q.Models) == 0:
		return &callvet.FieldError{Field: "models", Text: "no model to ask", Fix: "{models} openai/gpt-5-mini"}
	case q.Samples < 0:
		return Wrong("samples", strconv.Itoa(q.Samples), "write 1 or more")
	case q.Under != nil && !(*q.Under > 0 && *q.Under <= 1):
		return Wrong("under", fmt.Sprint(*q.Under), "write a score above 0, up to 1")
	case (q.Prompt == "") != (q.Schema == ""):
		return Wrong("prompt", "", "a judge of your own has a prompt and a schema: give both")
	case q.Unit != "" && q.Prompt == "":
		return Wrong("unit", string(q.Unit), "it is for a judge of your own; one that is built in has its own")
	}
	_, err := Kinds(q.Keep)
	if q.Against != (Side{}) {
		err = errors.Join(err, q.Against.One("against"))
	}
	return errors.Join(err, q.Side.One("subject"), q.Settings.Check())
}
