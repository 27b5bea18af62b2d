// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/store"
)

// RunRequest requests a run of a suite.
type RunRequest struct {
	SuiteRequest
	// Words are for people. A run of the command line can be found by the name later; "": only by
	// its id.
	store.Words
	// Owned marks a run of a user of a server: see store.NewRun.
	Owned bool `json:"-"`
	// Targets are the targets. TargetFile is a file with more targets: missing fields of its
	// entries are taken from Shared, and its commands run only with AllowExec.
	Targets    []TargetSpec `json:"targets,omitempty"`
	TargetFile string       `json:"target_file,omitempty"`
	Shared     TargetSpec   `json:"shared,omitzero"`
	AllowExec  bool         `json:"allow_exec,omitempty"`
	// SystemFor are system prompts of single targets, by target or name.
	SystemFor map[string]string `json:"system_for,omitempty"`
	// Repeats is the number of attempts of each target at each case without its own number; 0 means
	// 1.
	Repeats int `json:"repeats,omitempty"`
	// Filter, Sample and FailedFrom choose cases: see run.Selection. Seed is the seed of the
	// sample, and of models that accept one.
	Filter     []string `json:"filter,omitempty"`
	Sample     int      `json:"sample,omitempty"`
	Seed       int64    `json:"seed,omitempty"`
	FailedFrom string   `json:"failed_from,omitempty"`
	// Slices are the slices of the report: tag, tier or names of fields, * for all fields.
	Slices []string `json:"slices,omitempty"`
	// Keep are kinds of personal data that are stored and shown unredacted.
	Keep []string `json:"keep,omitempty"`
	// Prices is a file that takes precedence over the shipped prices.
	Prices string `json:"prices,omitempty"`
	// Guard is a file with a policy: which calls are executed and which results are shown. Its
	// rules are also checked in scoring; "": every call is executed.
	Guard string `json:"guard,omitempty"`
	// NoLint runs a suite with errors, NoCache reuses no stored answers, and RealLatency waits for
	// the latencies of mocks.
	NoLint      bool `json:"no_lint,omitempty"`
	NoCache     bool `json:"no_cache,omitempty"`
	RealLatency bool `json:"real_latency,omitempty"`
	Settings
	// UntilDecided ends the run when the gates of Settings.Gates, or of the suite, are decided;
	// nil: all cells run.
	UntilDecided *UntilRequest `json:"until_decided,omitempty"`
	Origin       Origin        `json:"origin,omitzero"`
	// Selection overrides the suite's settings for scoring decisions.
	Selection *SelectionRequest `json:"selection,omitempty"`
	// Judges judge when the attempts are over; nil: none.
	Judges *RunJudges `json:"judges,omitempty"`
	// Faults is a file with faults for calls of tools, which replace the suite's own.
	Faults string `json:"faults,omitempty"`
	WorldRequest
	// Made is a suite in memory, from another request; no file is read then.
	Made *callvet.Suite `json:"-"`
	// Drill: Made are drills, a usual suite with twins.
	Drill bool `json:"-"`
}

// SelectionRequest has settings for scoring decisions over a catalogue.
type SelectionRequest struct {
	// Scoring replaces the suite's settings; nil: the suite's.
	Scoring *callvet.SelectionScoring `json:"scoring,omitempty"`
	// K are the depths if neither Scoring nor the suite has any.
	K []int `json:"k,omitempty"`
}

// Check returns an error for a request that is wrong with any suite and any target.
func (q *RunRequest) Check() error {
	switch {
	case q.Suite == "" && q.Text == nil:
		return Wrong("suite", "", "which suite?")
	case q.Repeats < 0:
		return Wrong("repeats", strconv.Itoa(q.Repeats), "write 1 or more")
	case q.Sample < 0:
		return Wrong("sample", strconv.Itoa(q.Sample), "write 1 or more")
	case q.UntilDecided != nil && q.FailedFrom != "":
		return Wrong("failed_from", q.FailedFrom,
			"it chooses cases by their outcome, and gates are about all: leave out {until_decided} or this")
	case q.UntilDecided != nil && (q.RequirePass || q.FailUnder > 0):
		return &callvet.FieldError{
			Field: "until_decided",
			Text:  "{until_decided} ends the run by its gates, {require_pass} and {fail_under} judge all of its attempts: give one of them",
			Fix:   "make a gate of it, such as pass_rate >= 0.9",
		}
	}
	set := q.Settings
	if q.UntilDecided != nil {
		set.Gates = ""
	}
	_, err := Kinds(q.Keep)
	return errors.Join(err, CheckWords(&q.Words), set.Check(), q.WorldRequest.Check())
}

