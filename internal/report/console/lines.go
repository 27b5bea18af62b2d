// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

// The numbers of listed bad lines and unknown names of trace files; fewer for a file without any
// record, because further lines add no information.
const (
	maxListedLines = 20
	maxListedOther = 5
)

// BadLines lists the bad lines of trace files, in the same form for every command: file, line,
// key, problem, and the nearest valid name. It counts the omitted lines.
func BadLines(w io.Writer, of *app.LinesEvent) {
	limit := maxListedLines
	if of.Log.Steps+of.Log.Tasks == 0 {
		limit = maxListedOther
	}
	for i, p := range of.Problems {
		if i == limit {
			fmt.Fprintf(w, "… and %s\n", plain.Count(len(of.Problems)-limit, "more", "more"))
			break
		}
		if p.File == "-" {
			p.File = "standard input"
		}
		fmt.Fprintln(w, plain.Line(p.Error()))
	}
	if left := of.LeftOut(); left != "" {
		fmt.Fprintln(w, left)
	}
}
