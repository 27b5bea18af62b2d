// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Event is data that a client may show while a request continues. One field is set.
type Event struct {
	Note    *callvet.Notice `json:"note,omitempty"`
	Warning *callvet.Notice `json:"warning,omitempty"`
	// Problems are the problems of a suite or a file of tools, as soon as they are known.
	Problems []callvet.Problem `json:"problems,omitempty"`
	// Catalogue has the problems of a catalogue of tools.
	Catalogue []callvet.Problem `json:"catalogue,omitempty"`
	// Lines has the problems in the lines of a trace file.
	Lines *LinesEvent `json:"lines,omitempty"`
	// Lost counts data for which a form of traces has no place.
	Lost *LostEvent `json:"lost,omitempty"`
	// Session: a run is about to be carried out, or followed.
	Session  *SessionEvent  `json:"session,omitempty"`
	Progress *ProgressEvent `json:"progress,omitempty"`
	// Evidence is how close to a decision the gates are, of a run that ends when they are decided.
	Evidence *EvidenceEvent `json:"evidence,omitempty"`
	// Tune is a step of a search for parameters or a prompt.
	Tune *TuneEvent `json:"tune,omitempty"`
	// Ended is how a session ended, before its results.
	Ended *EndedEvent `json:"ended,omitempty"`
	// Used is the usage of embedders and rerankers, at the end of a request about catalogues.
	Used []callvet.ModelUse `json:"used,omitempty"`
}

// LinesEvent has the problems in the lines of a trace file.
type LinesEvent struct {
	Problems []callvet.Problem `json:"problems"`
	Log      trace.Log         `json:"log"`
}

// LeftOut is a sentence about how many lines are not records; "" if all are.
func (e *LinesEvent) LeftOut() string {
	if e.Log.Bad == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d lines are no records and were left out", e.Log.Bad, e.Log.Lines)
}

// LostEvent counts data that could not be converted, by kind: Read was in a file and has no place
// in traces, Written has no place in the written form.
type LostEvent struct {
	Read    map[string]int64 `json:"read,omitempty"`
	Written map[string]int64 `json:"written,omitempty"`
}

// SessionEvent names a run that starts, goes on or is followed.
type SessionEvent struct {
	Run    string `json:"run"`
	Resume Action `json:"resume"`
	// Follows is the other process that carries the run out, if any; Gone: it ended without ending
	// the run.
	Follows string `json:"follows,omitempty"`
	Gone    bool   `json:"gone,omitempty"`
}

// ProgressEvent is the progress of a run or a request.
type ProgressEvent = report.Tick

// EvidenceEvent is the evidence for the gates of a target, after a number of its cases.
type EvidenceEvent struct {
	Target string         `json:"target"`
	Cases  int            `json:"cases"`
	Of     int            `json:"of"`
	Gates  []GateEvidence `json:"gates"`
}

// GateEvidence is the evidence of a gate. Pass, Fail and Needed are natural logarithms: the gate is
// decided when Pass or Fail reaches Needed.
type GateEvidence struct {
	Gate    string       `json:"gate"`
	Slice   string       `json:"slice,omitempty"`
	Tasks   int          `json:"tasks"`
	Pass    float64      `json:"log_evidence_pass"`
	Fail    float64      `json:"log_evidence_fail"`
	Needed  float64      `json:"log_evidence_needed"`
	Verdict gate.Verdict `json:"verdict"`
}

// TuneEvent is a step of a search for parameters or a prompt.
type TuneEvent struct {
	Tune string `json:"tune_id"`
	What string `json:"what"`
	// Model is the searched model, Candidate the number of the candidate, and Name its name.
	Model      string `json:"model,omitempty"`
	Candidate  int    `json:"candidate"`
	Name       string `json:"name,omitempty"`
	Generation int    `json:"generation,omitempty"`
	// Score is the mean over the Tasks cases, out of Of, that it was asked. Dropped: it gets no
	// further cases.
	Tasks   int             `json:"tasks,omitempty"`
	Of      int             `json:"of,omitempty"`
	Score   *stats.Interval `json:"score,omitempty"`
	Dropped bool            `json:"dropped,omitempty"`
	// In counts the candidates that are still in the search, out of Asked.
	In    int `json:"in,omitempty"`
	Asked int `json:"asked,omitempty"`
	// Best is the number of the best candidate so far.
	Best int    `json:"best"`
	Text string `json:"text,omitempty"`
	// Requests and CostUSD were spent so far.
	Requests int     `json:"requests"`
	CostUSD  float64 `json:"cost_usd"`
}

// EndedEvent is how a session ended. Next resumes the run, or shows it when it is done.
type EndedEvent struct {
	Run     string      `json:"run"`
	Summary run.Summary `json:"summary"`
	Next    Action      `json:"next"`
}

// Events takes events, one at a time. Nil drops them.
type Events func(Event)

// Emit sends an event; nil Events drop it.
func (e Events) Emit(ev Event) {
	if e != nil {
		e(ev)
	}
}

// Note emits a notice.
func (e Events) Note(code, format string, args ...any) {
	e.Emit(Event{Note: &callvet.Notice{Code: code, Text: fmt.Sprintf(format, args...)}})
}

// Warn emits a warning about something that may make a result wrong.
func (e Events) Warn(code, text string) {
	e.Emit(Event{Warning: &callvet.Notice{Code: code, Text: text}})
}

// notify forwards notices of catalogues and models.
func (e Events) notify(n callvet.Notice) { e.Emit(Event{Warning: &n}) }

// Problems emits the problems of a file; none: no event.
func (e Events) Problems(list []callvet.Problem) {
	if len(list) > 0 {
		e.Emit(Event{Problems: list})
	}
}

// Lines reports bad lines of trace files.
func (e Events) Lines(list []callvet.Problem, log *trace.Log) {
	if len(list) > 0 || log.Bad > 0 {
		e.Emit(Event{Lines: &LinesEvent{Problems: list, Log: *log}})
	}
}

// Catalogue emits the problems of a catalogue, and its notes.
func (e Events) Catalogue(list []callvet.Problem) {
	if len(list) > 0 {
		e.Emit(Event{Catalogue: list})
	}
}

// Searches reports the number of finished searches.
func (e Events) Searches(done, total int) {
	e.Emit(Event{Progress: &ProgressEvent{Of: "searches", Done: done, Total: total}})
}

func (e Events) used(list []callvet.ModelUse) {
	if len(list) > 0 {
		e.Emit(Event{Used: list})
	}
}

// Lost emits how many parts of attempts the forms of files could not carry, by part.
func (e Events) Lost(read, written map[string]int64) {
	if len(read)+len(written) > 0 {
		e.Emit(Event{Lost: &LostEvent{Read: read, Written: written}})
	}
}
