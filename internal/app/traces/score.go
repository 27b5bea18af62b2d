// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
)

// ScoreRequest requests the sums of trace files or a run, by call and by task.
type ScoreRequest struct {
	// Run is a stored run, Traces are trace files or partial results: one of both is set. A run
	// accepts labels and calibrations, like trace files, and has the other settings itself.
	Run    string   `json:"run,omitempty"`
	Traces []string `json:"traces,omitempty"`
	app.TraceSettings
	// Slices are keys, crosses as language*intent, * for all fields; nil: the defaults.
	Slices []string `json:"slices,omitempty"`
	// Confidence of the intervals, two-sided, in (0,1); 0 means 0.95.
	Confidence float64 `json:"confidence,omitempty"`
	// Jobs is how many blocks are processed at the same time; 0: the number of processors.
	Jobs int `json:"jobs,omitempty"`
	// Strict ends at the first line that is not a record.
	Strict bool `json:"strict,omitempty"`
	// Outputs are reports to write: .html .md .csv .json .txt, or one .parquet with the
	// scored calls. Partial is a file for sums that are merged later, instead of panels.
	Outputs []string `json:"outputs,omitempty"`
	Partial string   `json:"partial,omitempty"`
}

// Scored has the sums of trace files or a run.
type Scored struct {
	// View is its report view; nil if a partial result was requested.
	View *report.ScoresView
	// unread is why excerpts could not be read, after a face has requested them.
	unread error
}

// Write writes a view in one form. It also returns an error of reading excerpts.
func (s *Scored) Write(w io.Writer, face report.ScoresFace) error {
	err := face(w, s.View)
	return cmp.Or(s.unread, err)
}