// UntilRequest has the gates that end a run.
type UntilRequest struct {
	// Text is a gate file as a text, instead of a file or the gates of the suite; nil: there is no
	// text.
	Text []byte `json:"-"`
	// Baseline is the run for gates with a baseline.
	Baseline string `json:"baseline,omitempty"`
	// Ledger is a file that records the looks at the gates; "": the store records them.
	Ledger string `json:"ledger,omitempty"`
}

// CodeNotEvaluated is the code of lint's problems about assertions that callvet does not evaluate.
const CodeNotEvaluated = "not-evaluated"

// A judge is a target like others: its questions are the cases of a suite made from attempts. One
// judging is a run of that suite, with the same limits, retries, budget, cache, lease and
// resumption. Such a run is not listed among the runs; it belongs to the judged run.

// JudgeSpec selects judges, and the evidence that they get.
type JudgeSpec struct {
	// Judges are built-in judges, and at most one judge of the user, with its prompt and schema in
	// the files Prompt and Schema.
	Judges []string `json:"judge"`
	Prompt string   `json:"prompt,omitempty"`
	Schema string   `json:"schema,omitempty"`
	// Unit is the unit of the user's judge: task (the default), call or turn.
	Unit judge.Unit `json:"unit,omitempty"`
	// ShowGold shows the expectations of the case to the judge.
	ShowGold bool `json:"show_gold,omitempty"`
	// MaxEvidence bounds each piece of evidence, in bytes; 0 means judge.DefaultEvidence.
	MaxEvidence int `json:"max_evidence,omitempty"`
	// Threshold is the least score in [0,1] that passes, if the score decides.
	Threshold *float64 `json:"threshold,omitempty"`
}

// JudgeRequest requests judges' verdicts on a run or a trace file.
type JudgeRequest struct {
	Side
	JudgeSpec
	// Against is the baseline run or trace file for a comparing judge: it sees its attempts of the
	// same targets and tasks. None: it compares the targets of one run.
	Against Side `json:"against,omitzero"`
	// Models are the judging models, each as a separate judge.
	Models []TargetSpec `json:"models"`
	// Samples is how often each question is asked; 0 means once.
	Samples int `json:"samples,omitempty"`
	// Under limits the judging to attempts with a lower automatic score, or with none.
	Under *float64 `json:"under,omitempty"`
	// Tools are files with the catalogue, for trace files that have none.
	Tools []string `json:"tools,omitempty"`
	// Again makes a new version although the last one did not end.
	Again bool `json:"again,omitempty"`
	// Output is a labels file that the verdicts are added to; "": none.
	Output string `json:"output,omitempty"`
	// Prices is a file that takes precedence over the shipped prices.
	Prices string `json:"prices,omitempty"`
	// NoCache reuses no answers of earlier judgings. Keep are kinds of personal data that are shown
	// to the judge.
	NoCache bool     `json:"no_cache,omitempty"`
	Keep    []string `json:"keep,omitempty"`
	Settings
}

// Check returns an error, a callvet.FieldError, for a request that cannot be carried out.
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
		err = errors.Join(err, q.Against.CheckOne("against"))
	}
	return errors.Join(err, q.Side.CheckOne("subject"), q.Settings.Check())
}

// RunJudges are judges of a run before its results are shown.
type RunJudges struct {
	// Names are built-in judges, Models the judging models.
	Names  []string `json:"judge"`
	Models []string `json:"judge_model"`
	// BaseURL is the endpoint of the models, "" for their own.
	BaseURL string `json:"judge_base_url,omitempty"`
	// Under limits the judging to attempts with a lower automatic score, or with none.
	Under *float64 `json:"judge_under,omitempty"`
	// Live judges each attempt as soon as it is stored, while others run, not when all are over.
	Live bool `json:"judge_live,omitempty"`
}

// EvalSuiteRequest requests a run in the terms of Eval Case Interfaces.
type EvalSuiteRequest struct {
	Run string `json:"run"`
	// Baseline is an earlier run; "": none.
	Baseline string `json:"baseline,omitempty"`
	// Target and Tier choose among several; "": all.
	Target string       `json:"target,omitempty"`
	Tier   callvet.Tier `json:"tier,omitempty"`
	Keep   []string     `json:"keep,omitempty"`
	// Gates is a gate file, for its quarantine; "": none.
	Gates string `json:"gates,omitempty"`
}

// The worlds that answer the calls of a run.
const (
	WorldMock     = "mock"
	WorldLive     = "live"
	WorldRecorded = "recorded"
)

// What happens to a call without a recording.
const (
	OnMissFail  = "fail"
	OnMissError = "tell"
)

