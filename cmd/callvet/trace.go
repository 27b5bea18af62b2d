// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/sys"
)

func (a *cli) traceCommand() *cobra.Command {
	var req traces.ImportRequest
	var out string
	imp := &cobra.Command{
		Use: "import FILE", Short: "Read traces of other tools and write them as callvet's trace lines",
		Long: `Read the traces in a file (- is standard input) and write one JSON line per call and per task, redacted.
The format is detected by content; what it has and the lines cannot carry is listed on standard error.
callvet's own records may stand on one line each, on several lines, or in a JSON array, with comments.
With --follow the file may still grow, be rotated or cut: each attempt is written as soon as it is complete, until an
interrupt.
Forms that are read: ` + strings.Join(traces.TraceForms(), ", ") + `.

Where the file does not show what an attempt called, or not legibly, the attempt is written as an error,
or as unparseable where the model wrote no whole answer, never as one without calls.

Exit code 0: all was read; 1: lines were left out, or it is not known what was called, and what was read is written; 2: nothing could be
read, and nothing is written.`,
		Example: "  callvet trace import spans.otlp.json -o traces.jsonl\n  callvet trace import traces.jsonl --to otlp -o spans.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Traces = args[0]
			return a.importTraces(cmd.Context(), req, out)
		},
	}
	fs := imp.Flags()
	fs.StringVarP(&out, "output", "o", "-", "file to write")
	fs.StringVar(&req.Format, "from", "", "form of the input (default: detected by content)")
	fs.StringVar(&req.To, "to", traces.TraceLines, traceForms())
	fs.BoolVar(&req.Strict, "strict", false, "end at the first line that cannot be read")
	fs.BoolVar(&req.Follow, "follow", false, "go on reading as the file grows, until interrupted")
	fs.StringSliceVar(&req.Keep, "keep", nil, "kinds that are not redacted: email, phone, …")
	cmd := &cobra.Command{Use: "trace", Short: "Read and write trace files"}
	cmd.AddCommand(imp, a.traceExportCommand(), a.traceCheckCommand())
	return cmd
}

func (a *cli) importTraces(ctx context.Context, req traces.ImportRequest, out string) error {
	imp, err := traces.OpenImport(ctx, a.program(), req, a.events())
	if err != nil {
		return err
	}
	defer imp.Close()
	write := func(w io.Writer) error {
		res, err := imp.Do(w)
		a.tellTraces(req.Traces, &res)
		if err == nil && !res.Whole() {
			a.exitStatus = exitError
		}
		return err
	}
	switch {
	case out == "-":
		return write(a.out)
	case req.Follow:
		return growFile(a.path(out), write)
	}
	return a.write(ctx, out, write)
}

// growFile writes a file in place, so that other programs can read it meanwhile. An existing file
// is not overwritten.
func growFile(path string, write func(io.Writer) error) error {
	w, err := sys.CreateFile(path, false)
	if err != nil {
		return err
	}
	text := &plain.Writer{W: w}
	return errors.Join(write(text), text.Flush(), w.Close())
}

// tellTraces prints the numbers of read, lost, refused and redacted records.
func (a *cli) tellTraces(path string, res *traces.ImportResult) {
	r := &res.Read
	fmt.Fprintf(a.err, "%s: %s, %s\n", cmp.Or(r.Format, "no known form"),
		plain.Count(int(r.Attempts), "attempt", "attempts"), plain.Count(int(r.Calls), "call", "calls"))
	if r.Unknown > 0 {
		fmt.Fprintf(a.err, "%s with unknown calls: written as errors, or as unparseable with the reason\n",
			plain.Count(int(r.Unknown), "attempt", "attempts"))
	}
	for _, what := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(a.err, "not carried: %s (%d)\n", what, r.Lost[what])
	}
	for _, what := range slices.Sorted(maps.Keys(res.Unwritten)) {
		fmt.Fprintf(a.err, "not written: %s (%d)\n", what, res.Unwritten[what])
	}
	console.BadLines(a.err, res.Lines(path))
	if r.Split > 0 {
		fmt.Fprintf(a.err, "%d attempts lie too far apart in the file and came out in parts\n", r.Split)
	}
	for _, k := range slices.Sorted(maps.Keys(res.Redacted)) {
		fmt.Fprintf(a.err, "redacted: %d × %s\n", res.Redacted[k], k)
	}
}

func traceForms() string { return "form to write: " + strings.Join(traces.TraceExports(), ", ") }

func (a *cli) traceExportCommand() *cobra.Command {
	var req traces.ExportRequest
	var out string
	cmd := &cobra.Command{
		Use: "export RUN", Short: "Write a stored run as trace lines, with its scores",
		Long: `Write the attempts of a stored run as traces: one JSON line per call and per attempt, redacted as reports are. callvet score and
callvet diff read them as they read the run.`,
		Example: "  callvet trace export last -o traces.jsonl\n  callvet trace export last --to otlp -o spans.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Run = args[0]
			return a.exportRun(cmd.Context(), req, out)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&out, "output", "o", "-", "file to write")
	fs.StringVar(&req.To, "to", traces.TraceLines, traceForms())
	fs.StringSliceVar(&req.Keep, "keep", nil, "kinds of personal data that are not redacted: email, phone, …")
	return cmd
}

func (a *cli) exportRun(ctx context.Context, req traces.ExportRequest, out string) error {
	write := func(w io.Writer) error { return traces.Export(ctx, a.program(), req, w, a.events()) }
	if out == "-" {
		return write(a.out)
	}
	return a.write(ctx, out, write)
}
