// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
)

// TraceSettings are the settings for reading trace files. A run has them already, except Labels and
// Calibrations.
type TraceSettings struct {
	// Tools are files or folders with the tools' schemas; none: arguments are not checked against
	// schemas.
	Tools []string `json:"tools,omitempty"`
	// Safety is a JSON file with rules; "": the constraints of the tools.
	Safety string `json:"safety,omitempty"`
	// Suite has the tasks of the traces as its cases: its verdict sets their pass if they have
	// none, and its tools are the default of Tools.
	Suite string `json:"suite,omitempty"`
	// AllowExec lets scorers of Suite run programs. Otherwise they are not evaluated.
	AllowExec bool `json:"allow_exec,omitempty"`
	// Scoring is a file with settings for the comparison of arguments, or the settings
	// themselves in braces; "": mode exact.
	Scoring string `json:"scoring,omitempty"`
	// Labels is a file with people's labels. true_success is computed from labels on the same
	// tasks, or else from the judge's errors on other tasks.
	Labels string `json:"labels,omitempty"`
	// Calibrations are calibration files of judges, for true_success.
	Calibrations []string `json:"calibrations,omitempty"`
}

// Given returns the fields that are set.
func (s *TraceSettings) Given() []Setting {
	var out []Setting
	for _, g := range append(s.OfTraces(), One("labels", s.Labels),
		Setting{Name: "calibrations", Values: s.Calibrations}) {
		if len(g.Values) > 0 && g.Values[0] != "" {
			out = append(out, g)
		}
	}
	return out
}

// OfTraces returns the fields that are set and that a run does not need.
func (s *TraceSettings) OfTraces() []Setting {
	programs := Setting{Name: "allow_exec"}
	if s.AllowExec {
		programs.Values = []string{"true"}
	}
	return []Setting{
		{Name: "tools", Values: s.Tools},
		One("safety", s.Safety), One("suite", s.Suite), programs,
		One("scoring", s.Scoring),
	}
}

// RefuseForRuns returns an error for fields that apply only to trace files.
func RefuseForRuns(run string, fields ...Setting) error {
	for _, f := range fields {
		if len(f.Values) > 0 && f.Values[0] != "" {
			return Wrong(f.Name, "", "it is about trace files, and %s is none", run)
		}
	}
	return nil
}

// Side is a run or a trace file: one of its fields is set.
type Side struct {
	Run    string `json:"run,omitempty"`
	Traces string `json:"traces,omitempty"`
}

// Side resolves a name that may mean a run or a trace file: an existing file is a trace file.
func (a *App) Side(name string) Side {
	if k := a.Config.Files.Kind(name); k == KindFile || k == KindStream {
		return Side{Traces: name}
	}
	return Side{Run: name}
}

// Name returns the name of the run or the trace file.
func (s Side) Name() string { return s.Run + s.Traces }

// CheckOne returns an error for a side with no field or both fields set.
func (s Side) CheckOne(field string) error {
	if (s.Run == "") == (s.Traces == "") {
		return Refused(field, "{%s}: name a run or a trace file, one of both", field)
	}
	return nil
}

// NoTracesError is the error of files without readable traces. It wraps
// callvet.ErrInvalid.
type NoTracesError struct {
	Files []string
	Cause Cause
}

// Cause is the probable reason, by its beginning, why a file has no traces.
type Cause string

// The causes.
const (
	CauseUnknown Cause = ""
	CauseEmpty   Cause = "empty"
	CauseUTF16   Cause = "utf-16"
	CausePartial Cause = "partial result" // of another version
	CauseJSON    Cause = "document"       // of no form that is known
)

func (e *NoTracesError) Error() string {
	what := "nothing in it is a step or a task record"
	switch e.Cause {
	case CauseEmpty:
		what = "the file is empty"
	case CauseUTF16:
		what = "it looks like UTF-16, and traces are UTF-8"
	case CausePartial:
		what = "it is a partial result of another version, or damaged"
	case CauseJSON:
		what += ": it is one JSON document, of no form that is known"
	}
	return fmt.Sprintf("read %s: %s: %v", strings.Join(e.Files, ", "), what, callvet.ErrInvalid)
}

// Unwrap returns the kind of error.
func (e *NoTracesError) Unwrap() error { return callvet.ErrInvalid }

// NoTracesError is the error of files without records, with the probable reason by the beginning of
// the first file.
func (a *App) NoTracesError(files []string) error {
	out := &NoTracesError{Files: files}
	head := a.head(files[0])
	switch {
	case len(head) == 0 && a.IsFile(files[0]):
		out.Cause = CauseEmpty
	case bytes.HasPrefix(head, []byte(partialPrefix)):
		out.Cause = CausePartial
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")),
		bytes.Count(head, []byte{0}) > len(head)/4:
		out.Cause = CauseUTF16
	case wholeDocument(head):
		out.Cause = CauseJSON
	}
	return out
}

