// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
)

// check refuses a request that cannot be meant, before anything is read or written.
func (r *ScoreRequest) check(files Files) error {
	if (r.Run == "") == (len(r.Traces) == 0) {
		return refused("traces", "name trace files or a run")
	}
	if r.Run != "" {
		strict := Setting{Name: "strict"}
		if r.Strict {
			strict.Values = []string{"true"}
		}
		if err := notOfRuns(r.Run, append(r.ofTraces(), strict, One("partial", r.Partial))...); err != nil {
			return err
		}
	}
	if c := r.Confidence; c != 0 && !(c > 0 && c < 1) {
		return wrong("confidence", fmt.Sprint(c), "it is no share between 0 and 1, such as 0.95")
	}
	if slices.Contains(r.Slices, "") {
		return wrong("slices", "", "it names no key: give language, tag or a field of the traces, * for all of them")
	}
	for i, p := range r.Traces {
		if slices.ContainsFunc(r.Traces[:i], func(q string) bool { return files.Same(p, q) }) {
			return refused("traces", "%s is named twice: its calls would count twice", p)
		}
	}
	if r.Labels != "" && r.Partial == "" && len(r.Traces) > 1 {
		return wrong("labels", "", "they belong to one trace file, and there are %d", len(r.Traces))
	}
	return r.checkOutputs(files)
}

// checkOutputs refuses to write over what is read, or one file twice, or what has no form.
func (r *ScoreRequest) checkOutputs(files Files) error {
	reports, tables := r.outputs()
	if r.Partial != "" && len(reports) > 0 {
		return refused("partial",
			"{partial} writes sums for later: give {outputs} %s when they are put together", reports[0])
	}
	all := slices.Clone(r.Outputs)
	if r.Partial != "" {
		all = append(all, r.Partial)
	}
	inputs := slices.Concat(r.Traces, r.Tools, r.Calibrations, []string{r.Safety, r.Suite, r.Scoring, r.Labels})
	for i, o := range all {
		if slices.ContainsFunc(inputs, func(in string) bool { return in != "-" && in != "" && files.Same(o, in) }) {
			return refused("outputs", "%s is read: write to another file", o)
		}
		if slices.ContainsFunc(all[:i], func(q string) bool { return files.Same(o, q) }) {
			return refused("outputs", "%s is written twice", o)
		}
	}
	for _, o := range reports {
		if _, err := report.ScoresByPath(o); err != nil {
			return err
		}
	}
	switch {
	case len(tables) > 1:
		return wrong("outputs", "", "one .parquet file at a time, not %d", len(tables))
	case len(tables) > 0 && r.Run != "":
		return wrong("outputs", tables[0], "rows of calls are made of trace files; export the run as one")
	}
	return nil
}

// outputs separates reports from tables of scored calls.
func (r *ScoreRequest) outputs() (reports, tables []string) {
	for _, o := range r.Outputs {
		if strings.EqualFold(filepath.Ext(o), ".parquet") {
			tables = append(tables, o)
		} else {
			reports = append(reports, o)
		}
	}
	return reports, tables
}

// tellMissingSlices warns of slice keys that no line has, with the nearest one
// that some line has.
func (a *App) tellMissingSlices(s *scored, asked []string) {
	have := tableKeys(s.panels)
	var known []string
	for _, keys := range asked {
		if keys == "*" || slices.Contains(have, keys) {
			continue
		}
		if known == nil {
			known = tableKeys(s.panels)
			if more, err := a.traceKeys(s.files[0], s.panels, asked); err == nil {
				known = more
			}
		}
		for _, key := range strings.FieldsFunc(keys, func(c rune) bool { return c == '*' }) {
			tooMany := func(w string) bool { return strings.HasPrefix(w, fmt.Sprintf("%q has more", key)) }
			if slices.Contains(known, key) || slices.ContainsFunc(s.panels.Warnings, tooMany) {
				continue
			}
			text := fmt.Sprintf("nothing here has %q to slice by", key)
			if near := callvet.Nearest(key, known); near != "" {
				text += fmt.Sprintf(" (did you mean %s?)", near)
			}
			s.panels.Warnings = append(s.panels.Warnings, text)
		}
	}
}
