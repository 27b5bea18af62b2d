// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
)

// ImportRequest requests the conversion of traces of any form to a different form.
type ImportRequest struct {
	Traces string `json:"traces"`
	// Format is one of TraceForms; "": it is found by content.
	Format string `json:"format,omitempty"`
	// To is one of TraceExports; "": callvet's own lines.
	To string `json:"to,omitempty"`
	// Strict ends at the first line that cannot be read.
	Strict bool `json:"strict,omitempty"`
	// Follow continues as the file grows, until the request is canceled.
	Follow bool `json:"follow,omitempty"`
	// Keep are kinds of personal data that are not redacted.
	Keep []string `json:"keep,omitempty"`
}

// TraceLines is the form of callvet's own traces.
const TraceLines = foreign.Contract

// TraceForms are the forms of traces that are read.
func TraceForms() []string { return foreign.Names() }

// TraceExports are the forms of traces that are written.
func TraceExports() []string { return foreign.Exports() }

// ImportResult is the result of an import.
type ImportResult struct {
	Read foreign.Report
	// Unwritten counts data for which the new form has no place, Redacted the masked values.
	Unwritten map[string]int64
	Redacted  map[redact.Kind]int64
}

// Whole reports whether everything was read.
func (r *ImportResult) Whole() bool { return r.Read.Log.Bad == 0 && r.Read.Unknown == 0 }

// Lost is how many records do not count: unreadable ones, and attempts with contradicting records.
func (r *ImportResult) Lost() int64 { return r.Read.Log.Bad + r.Read.Conflicts }

// Lines returns the problems in the lines of the file with this name.
func (r *ImportResult) Lines(name string) *app.LinesEvent {
	return &app.LinesEvent{Problems: r.Read.Log.Problems(name), Log: r.Read.Log}
}

// FollowEvery is how often a followed file is read again.
const FollowEvery = 250 * time.Millisecond

// Import is an open trace file of any form.
type Import struct {
	req ImportRequest
	red *redact.Redactor
	in  io.Closer
	imp *foreign.Importer
}

// OpenImport opens the file of an import. The caller closes it.
func OpenImport(ctx context.Context, a *app.App, req ImportRequest, events app.Events) (*Import, error) {
	if req.To == "" {
		req.To = foreign.Contract
	}
	off, err := app.Kinds(req.Keep)
	if err != nil {
		return nil, err
	}
	red, err := a.Secrets().Redactor(off)
	if err != nil {
		return nil, err
	}
	in, err := openImport(ctx, a, &req, events)
	if err != nil {
		return nil, err
	}
	imp, err := foreign.Open(in,
		foreign.Options{Format: req.Format, Lines: trace.Options{Strict: req.Strict, Live: req.Follow}})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &Import{req: req, red: red, in: in, imp: imp}, nil
}

// Close closes the file.
func (i *Import) Close() error { return i.in.Close() }

// Do writes all records to w, redacted. With an error it also returns the result until then. The
// error is a callvet.FieldError if nothing could be read.
func (i *Import) Do(w io.Writer) (out ImportResult, err error) {
	exp, err := foreign.Export(i.req.To, w, i.red)
	if err == nil && i.req.Follow && !exp.Lines() {
		err = app.Refused("to", "{follow} writes line by line, and %s is one document: choose another {to}", i.req.To)
	}
	if err == nil {
		err = copyTraces(i.imp, exp, i.req.Follow)
		out.Unwritten = exp.Lost
	}
	out.Read, out.Redacted = i.imp.Report(), i.red.Counts
	if err != nil {
		return out, fmt.Errorf("import traces %s: %w", i.req.Traces, err)
	}
	if out.Read.Attempts > 0 || i.req.Follow {
		return out, nil
	}
	saw := ""
	if len(out.Read.Seen) > 0 {
		saw = "; it has " + strings.Join(out.Read.Seen, ", ")
	}
	return out, &callvet.FieldError{
		Field: "traces", Text: fmt.Sprintf("import traces %s: %v: nothing in it could be read as a trace%s",
			i.req.Traces, callvet.ErrInvalid, saw),
		Fix: "forms that are read: " + strings.Join(foreign.Names(), ", ") +
			"; {format} names one, and the schema named trace is that of callvet's own",
	}
}

// openImport opens the file, and follows it if requested.
func openImport(ctx context.Context, a *app.App, req *ImportRequest, events app.Events) (io.ReadCloser, error) {
	if !req.Follow {
		f, err := a.Config.Files.Open(req.Traces)
		if err != nil {
			return nil, fmt.Errorf("read traces: %w", err)
		}
		return f, nil
	}
	if req.Traces == "-" {
		return nil, app.Refused("follow", "{follow} needs a file that grows: standard input is always read to its end")
	}
	path, _, err := a.Config.Files.Path(req.Traces)
	if err != nil {
		return nil, err
	}
	tail, err := trace.FollowFile(path, func() error {
		next := time.NewTimer(FollowEvery)
		defer next.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-next.C:
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	tail.Warn = func(what string) { events.Warn("traces", what) }
	return tail, nil
}

// copyTraces converts the attempts; it writes each one immediately if the output is followed.
func copyTraces(imp *foreign.Importer, exp *foreign.Exporter, along bool) error {
	for at, err := range imp.Attempts() {
		if err != nil {
			return err
		}
		if err := exp.Attempt(&at); err != nil {
			return err
		}
		if along {
			if err := exp.Flush(); err != nil {
				return err
			}
		}
	}
	return exp.Close()
}

// ExportRequest requests the traces of a run.
type ExportRequest struct {
	Run string `json:"run"`
	// To is one of foreign.Exports; "": callvet's own lines.
	To string `json:"to,omitempty"`
	// Keep are kinds of personal data that are not redacted.
	Keep []string `json:"keep,omitempty"`
}

// Export writes the attempts of a stored run to w as traces, redacted. It reports data that the
// form cannot contain.
func Export(ctx context.Context, a *app.App, req ExportRequest, w io.Writer, events app.Events) error {
	if req.To == "" {
		req.To = foreign.Contract
	}
	r, err := results.Open(ctx, a, req.Run)
	if err != nil {
		return err
	}
	red, err := results.RedactorOf(a, r.Manifest, req.Keep)
	if err != nil {
		return err
	}
	exp, err := foreign.Export(req.To, w, red)
	if err != nil {
		return err
	}
	for at, err := range r.Identified(ctx) {
		if err != nil {
			return err
		}
		if err := exp.Attempt(&at); err != nil {
			return err
		}
	}
	events.Lost(nil, exp.Lost)
	return exp.Close()
}