// partialPrefix begins partial results of every version.
const partialPrefix = "callvet partial result"

// wholeDocument recognizes JSON over several lines: its first line is not a whole value.
func wholeDocument(head []byte) bool {
	line, _, more := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	line = bytes.TrimSpace(line)
	return more && len(line) > 0 && (line[0] == '{' || line[0] == '[') && !json.Valid(line)
}

// head returns the beginning of a regular file; empty for other files.
func (a *App) head(name string) []byte {
	if !a.IsFile(name) {
		return nil
	}
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 512)
	n, _ := io.ReadFull(f, b)
	return b[:n]
}

// IsStream reports whether a name can be read only once.
func (a *App) IsStream(name string) bool { return a.Config.Files.Kind(name) == KindStream }

// IsFile reports whether a name can be read twice.
func (a *App) IsFile(name string) bool { return a.Config.Files.Kind(name) == KindFile }

// IsPartial recognizes a partial result by its first line. Streams that can be read only once
// contain lines.
func (a *App) IsPartial(name string) (bool, error) {
	if a.IsStream(name) {
		return false, nil
	}
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return false, fmt.Errorf("score: %w", err)
	}
	defer f.Close()
	head := make([]byte, len(steps.Magic))
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("score %s: %w", name, err)
	}
	return bytes.Equal(head, []byte(steps.Magic)), nil
}

// EachTask reads the task records of a trace file, of callvet's lines or of any
// other form that is imported.
func (a *App) EachTask(name string, do func(*trace.Task)) (*trace.Log, error) {
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, own, err := Importer(f)
	if err != nil {
		return nil, fmt.Errorf("read traces %s: %w", name, err)
	}
	if own {
		log, err := eachRecord(f, do)
		if err != nil {
			return nil, fmt.Errorf("read traces %s: %w", name, err)
		}
		return log, nil
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return nil, fmt.Errorf("read traces %s: %w", name, err)
		}
		t := at.Task()
		do(&t)
	}
	log := imp.Report().Log
	return &log, nil
}

// Importer reads a trace file of any form; own: it contains callvet's lines and is at its beginning
// again, so that its records can be read directly.
func Importer(f io.Reader) (imp *foreign.Importer, own bool, err error) {
	file, whole := f.(interface {
		io.ReaderAt
		io.Seeker
	})
	head := make([]byte, 4)
	n := 0
	if whole {
		n, err = file.ReadAt(head, 0)
		whole = err == nil || errors.Is(err, io.EOF) // not a pipe
	}
	if imp, err = foreign.Open(f, foreign.Options{}); err != nil {
		return nil, false, err
	}
	form := imp.Report().Format
	if !whole || form != foreign.Contract && (form != "" || string(head[:n]) == "PK\x03\x04") {
		return imp, false, nil
	}
	_, err = file.Seek(0, io.SeekStart)
	return imp, true, err
}

// eachRecord reads the task records of callvet's lines without their steps.
func eachRecord(in io.Reader, do func(*trace.Task)) (*trace.Log, error) {
	r, err := trace.Open(in, trace.Options{})
	if err != nil {
		return nil, err
	}
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Log(), nil
		}
		if err != nil {
			return nil, err
		}
		if !v.IsTask {
			continue
		}
		t := v.Task()
		do(&t)
	}
}

// keyAttempts is how many attempts are read for the names of slice keys.
const keyAttempts = 10_000

// TraceKeys returns the slice keys of a trace file. The panels have tables for every key of gates
// that any line has. Only if one is missing, the first attempts are read again, to list the
// available keys.
func (a *App) TraceKeys(name string, p *panel.Panels, keys []string) ([]string, error) {
	have := TableKeys(p)
	missing := func(k string) bool { return !slices.Contains(have, k) }
	if len(p.Targets) == 0 || a.IsStream(name) || !slices.ContainsFunc(keys, missing) {
		return have, nil
	}
	if partial, err := a.IsPartial(name); err != nil || partial {
		return have, err
	}
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, err := foreign.Open(f, foreign.Options{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	by, n := panel.DefaultSlices(), 0
	for at, err := range imp.Attempts() {
		if n++; err != nil || n > keyAttempts {
			break // the problem of the file was already reported
		}
		have = measure.SliceKeys(have, by, &at)
	}
	return have, nil
}

// TableKeys returns the keys of all slices of all targets, each once.
func TableKeys(p *panel.Panels) []string {
	var out []string
	for i := range p.Targets {
		for _, s := range p.Targets[i].Slices {
			if !slices.Contains(out, s.Key) {
				out = append(out, s.Key)
			}
		}
	}
	return out
}