// WorldRequest selects the world that answers calls.
type WorldRequest struct {
	// World is mock (the mocks of the suite), live (only the tools that the file Live lists) or
	// recorded; "" is mock, or recorded if there are Recordings.
	World string `json:"world,omitempty"`
	Live  string `json:"live,omitempty"`
	// Recordings is a folder with earlier answers of tools. Nothing is executed.
	Recordings string `json:"recordings,omitempty"`
	// OnMiss is the handling of a call without a recording. fail, also "", ends the attempt with
	// an error, because it cannot be judged; tell returns an error to the target, and the attempt
	// continues.
	OnMiss string `json:"on_miss,omitempty"`
	// Record is a folder for the answers of tools. No answer of earlier runs is reused then.
	Record string `json:"record,omitempty"`
}

// Check returns an error for contradicting fields, and fills in defaults.
func (q *WorldRequest) Check() error {
	worlds := []string{"", WorldMock, WorldLive, WorldRecorded}
	switch {
	case !slices.Contains(worlds, q.World):
		return Wrong("world", q.World, "it is %s, %s or %s", WorldMock, WorldLive, WorldRecorded)
	case (q.World == WorldMock || q.World == WorldLive) && q.Recordings != "":
		return Wrong("recordings", q.Recordings, "{world} %s reads none", q.World)
	case q.World == WorldRecorded && q.Recordings == "":
		return Wrong("world", q.World, "which {recordings}? {record} DIR makes some")
	case !slices.Contains([]string{"", OnMissFail, OnMissError}, q.OnMiss):
		return Wrong("on_miss", q.OnMiss, "it is %s or %s", OnMissFail, OnMissError)
	case q.OnMiss != "" && q.Recordings == "":
		return Wrong("on_miss", q.OnMiss, "it is about {recordings}, and there are none")
	}
	if q.Recordings != "" {
		q.World = WorldRecorded
	}
	return nil
}

// Kinds returns the kinds of personal data that a request keeps.
func Kinds(keep []string) ([]redact.Kind, error) {
	var out []redact.Kind
	for _, k := range keep {
		kind := redact.Kind(k)
		if !slices.Contains(redact.Kinds(), kind) {
			return nil, Wrong("keep", k, "it is no kind; there are %v", redact.Kinds())
		}
		if kind.Secret() {
			return nil, Wrong("keep", k, "secrets are never kept; %v are personal data", redact.PersonalKinds())
		}
		out = append(out, kind)
	}
	return out, nil
}

// Limits of the texts about a run, in characters, and of the number of its tags.
const (
	MostRunName  = 256
	MostRunNotes = 10_000
	MostRunTag   = 100
	MostRunTags  = 50
)

// CheckWords returns an error for texts that are too long or cannot be shown in a list. It sorts
// the tags and removes duplicates.
func CheckWords(w *store.Words) error {
	control := func(text, except string) bool {
		return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsControl(r) && !strings.ContainsRune(except, r)
		})
	}
	long := func(field, text string, most int) error {
		if n := utf8.RuneCountInString(text); n > most {
			return &callvet.FieldError{
				Field: field,
				Text:  fmt.Sprintf("{%s}: it has %d characters, at most %d are kept", field, n, most),
			}
		}
		return nil
	}
	if err := long("name", w.Name, MostRunName); err != nil {
		return err
	}
	if control(w.Name, "") {
		return Wrong("name", strconv.Quote(w.Name), "write one line of text")
	}
	if err := long("notes", w.Notes, MostRunNotes); err != nil {
		return err
	}
	if control(w.Notes, "\n\r\t") {
		return &callvet.FieldError{Field: "notes", Text: "{notes}: it contains control characters"}
	}
	tags := make([]string, len(w.Tags))
	for i, t := range w.Tags {
		tags[i] = strings.TrimSpace(t)
		if err := long("run_tags", tags[i], MostRunTag); err != nil {
			return err
		}
		if tags[i] == "" || control(tags[i], "") || strings.Contains(tags[i], ",") {
			return Wrong("run_tags", strconv.Quote(t), "a tag is one line of text without a comma, and not empty")
		}
	}
	slices.Sort(tags)
	if w.Tags = slices.Compact(tags); len(w.Tags) > MostRunTags {
		return &callvet.FieldError{
			Field: "run_tags",
			Text:  fmt.Sprintf("{run_tags}: there are %d, at most %d are kept", len(w.Tags), MostRunTags),
		}
	}
	return nil
}

// WordSettings returns the words of a run as settings, which contain no secret.
func WordSettings(w *store.Words) []redact.Setting {
	const hint = "leave it out"
	out := []redact.Setting{
		{Name: "the name of the run", Prose: w.Name, Hint: hint},
		{Name: "the notes of the run", Prose: w.Notes, Hint: hint},
	}
	for _, t := range w.Tags {
		out = append(out, redact.Setting{Name: "a tag of the run", Prose: t, Hint: hint})
	}
	return out
}
