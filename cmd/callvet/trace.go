// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/file"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/internal/trace/redact"
)

// traceFlags are the flags of `callvet trace import`.
type traceFlags struct {
	out, from, to string
	strict        bool
	follow        bool
	keep          []string
}

// followEvery is how often a file that is followed is looked at.
const followEvery = 250 * time.Millisecond

func (a *app) traceCommand() *cobra.Command {
	var f traceFlags
	imp := &cobra.Command{
		Use: "import FILE", Short: "Read traces of other tools and write them as callvet's trace lines",
		Long: `Read the traces in a file (- is standard input) and write one JSON line per call and per task, redacted.
The format is detected by content; what it has and the lines cannot carry is listed on standard error.
callvet's own records may stand on one line each, on several lines, or in a JSON array, with comments.
With --follow the file may still grow, be rotated or cut: each attempt is written as soon as it is complete, until an
interrupt.
Forms that are read: ` + strings.Join(foreign.Names(), ", ") + `.

An attempt of which the file does not tell what was called, or not legibly, is written as an error, never as one without calls.

Exit code 0: all was read; 1: lines were left out, or it is not known what was called, and what was read is written; 2: nothing could be
read, and nothing is written.`,
		Example: "  callvet trace import spans.otlp.json -o traces.jsonl\n  callvet trace import traces.jsonl --to otlp -o spans.json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.importTraces(cmd.Context(), args[0], f) },
	}
	fs := imp.Flags()
	fs.StringVarP(&f.out, "output", "o", "-", "file to write")
	fs.StringVar(&f.from, "from", "", "form of the input (default: detected by content)")
	fs.StringVar(&f.to, "to", foreign.Contract, "form to write: "+strings.Join(foreign.Exports(), ", "))
	fs.BoolVar(&f.strict, "strict", false, "end at the first line that cannot be read")
	fs.BoolVar(&f.follow, "follow", false, "go on reading as the file grows, until interrupted")
	fs.StringSliceVar(&f.keep, "keep", nil, "kinds that are not redacted: email, phone, …")
	cmd := &cobra.Command{Use: "trace", Short: "Read and write trace files"}
	cmd.AddCommand(imp, a.traceCheckCommand())
	return cmd
}

func (a *app) importTraces(ctx context.Context, path string, f traceFlags) error {
	in := a.in
	lines := trace.Options{Strict: f.strict, Live: f.follow}
	switch {
	case f.follow && path == "-":
		return usagef("--follow needs a file that grows: standard input is always read to its end")
	case f.follow:
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		tail, err := trace.FollowFile(a.path(path), func() error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
				return nil
			}
		})
		if err != nil {
			return err
		}
		defer tail.Close()
		tail.Warn = func(what string) { fmt.Fprintf(a.err, "warning: %s\n", what) }
		in = tail
	case path != "-":
		file, err := os.Open(a.path(path))
		if err != nil {
			return fmt.Errorf("read traces: %w", err)
		}
		defer file.Close()
		in = file
	}
	var off []redact.Kind
	for _, k := range f.keep {
		off = append(off, redact.Kind(k))
	}
	red, err := a.keeper().Redactor(off)
	if err != nil {
		return err
	}
	imp, err := foreign.Open(in, foreign.Options{Format: f.from, Lines: lines})
	if err != nil {
		return err
	}
	report := func(lost map[string]int64) { a.tellTraces(path, imp.Report(), lost, red) }
	write := func(w io.Writer) error {
		lost, err := copyTraces(imp, f, w, red)
		report(lost)
		if err != nil {
			return fmt.Errorf("import traces %s: %w", path, err)
		}
		return a.imported(path, imp.Report(), f.follow)
	}
	switch {
	case f.out == "-":
		return write(a.out)
	case f.follow:
		return growFile(a.path(f.out), write)
	}
	return a.write(ctx, f.out, write)
}

// imported says what an import that went through its file is worth. Nothing read is an
// error, so that no empty file is written; lines that were left out set the exit code, and
// what was read is written.
func (a *app) imported(path string, r foreign.Report, follow bool) error {
	switch {
	case r.Attempts == 0 && !follow:
		saw := ""
		if len(r.Seen) > 0 {
			saw = "; it has " + strings.Join(r.Seen, ", ")
		}
		return &callvet.Hinted{
			Err:  fmt.Errorf("import traces %s: %w: nothing in it could be read as a trace%s", path, callvet.ErrInvalid, saw),
			Hint: "forms that are read: " + strings.Join(foreign.Names(), ", ") + "; --from names one, callvet schema trace prints callvet's own",
		}
	case r.Log.Bad > 0, r.Unknown > 0:
		a.exitStatus = exitError
	}
	return nil
}

// growFile writes a file in place, so that others can read along. One that exists
// is not overwritten.
func growFile(path string, write func(io.Writer) error) error {
	w, err := file.Create(path, false)
	if err != nil {
		return err
	}
	text := &plain.Writer{W: w}
	return errors.Join(write(text), text.Flush(), w.Close())
}

// copyTraces writes what is read, and counts what the new form has no place for.
func copyTraces(imp *foreign.Importer, f traceFlags, w io.Writer, red *redact.Redactor) (map[string]int64, error) {
	exp, err := foreign.Export(f.to, w, red)
	if err != nil {
		return nil, err
	}
	if f.follow && !exp.Lines() {
		return nil, usagef("--follow writes line by line, and %s is one document: choose another --to", f.to)
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return exp.Lost, err
		}
		if err := exp.Attempt(&at); err != nil {
			return exp.Lost, err
		}
		if f.follow {
			if err := exp.Flush(); err != nil {
				return exp.Lost, err
			}
		}
	}
	return exp.Lost, exp.Close()
}

// tellTraces says what was read, lost, refused and redacted.
func (a *app) tellTraces(path string, r foreign.Report, lost map[string]int64, red *redact.Redactor) {
	fmt.Fprintf(a.err, "%s: %s, %s\n", cmp.Or(r.Format, "no known form"), plain.Count(int(r.Attempts), "attempt", "attempts"), plain.Count(int(r.Calls), "call", "calls"))
	if r.Unknown > 0 {
		fmt.Fprintf(a.err, "%s of which it is not known what was called: written as errors\n", plain.Count(int(r.Unknown), "attempt", "attempts"))
	}
	for _, what := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(a.err, "not carried: %s (%d)\n", what, r.Lost[what])
	}
	for _, what := range slices.Sorted(maps.Keys(lost)) {
		fmt.Fprintf(a.err, "not written: %s (%d)\n", what, lost[what])
	}
	a.tellLines(r.Log.Problems(path), &r.Log)
	if r.Split > 0 {
		fmt.Fprintf(a.err, "%d attempts lie too far apart in the file and came out in parts\n", r.Split)
	}
	for _, k := range slices.Sorted(maps.Keys(red.Counts)) {
		fmt.Fprintf(a.err, "redacted: %d × %s\n", red.Counts[k], k)
	}
}
