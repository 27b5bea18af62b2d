// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
)

// WriteAs writes a view in a form: html, md, csv, json or txt. The error wraps callvet.ErrInvalid
// for other forms.
func (s *Scored) WriteAs(w io.Writer, form string) error {
	face, err := report.ScoresByPath("scores." + form)
	if err != nil {
		return err
	}
	text := &plain.Writer{W: w}
	if err := s.Write(text, face); err != nil {
		return err
	}
	return text.Flush()
}

// Read reads a trace file to its end, and reports its content and its problems. The error is
// a callvet.FieldError if it has no traces.
func Read(ctx context.Context, a *app.App, name string) (*ImportResult, error) {
	imp, err := OpenImport(ctx, a, ImportRequest{Traces: name}, nil)
	if err != nil {
		return nil, err
	}
	defer imp.Close()
	out, err := imp.Do(io.Discard)
	return &out, err
}

// TracePageRequest requests some attempts of a trace file.
type TracePageRequest struct {
	Traces string `json:"traces"`
	// After is how many attempts at the beginning are skipped, Limit how many are returned at most.
	After int `json:"after,omitempty"`
	Limit int `json:"limit"`
}

// TracePage is a part of a trace file.
type TracePage struct {
	Items []TracedAttempt `json:"items"`
	// Next is After of the next page; 0: this is the last one.
	Next int `json:"next_cursor,omitempty"`
}

// TracedAttempt is an attempt in the form of callvet's own lines, redacted.
type TracedAttempt struct {
	// Records are its steps and its task record, each in the form of the schema named trace.
	Records []json.RawMessage `json:"records"`
}

// ReadPage reads some attempts of a trace file of any form.
func ReadPage(ctx context.Context, a *app.App, req TracePageRequest) (*TracePage, error) {
	red, err := a.Secrets().Redactor(nil)
	if err != nil {
		return nil, err
	}
	f, err := a.Config.Files.Open(req.Traces)
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, err := foreign.Open(f, foreign.Options{})
	if err != nil {
		return nil, fmt.Errorf("read traces %s: %w", req.Traces, err)
	}
	var b bytes.Buffer
	exp, err := foreign.Export(foreign.Contract, &b, red)
	if err != nil {
		return nil, err
	}
	out := &TracePage{Items: []TracedAttempt{}}
	n := 0
	for at, err := range withContext(ctx, imp.Attempts()) {
		if err != nil {
			return nil, fmt.Errorf("read traces %s: %w", req.Traces, err)
		}
		if n++; n <= req.After {
			continue
		}
		if len(out.Items) == req.Limit {
			out.Next = n - 1
			break
		}
		b.Reset()
		if err := exp.Attempt(&at); err != nil {
			return nil, err
		}
		if err := exp.Flush(); err != nil {
			return nil, err
		}
		one := TracedAttempt{Records: []json.RawMessage{}}
		for line := range bytes.Lines(b.Bytes()) {
			one.Records = append(one.Records, bytes.Clone(bytes.TrimSpace(line)))
		}
		out.Items = append(out.Items, one)
	}
	return out, nil
}

// withContext ends attempts with the context's error.
func withContext(ctx context.Context, of iter.Seq2[trace.Attempt, error]) iter.Seq2[trace.Attempt, error] {
	return func(yield func(trace.Attempt, error) bool) {
		for at, err := range of {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(at, err) {
				return
			}
		}
	}
}
