// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
)

// FormatVersion is the version of the JSON faces. It grows when a field is
// removed or changes its meaning; new fields do not change it.
const FormatVersion = 1

// Document is the head of the JSON face; "cells", the attempts that did not
// pass as Record, follows as its last field.
type Document struct {
	Format  string    `json:"format"` // "callvet.report"
	Version int       `json:"version"`
	Run     string    `json:"run"`
	Created time.Time `json:"created"`
	Status  string    `json:"status"`
	Summary string    `json:"summary"`
	// Population is the population of the numbers, and Estimates describes it in a sentence.
	Population panel.Population  `json:"population"`
	Estimates  string            `json:"estimates"`
	Cache      *Reused           `json:"cache,omitempty"`
	Suite      SuiteMeta         `json:"suite"`
	Targets    []callvet.Target  `json:"targets"`
	Manifest   []Field           `json:"manifest,omitempty"`
	Panels     *panel.Panels     `json:"panels"`
	Diff       *panel.Comparison `json:"diff,omitempty"`
	// Selection contains the decisions of routers and retrievers.
	Selection *panel.RoutingSection `json:"selection,omitempty"`
	// JudgeReports are the reports of judges on whole targets.
	JudgeReports []JudgeReport `json:"judge_reports,omitempty"`
	// LeftOut counts attempts that were not made on purpose; Gates ended a run when they were decided.
	LeftOut int           `json:"left_out,omitempty"`
	Gates   *gates.Report `json:"gates,omitempty"`
	// Models are the models that retrievers used for vectors and rankings.
	Models   []callvet.ModelUse `json:"models,omitempty"`
	Warnings []string           `json:"warnings,omitempty"`
	// Problem names the parts of the run that cannot be read; the other parts are shown.
	Problem string   `json:"problem,omitempty"`
	Next    []string `json:"next,omitempty"`
}

// Record is one attempt in the JSON faces.
type Record struct {
	Run     string            `json:"run"`
	Case    string            `json:"case"`
	Target  string            `json:"target"`
	Repeat  int               `json:"repeat"`
	Tier    callvet.Tier      `json:"tier,omitempty"`
	Tags    []string          `json:"tags,omitempty"`
	Fields  map[string]string `json:"fields,omitempty"`
	Verdict callvet.Verdict   `json:"verdict"`
	Outcome callvet.Outcome   `json:"outcome"`
	// Unread is the reason why the attempt is unparseable; Notes are remarks on how it ended.
	Unread       callvet.Reason      `json:"unread,omitempty"`
	FinishReason string              `json:"finish_reason,omitempty"`
	Notes        []string            `json:"notes,omitempty"`
	Class        callvet.Class       `json:"class,omitempty"`
	Reason       string              `json:"reason,omitempty"`
	Scores       []callvet.Score     `json:"scores,omitempty"`
	Plan         string              `json:"plan,omitempty"`
	Rules        int                 `json:"rules,omitempty"` // the version for the attempt
	Comparison   []callvet.CallMatch `json:"comparison,omitempty"`
	Assertions   []callvet.Assertion `json:"assertions,omitempty"`
	// NotEvaluated counts the assertions in that state.
	NotEvaluated int               `json:"not_evaluated,omitempty"`
	Calls        []callvet.Call    `json:"calls,omitempty"`    // what the target called
	Decision     *callvet.Decision `json:"decision,omitempty"` // of a target that selects
	Answer       string            `json:"answer,omitempty"`
	Format       callvet.Format    `json:"format,omitempty"`
	Repairs      []string          `json:"repairs,omitempty"`
	ToolChoice   string            `json:"tool_choice,omitempty"`
	Model        string            `json:"model,omitempty"`
	Fault        *callvet.Fault    `json:"fault,omitempty"`
	Usage        callvet.Usage     `json:"usage,omitzero"`
	WallMS       float64           `json:"wall_ms,omitempty"`
	Cached       bool              `json:"cached,omitempty"`
}

// Record returns an attempt in the form of the JSON faces.
func (v *View) Record(r Row) Record {
	t, res := &r.Cell.Trace, &r.Cell.Result
	return Record{
		Run: v.ID, Case: r.Case.ID, Target: v.targetName(r.Cell.Target), Repeat: r.Cell.Repeat,
		Tier: r.Case.Tier, Tags: r.Case.Tags, Fields: r.Case.Fields,
		Verdict: verdictOf(r), Outcome: t.Outcome, Unread: t.Reason, FinishReason: t.FinishReason, Notes: t.Notes,
		Class: res.Class, Reason: because(r), Scores: res.Scores, Plan: res.Plan, Rules: res.Rules,
		Comparison: res.Calls, Assertions: res.Assertions, NotEvaluated: res.NotEvaluated, Calls: t.Calls(),
		Decision: t.Decision, Answer: t.Answer, Format: t.Format,
		Repairs: t.Repairs, ToolChoice: t.ToolChoice, Model: t.Model, Fault: t.Fault, Usage: t.Usage, WallMS: t.WallMS,
		Cached: t.Cached,
	}
}

