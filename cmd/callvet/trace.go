// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/internal/trace/redact"
)

// traceFlags are the flags of `callvet trace import`.
type traceFlags struct {
	out, from, to string
	strict        bool
	keep          []string
}

func (a *app) traceCommand() *cobra.Command {
	var f traceFlags
	imp := &cobra.Command{
		Use: "import FILE", Short: "Read traces of other tools and write them as callvet's trace lines",
		Long: `Read the traces in a file (- is standard input) and write one JSON line per call and per task, redacted.
The format is told by content; what it has and the lines cannot carry is listed on standard error.
Forms that are read: ` + strings.Join(foreign.Names(), ", ") + `.`,
		Example: "  callvet trace import spans.otlp.json -o traces.jsonl\n  callvet trace import traces.jsonl --to otlp -o spans.json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.importTraces(args[0], f) },
	}
	fs := imp.Flags()
	fs.StringVarP(&f.out, "output", "o", "-", "file to write")
	fs.StringVar(&f.from, "from", "", "form of the input (default: detected by content)")
	fs.StringVar(&f.to, "to", foreign.Contract, "form to write: "+strings.Join(foreign.Exports(), ", "))
	fs.BoolVar(&f.strict, "strict", false, "end at the first line that cannot be read")
	fs.StringSliceVar(&f.keep, "keep", nil, "kinds that are not redacted: email, phone, …")
	cmd := &cobra.Command{Use: "trace", Short: "Read and write trace files"}
	cmd.AddCommand(imp)
	return cmd
}

func (a *app) importTraces(path string, f traceFlags) error {
	in := a.in
	if path != "-" {
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
	red, err := redact.New(redact.Config{Off: off})
	if err != nil {
		return err
	}
	imp, err := foreign.Open(in, foreign.Options{Format: f.from, Lines: trace.Options{Strict: f.strict}})
	if err != nil {
		return err
	}
	report := func(lost map[string]int64) { a.tellTraces(imp.Report(), lost, red) }
	if f.out == "-" {
		lost, err := copyTraces(imp, f.to, a.out, red)
		report(lost)
		return err
	}
	return writeFile(a.path(f.out), func(w *os.File) error {
		lost, err := copyTraces(imp, f.to, w, red)
		report(lost)
		return err
	})
}

// copyTraces writes what is read, and counts what the new form has no place for.
func copyTraces(imp *foreign.Importer, to string, w io.Writer, red *redact.Redactor) (map[string]int64, error) {
	exp, err := foreign.Export(to, w, red)
	if err != nil {
		return nil, err
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return exp.Lost, err
		}
		if err := exp.Attempt(&at); err != nil {
			return exp.Lost, err
		}
	}
	return exp.Lost, exp.Close()
}

// tellTraces says what was read, lost, refused and redacted.
func (a *app) tellTraces(r foreign.Report, lost map[string]int64, red *redact.Redactor) {
	fmt.Fprintf(a.err, "%s: %d attempts, %d calls\n", r.Format, r.Attempts, r.Calls)
	for _, what := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(a.err, "not carried: %s (%d)\n", what, r.Lost[what])
	}
	for _, what := range slices.Sorted(maps.Keys(lost)) {
		fmt.Fprintf(a.err, "not written: %s (%d)\n", what, lost[what])
	}
	for _, b := range r.Log.List {
		fmt.Fprintf(a.err, "line %d: %s\n", b.Line, b.Reason)
	}
	if n := r.Log.Bad - int64(len(r.Log.List)); n > 0 {
		fmt.Fprintf(a.err, "… and %d more lines that could not be read\n", n)
	}
	for _, u := range r.Log.Unknown {
		fmt.Fprintf(a.err, "unknown key %q, first in line %d (%d times)%s\n", u.Key, u.First, u.Count, near(u.Nearest))
	}
	if r.Split > 0 {
		fmt.Fprintf(a.err, "%d attempts lie too far apart in the file and came out in parts\n", r.Split)
	}
	for _, k := range slices.Sorted(maps.Keys(red.Counts)) {
		fmt.Fprintf(a.err, "redacted: %d × %s\n", red.Counts[k], k)
	}
}

func near(name string) string {
	if name == "" {
		return ""
	}
	return ": did you mean " + name + "?"
}
