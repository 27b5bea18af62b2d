// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report"
)

// check returns an error for a contradicting request, before anything is read or written.
func (r *ScoreRequest) check(files app.Files) error {
	if (r.Run == "") == (len(r.Traces) == 0) {
		return app.Refused("traces", "name trace files or a run")
	}
	if r.Run != "" {
		strict := app.Setting{Name: "strict"}
		if r.Strict {
			strict.Values = []string{"true"}
		}
		if err := app.RefuseForRuns(r.Run, append(r.OfTraces(), strict, app.One("partial", r.Partial))...); err != nil {
			return err
		}
	}
	if c := r.Confidence; c != 0 && !(c > 0 && c < 1) {
		return app.Wrong("confidence", fmt.Sprint(c), "it is no share between 0 and 1, such as 0.95")
	}
	if slices.Contains(r.Slices, "") {
		return app.Wrong("slices", "",
			"it names no key: give language, tag or a field of the traces, * for all of them")
	}
	for i, p := range r.Traces {
		if slices.ContainsFunc(r.Traces[:i], func(q string) bool { return files.Same(p, q) }) {
			return app.Refused("traces", "%s is named twice: its calls would count twice", p)
		}
	}
	if r.Labels != "" && r.Partial == "" && len(r.Traces) > 1 {
		return app.Wrong("labels", "", "they belong to one trace file, and there are %d", len(r.Traces))
	}
	return r.checkOutputs(files)
}

// checkOutputs returns an error for an output that is an input, that is given twice, or with a name
// of no known form.
func (r *ScoreRequest) checkOutputs(files app.Files) error {
	reports, tables := r.outputs()
	if r.Partial != "" && len(reports) > 0 {
		return app.Refused("partial",
			"{partial} writes sums for later: give {outputs} %s when they are put together", reports[0])
	}
	all := slices.Clone(r.Outputs)
	if r.Partial != "" {
		all = append(all, r.Partial)
	}
	inputs := slices.Concat(r.Traces, r.Tools, r.Calibrations, []string{r.Safety, r.Suite, r.Scoring, r.Labels})
	for i, o := range all {
		if slices.ContainsFunc(inputs, func(in string) bool { return in != "-" && in != "" && files.Same(o, in) }) {
			return app.Refused("outputs", "%s is read: write to another file", o)
		}
		if slices.ContainsFunc(all[:i], func(q string) bool { return files.Same(o, q) }) {
			return app.Refused("outputs", "%s is written twice", o)
		}
	}
	for _, o := range reports {
		if _, err := report.ScoresByPath(o); err != nil {
			return err
		}
	}
	switch {
	case len(tables) > 1:
		return app.Wrong("outputs", "", "one .parquet file at a time, not %d", len(tables))
	case len(tables) > 0 && r.Run != "":
		return app.Wrong("outputs", tables[0], "rows of calls are made of trace files; export the run as one")
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

// reportMissingSlices warns of slice keys that no line has, with the nearest one
// that some line has.
func reportMissingSlices(a *app.App, s *results.Scored, asked []string) {
	have := app.TableKeys(s.Panels)
	var known []string
	for _, keys := range asked {
		if keys == "*" || slices.Contains(have, keys) {
			continue
		}
		if known == nil {
			known = app.TableKeys(s.Panels)
			if more, err := a.TraceKeys(s.Files[0], s.Panels, asked); err == nil {
				known = more
			}
		}
		for _, key := range strings.FieldsFunc(keys, func(c rune) bool { return c == '*' }) {
			tooMany := func(w string) bool { return strings.HasPrefix(w, fmt.Sprintf("%q has more", key)) }
			if slices.Contains(known, key) || slices.ContainsFunc(s.Panels.Warnings, tooMany) {
				continue
			}
			text := fmt.Sprintf("nothing here has %q to slice by", key)
			if near := callvet.Nearest(key, known); near != "" {
				text += fmt.Sprintf(" (did you mean %s?)", near)
			}
			s.Panels.Warnings = append(s.Panels.Warnings, text)
		}
	}
}