// Document is the head of the JSON face.
func (v *View) Document() Document {
	status := v.Status
	if status == "" {
		status = "done"
	}
	return Document{
		Format: "callvet.report", Version: FormatVersion, Run: v.ID, Created: v.Created.UTC(), Status: status,
		Summary: v.Sentence(), Population: panel.TasksLikeThese, Estimates: v.population(), Cache: v.reused(),
		Suite: v.Suite, Targets: v.Targets,
		Manifest: v.Manifest, Panels: v.Panels, Diff: v.Diff, Selection: v.Selection, JudgeReports: v.JudgeReports,
		LeftOut: v.LeftOut, Gates: v.Gates, Models: v.Models, Warnings: v.warnings(), Problem: v.Problem, Next: v.Next,
	}
}

// ComparisonJSON writes a comparison as one document, callvet.diff.
func ComparisonJSON(w io.Writer, c *panel.Comparison) error {
	return json.NewEncoder(w).Encode(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		*panel.Comparison
		Estimates string `json:"estimates"`
	}{"callvet.diff", 1, c, c.Population.Sentence()})
}

// JSON writes one Document with the attempts that did not pass.
func JSON(w io.Writer, v *View) error {
	head, err := json.Marshal(v.Document())
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	b := bufio.NewWriterSize(w, 64<<10)
	b.Write(head[:len(head)-1]) // without the closing brace; a bufio.Writer keeps its error for Flush
	b.WriteString(`,"cells":[`)
	sep := "\n"
	for r, err := range v.cells(callvet.VerdictFail, callvet.VerdictError, callvet.VerdictNotRun) {
		if err != nil {
			return fmt.Errorf("read attempts: %w", err)
		}
		line, err := v.Record(r).encode()
		if err != nil {
			return fmt.Errorf("encode attempt at %s: %w", r.Case.ID, err)
		}
		b.WriteString(sep)
		b.Write(line)
		sep = ",\n"
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}

// JSONL writes the run as trace lines: those of its calls, and a record of each attempt with the
// result of the scorer.
func JSONL(w io.Writer, v *View) error {
	to := trace.NewWriter(w)
	for r, err := range v.cells() {
		if err != nil {
			return fmt.Errorf("read attempts: %w", err)
		}
		target := callvet.Target{Name: v.targetName(r.Cell.Target)}
		if i := r.Cell.Target; i >= 0 && i < len(v.Targets) {
			target = v.Targets[i]
		}
		at := trace.OfCell(r.Case, &target, r.Cell, &v.Suite.Scoring)
		at.Asks = cmp.Or(r.Asks, r.Case.Identity())
		if err := to.Attempt(&at); err != nil {
			return fmt.Errorf("encode attempt at %s: %w", r.Case.ID, err)
		}
	}
	return to.Flush()
}

// MarshalJSON writes the record, for code that sends it in a response.
func (r Record) MarshalJSON() ([]byte, error) { return r.encode() }

// encode writes the record. A raw value that is not JSON, which a foreign recording may contain,
// becomes a string instead of an error, so that nothing is lost.
func (r Record) encode() ([]byte, error) {
	type fields Record // without MarshalJSON
	b, err := json.Marshal(fields(r))
	if err == nil {
		return b, nil
	}
	r.Calls = slices.Clone(r.Calls)
	for i := range r.Calls {
		c := &r.Calls[i]
		quoteInvalid(&c.Args, &c.Result)
	}
	r.Comparison = slices.Clone(r.Comparison)
	for i := range r.Comparison {
		m := &r.Comparison[i]
		quoteInvalid(&m.WantArgs, &m.GotArgs)
		m.Args = slices.Clone(m.Args)
		for j := range m.Args {
			quoteInvalid(&m.Args[j].Expected, &m.Args[j].Actual)
		}
	}
	return json.Marshal(fields(r))
}

func quoteInvalid(raws ...*json.RawMessage) {
	for _, p := range raws {
		if len(*p) > 0 && !json.Valid(*p) {
			*p, _ = json.Marshal(string(*p)) // a string always encodes
		}
	}
}
