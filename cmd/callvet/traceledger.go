// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/redact"
	"github.com/callvet/callvet/panel"
)

// isTraceFile reports whether an argument names a file rather than a run.
func (a *app) isTraceFile(arg string) bool {
	info, err := os.Stat(a.path(arg))
	return err == nil && !info.IsDir()
}

// traceLedger reads the verdicts of a trace file, of callvet's lines or of any
// form that `trace import` reads, for a comparison by task. judge names the judge
// whose verdicts count; "" takes those of the source's own checks. by is as SliceBy
// in panel.Config. An attempt without a target is one of the file's own name. The
// error wraps callvet.ErrInvalid when no attempt of the file has that verdict.
func (a *app) traceLedger(path, judge string, by []string) (*panel.Ledger, error) {
	file, err := os.Open(a.path(path))
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer file.Close()
	red, err := redact.New(redact.Config{})
	if err != nil {
		return nil, err
	}
	b := ledgerBuilder{judge: judge, name: filepath.Base(path), red: red, seen: map[attemptID]int{}, known: map[string]int{}, judges: map[string]bool{}}
	log, err := b.read(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	a.tellBadLines(path, log)
	if b.twice > 0 {
		fmt.Fprintf(a.err, "%s: %s of attempts that have a later one; the last one counts\n", path, plain.Count(b.twice, "task record", "task records"))
	}
	if !slices.ContainsFunc(b.entries, ledgerEntry.judged) {
		return nil, b.nothing(path)
	}
	return b.ledger(path, by), nil
}

// ledgerBuilder collects attempts: a ledger has to know its targets first.
type ledgerBuilder struct {
	judge, name string
	// red makes gold of a file that was not redacted equal to that of one that was.
	red     *redact.Redactor
	targets []string
	entries []ledgerEntry
	seen    map[attemptID]int // the place of an attempt's entry
	known   map[string]int    // the entry that tells the gold of a task
	judges  map[string]bool
	twice   int
}

type attemptID struct {
	target, task string
	attempt      int
}

// ledgerEntry is what a ledger uses of a case and an attempt at it: the two
// themselves are some kilobytes.
type ledgerEntry struct {
	id, context    string
	tags           []string
	fields         map[string]string
	target, repeat int
	outcome        callvet.Outcome
	verdict        callvet.Verdict
}

func (e ledgerEntry) judged() bool {
	return e.verdict == callvet.VerdictPass || e.verdict == callvet.VerdictFail
}

// read takes the task records of callvet's own lines, without their steps, or
// imports another form.
func (b *ledgerBuilder) read(file *os.File) (*trace.Log, error) {
	imp, own, err := importer(file)
	if err != nil {
		return nil, err
	}
	if own {
		return b.records(file)
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return nil, err
		}
		b.noteJudges(at.Judged)
		b.add(at.Entry(b.judge))
	}
	log := imp.Report().Log
	return &log, nil
}

func (b *ledgerBuilder) records(r io.Reader) (*trace.Log, error) {
	return eachRecord(r, func(t *trace.Task) {
		b.noteJudges(t.Judged)
		b.add(t.Entry(b.judge))
	})
}

func (b *ledgerBuilder) noteJudges(list []trace.Judged) {
	for i := range list {
		b.judges[list[i].Judge] = true
	}
}

// add takes the record of an attempt, in place of one that was there before.
func (b *ledgerBuilder) add(c callvet.Case, cell callvet.Cell) {
	name := cell.Trace.Target
	if name == "" {
		name = b.name
	}
	if cell.Target = slices.Index(b.targets, name); cell.Target < 0 {
		cell.Target = len(b.targets)
		b.targets = append(b.targets, name)
	}
	e := ledgerEntry{
		id: c.ID, tags: c.Tags, fields: c.Fields, target: cell.Target, repeat: cell.Repeat, outcome: cell.Trace.Outcome, verdict: cell.Result.Verdict,
	}
	id := attemptID{name, c.ID, cell.Repeat}
	at, again := b.seen[id]
	if again {
		b.twice++
	} else {
		at = len(b.entries)
		b.seen[id], b.entries = at, append(b.entries, ledgerEntry{})
	}
	teller, told := b.known[c.ID]
	switch { // the first attempt that tells it says what the task asks
	case c.Context != "" && (!told || teller == at):
		b.known[c.ID] = at
		e.context = string(b.red.JSON(json.RawMessage(c.Context)))
	case teller == at:
		e.context = b.entries[at].context
	}
	b.entries[at] = e
}

func (b *ledgerBuilder) ledger(path string, by []string) *panel.Ledger {
	led := panel.NewLedger(path, b.targets, by)
	for i := range b.entries {
		e := &b.entries[i]
		led.Add(&callvet.Case{ID: e.id, Context: e.context, Tags: e.tags, Fields: e.fields},
			&callvet.Cell{Target: e.target, Repeat: e.repeat, Trace: callvet.Trace{Outcome: e.outcome}, Result: callvet.Result{Verdict: e.verdict}})
	}
	return led
}

// nothing says why a file cannot be compared.
func (b *ledgerBuilder) nothing(path string) error {
	what := "pass or failure"
	if b.judge != "" {
		what = fmt.Sprintf("verdict of the judge %q", b.judge)
	}
	err := fmt.Errorf("compare %s: none of its %d task records has a %s: %w", path, len(b.entries), what, callvet.ErrInvalid)
	names := make([]string, 0, len(b.judges))
	for n := range b.judges {
		names = append(names, n)
	}
	if len(names) == 0 {
		return err
	}
	slices.Sort(names)
	return &callvet.Hinted{Err: err, Hint: fmt.Sprintf("--judge NAME; the file has verdicts of %q", names)}
}

// tellBadLines lists the first lines that could not be read.
func (a *app) tellBadLines(path string, log *trace.Log) {
	const listed = 5
	for i, l := range log.List {
		if i == listed {
			break
		}
		fmt.Fprintf(a.err, "%s:%d: %s\n", path, l.Line, l.Reason)
	}
	if n := log.Bad - int64(min(listed, len(log.List))); n > 0 {
		fmt.Fprintf(a.err, "%s: … and %d more lines that could not be read\n", path, n)
	}
}