// Score sums up trace files or a run, and writes the requested files. It reports bad lines. The
// error is a *NoTracesError if there is nothing to score.
func Score(ctx context.Context, a *app.App, req ScoreRequest, events app.Events) (*Scored, error) {
	if err := req.check(a.Config.Files); err != nil {
		return nil, err
	}
	reports, tables := req.outputs()
	var s *results.Scored
	var err error
	if req.Run != "" {
		s, err = scoreRun(ctx, a, &req, events)
	} else {
		s, err = scoreFiles(ctx, a, &req, tables, events)
	}
	if err != nil {
		return nil, err
	}
	if req.Partial != "" {
		return &Scored{}, writePartial(ctx, a, s, req.Partial)
	}
	out := shownSums(a, s)
	for _, name := range reports {
		face, err := report.ScoresByPath(name)
		if err != nil {
			return nil, err
		}
		if err := a.WriteText(ctx, name, func(w io.Writer) error { return out.Write(w, face) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// shownSums returns the sums, redacted.
func shownSums(a *app.App, s *results.Scored) *Scored {
	WithoutSecrets(s.Panels, s.Red)
	out := &Scored{View: &report.ScoresView{
		Files: s.Files, Panels: s.Panels, Lines: s.Log.Lines, Steps: s.Log.Steps, Tasks: s.Log.Tasks,
		Problems: s.Problems(), Version: a.Config.Version,
	}}
	texts := sync.OnceValue(func() (texts map[panel.Example]string) { // few faces show them
		if s.Again {
			texts, out.unread = NewExhibitor(s.Scorer, s.Red).Excerpts(a.Config.Files.Open,
				examplesOf(a, s), s.Marks)
		}
		return texts
	})
	out.View.Excerpt = func(e panel.Example) string { return texts()[s.Named(e)] }
	return out
}

// scoreRun sums up a run as traces.
func scoreRun(ctx context.Context, a *app.App, req *ScoreRequest, events app.Events) (*results.Scored, error) {
	r, err := results.Open(ctx, a, req.Run)
	if err != nil {
		return nil, err
	}
	if err := r.Sliceable(req.Slices); err != nil {
		return nil, err
	}
	red, err := results.RedactorOf(a, r.Manifest, nil)
	if err != nil {
		return nil, err
	}
	cal, err := results.Calibrated(a, req.Calibrations, []results.Tasks{r.Tasks(ctx)}, events)
	if err != nil {
		return nil, err
	}
	p, log, err := r.Measure(ctx, steps.Config{SliceBy: req.Slices, Confidence: req.Confidence, Calibrations: cal}, nil)
	if err != nil {
		return nil, err
	}
	if req.Labels != "" {
		if err := results.AddLabelled(a, p, r.Tasks(ctx), req.Labels, cal, events); err != nil {
			return nil, err
		}
	}
	s := &results.Scored{Panels: p, Files: []string{"run " + r.Stored.ID}, Red: red}
	s.Log.Steps, s.Log.Tasks, s.Log.Lines = log.Steps, log.Tasks, log.Steps+log.Tasks
	return s, nil
}

// scoreFiles sums up trace files, and writes a table of their calls.
func scoreFiles(ctx context.Context, a *app.App, req *ScoreRequest, tables []string,
	events app.Events,
) (*results.Scored, error) {
	if err := results.Unambiguous("slices", req.Slices); err != nil {
		return nil, err
	}
	cal, err := results.Calibrated(a, req.Calibrations, results.TaskSources(a, req.Traces), events)
	if err != nil {
		return nil, err
	}
	r := reading{ScoreRequest: req, calibrations: cal}
	var s *results.Scored
	if len(tables) > 0 {
		s, err = scoreInto(ctx, a, tables[0], r, events)
	} else {
		s, err = sumFiles(ctx, a, r, events)
	}
	if err != nil {
		return nil, err
	}
	events.Lines(s.Problems(), &s.Log)
	if s.Log.Steps+s.Log.Tasks == 0 {
		return nil, a.NoTracesError(req.Traces)
	}
	reportMissingSlices(a, s, req.Slices)
	if req.Partial == "" {
		results.MeasureResultUse(a, s, req.Traces)
	}
	if req.Labels != "" && req.Partial == "" {
		err = results.AddLabelled(a, s.Panels, results.TasksOfFile(a, req.Traces[0]), req.Labels, cal, events)
	}
	return s, err
}

func writePartial(ctx context.Context, a *app.App, s *results.Scored, name string) error {
	note, err := json.Marshal(s.Log)
	if err != nil {
		return fmt.Errorf("write partial result: %w", err)
	}
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error {
		if _, err := w.Write(seal(s.Sheet.AppendPartial(nil, note))); err != nil {
			return fmt.Errorf("write partial result: %w", err)
		}
		return nil
	})
}

// examplesOf returns the examples of the panels that can be read again: not those in standard input
// or pipes, nor those without a line.
func examplesOf(a *app.App, s *results.Scored) []panel.Example {
	var out []panel.Example
	all := slices.Clone(s.Panels.Examples)
	for i := range s.Panels.Findings {
		all = append(all, s.Panels.Findings[i].Examples...)
	}
	for _, e := range all {
		if e = s.Named(e); a.IsFile(e.File) && e.Line > 0 {
			out = append(out, e)
		}
	}
	return out
}

// reading has the settings for reading and summing up trace files.
type reading struct {
	*ScoreRequest
	calibrations []steps.Calibrated
	complete     bool                         // keep slices of every size: gates name them
	side         *measure.Side                // nil: nothing is compared
	without      map[string]bool              // tasks that are left out
	each         func([]measure.Scored) error // gets the scored steps in the order of the files
}

// sumFiles scores and sums up trace files, or merges partial results.
func sumFiles(ctx context.Context, a *app.App, r reading, events app.Events) (*results.Scored, error) {
	cfg := steps.Config{
		SliceBy: r.Slices, Partial: r.Partial != "", Files: len(r.Traces) > 1, Confidence: r.Confidence,
		Calibrations: r.calibrations,
	}
	if r.complete {
		cfg.MinTagTasks, cfg.MaxValues = 1, 1<<16
	}
	red, err := a.Secrets().Redactor(nil)
	if err != nil {
		return nil, err
	}
	partial, err := a.IsPartial(r.Traces[0])
	if err != nil {
		return nil, err
	}
	if partial {
		if r.Safety != "" || r.Suite != "" || r.Scoring != "" {
			return nil, app.Refused("traces", "%s holds sums: give {safety}, {suite} and {scoring} when it is made",
				r.Traces[0])
		}
		cfg.Files = false
		s, err := mergePartials(a, r.Traces, cfg)
		if err == nil {
			s.Red, s.Again = red, true
		}
		return s, err
	}
	w, tools, done, err := watchPrograms(ctx, a, &r.TraceSettings, events)
	if err != nil {
		return nil, err
	}
	defer done()
	rules, settings, err := a.StepScoring(r.Scoring, events)
	if err != nil {
		return nil, err
	}
	cfg.Scoring = settings
	rules.ToolNames = cmp.Or(rules.ToolNames, w.ToolNames())
	if err := app.NameClash(&rules, tools, events); err != nil {
		return nil, err
	}
	add := results.Summing{
		Watch: w, Tools: tools, Steps: cfg, Scoring: rules, Lines: trace.Options{Strict: r.Strict},
		Jobs: r.Jobs, Side: r.side, Without: r.without, Each: r.each,
	}
	if r.side != nil && !w.Whole() { // whole attempts cost memory, and nothing else needs them
		if _, err := a.EachTask(r.Traces[0], r.side.Record); err != nil {
			return nil, err
		}
	}
	var sources []measure.Source
	for _, name := range r.Traces {
		sources = append(sources,
			measure.Source{Name: name, Open: func() (io.ReadCloser, error) { return a.Config.Files.Open(name) }})
	}
	res, scorer, problems, err := add.Sum(ctx, sources)
	if err != nil {
		return nil, err
	}
	reportUnused(slices.Concat(problems, res.Problems), res, events)
	s := &results.Scored{
		Panels: res.Sheet.Panels(), Sheet: res.Sheet, Log: res.Log, Files: r.Traces, Marks: res.Marks,
		Scorer: scorer, Red: red, Again: true,
	}
	s.Contradict(cfg.Partial)
	s.Panels.Lost = s.Lost()
	steps.AddIncidents(s.Panels)
	for _, text := range w.Warnings() {
		if r.Partial != "" { // the panels are not shown
			events.Warn("safety", text)
		}
		s.Panels.Warnings = append(s.Panels.Warnings, text)
	}
	return s, nil
}

// reportUnused reports the parts of the files and the tools that could not be used.
func reportUnused(problems []callvet.Problem, res *measure.Result, events app.Events) {
	for _, p := range problems {
		events.Warn("unused", p.Message)
	}
	if res.UnknownVersions > 0 {
		events.Warn("unused",
			fmt.Sprintf("%d calls name a version that the tools do not have: they were validated against no schema",
				res.UnknownVersions))
	}
	if res.Endless > 0 {
		events.Warn(callvet.SchemaWithoutEnd,
			fmt.Sprintf("%d calls are not validated: the schemas of their tools take too much work", res.Endless))
	}
	events.Lost(res.Lost, nil)
}

// maxPartial bounds a partial result in bytes.
const maxPartial = 1 << 30

// mergePartials merges partial results in the order given.
func mergePartials(a *app.App, names []string, cfg steps.Config) (*results.Scored, error) {
	out := &results.Scored{Log: trace.Log{Max: 100}}
	for i, name := range names {
		b, err := a.Read(name, maxPartial)
		if err != nil {
			return nil, fmt.Errorf("read partial result: %w", err)
		}
		if b, err = unseal(b); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i == 0 {
			if cfg, err = steps.ReadConfig(b, cfg); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out.Sheet = steps.New(cfg)
		}
		before := out.Sheet.Lines()
		note, err := out.Sheet.Merge(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var log trace.Log
		if err := json.Unmarshal(note, &log); err != nil {
			return nil, fmt.Errorf("%s: read partial result: %w: %w", name, callvet.ErrInvalid, doc.Explain(err))
		}
		log.Shift(before)
		out.Log.Merge(&log)
	}
	for _, src := range out.Sheet.Sources() {
		out.Files = append(out.Files, src.Name)
	}
	out.Panels = out.Sheet.Panels()
	out.Contradict(cfg.Partial)
	out.Panels.Lost = out.Lost()
	steps.AddIncidents(out.Panels)
	return out, nil
}
