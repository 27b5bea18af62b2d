// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
)

// Of trace files, so many bad lines and unknown names are listed; of a file in which
// nothing is a record, fewer: more lines of it say no more.
const (
	maxListed      = 20
	maxListedOther = 5
)

// tellLines lists what was wrong with the lines of trace files, in the same words for
// every command that reads them: file, line, key, what is wrong, what may have been
// meant. It counts the lines that were left out.
func (a *app) tellLines(problems []callvet.Problem, log *trace.Log) {
	limit := maxListed
	if log.Steps+log.Tasks == 0 {
		limit = maxListedOther
	}
	for i, p := range problems {
		if i == limit {
			fmt.Fprintf(a.err, "… and %s\n", plain.Count(len(problems)-limit, "more", "more"))
			break
		}
		if p.File == "-" {
			p.File = "standard input"
		}
		fmt.Fprintln(a.err, plain.Line(p.Error()))
	}
	if log.Bad > 0 {
		fmt.Fprintln(a.err, leftOut(log))
	}
}

func leftOut(log *trace.Log) string {
	return fmt.Sprintf("%d of %d lines are no records and were left out", log.Bad, log.Lines)
}
