// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/findings"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// ScoreRequest asks what trace files or a run add up to, by call and by task.
type ScoreRequest struct {
	// Run is a stored run, Traces are trace files or partial results: one of both is given. A run
	// takes labels and calibrations, as trace files do, and has the other settings itself.
	Run    string   `json:"run,omitempty"`
	Traces []string `json:"traces,omitempty"`
	TraceSettings
	// Slices are keys, crosses as language*intent, * for all fields; nil: the usual ones.
	Slices []string `json:"slices,omitempty"`
	// Confidence of the intervals, two-sided, in (0,1); 0 means 0.95.
	Confidence float64 `json:"confidence,omitempty"`
	// Jobs is how many blocks are worked on at once; 0: as many as there are processors.
	Jobs int `json:"jobs,omitempty"`
	// Strict ends at the first line that is no record.
	Strict bool `json:"strict,omitempty"`
	// Outputs are reports to write: .html .md .csv .json .txt, or one .parquet with the
	// scored calls. Partial is a file for sums that are put together later, in place of panels.
	Outputs []string `json:"outputs,omitempty"`
	Partial string   `json:"partial,omitempty"`
}

// Scored is what trace files or a run add up to.
type Scored struct {
	// View is its report view; nil if a partial result was requested.
	View *report.ScoresView
	// unread is why excerpts could not be read, once a face has asked for them.
	unread error
}

// Write writes a view in one form. The error is also that of reading excerpts.
func (s *Scored) Write(w io.Writer, face report.ScoresFace) error {
	err := face(w, s.View)
	return cmp.Or(s.unread, err)
}

// Score sums up trace files or a run, and writes the requested files. It reports bad lines. The
// error is a *NoTracesError if there is nothing to score.
func (a *App) Score(ctx context.Context, req ScoreRequest, events Events) (*Scored, error) {
	if err := req.check(a.cfg.Files); err != nil {
		return nil, err
	}
	reports, tables := req.outputs()
	var s *scored
	var err error
	if req.Run != "" {
		s, err = a.scoreRun(ctx, &req, events)
	} else {
		s, err = a.scoreFiles(ctx, &req, tables, events)
	}
	if err != nil {
		return nil, err
	}
	if req.Partial != "" {
		return &Scored{}, a.writePartial(ctx, s, req.Partial)
	}
	out := a.shownSums(s)
	for _, name := range reports {
		face, err := report.ScoresByPath(name)
		if err != nil {
			return nil, err
		}
		if err := a.writeText(ctx, name, func(w io.Writer) error { return out.Write(w, face) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// writeText gives a name text, whole or not at all.
func (a *App) writeText(ctx context.Context, name string, write func(io.Writer) error) error {
	return a.cfg.Files.Write(ctx, name, func(w io.Writer) error {
		text := &plain.Writer{W: w}
		return errors.Join(write(text), text.Flush())
	})
}

// scored is what scoring trace files or a run gave.
type scored struct {
	panels *panel.Panels
	sheet  *steps.Sheet
	log    trace.Log
	files  []string
	marks  map[string][]measure.Mark
	scorer *score.StepScorer // nil of merged parts
	red    *redact.Redactor
	again  bool // the files can be read again, for excerpts
}

// shownSums are sums as they may be seen.
func (a *App) shownSums(s *scored) *Scored {
	withoutSecrets(s.panels, s.red)
	out := &Scored{View: &report.ScoresView{
		Files: s.files, Panels: s.panels, Lines: s.log.Lines, Steps: s.log.Steps, Tasks: s.log.Tasks,
		Problems: s.problems(), Version: a.cfg.Version,
	}}
	texts := sync.OnceValue(func() (texts map[panel.Example]string) { // few faces have them
		if s.again {
			texts, out.unread = newExhibitor(s.scorer, s.red).excerpts(a.cfg.Files.Open, a.examples(s), s.marks)
		}
		return texts
	})
	out.View.Excerpt = func(e panel.Example) string { return texts()[s.named(e)] }
	return out
}

// scoreRun sums a run up as the traces that it is.
func (a *App) scoreRun(ctx context.Context, req *ScoreRequest, events Events) (*scored, error) {
	r, err := a.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	if err := r.Sliceable(req.Slices); err != nil {
		return nil, err
	}
	red, err := a.viewer(r.Manifest, nil)
	if err != nil {
		return nil, err
	}
	cal, err := a.calibrated(req.Calibrations, []tasks{r.tasks(ctx)}, events)
	if err != nil {
		return nil, err
	}
	p, log, err := r.measure(ctx, steps.Config{SliceBy: req.Slices, Confidence: req.Confidence, Calibrations: cal}, nil)
	if err != nil {
		return nil, err
	}
	if req.Labels != "" {
		if err := a.labelled(p, r.tasks(ctx), req.Labels, cal, events); err != nil {
			return nil, err
		}
	}
	s := &scored{panels: p, files: []string{"run " + r.Stored.ID}, red: red}
	s.log.Steps, s.log.Tasks, s.log.Lines = log.Steps, log.Tasks, log.Steps+log.Tasks
	return s, nil
}

// scoreFiles sums trace files up, and writes a table of their calls.
func (a *App) scoreFiles(ctx context.Context, req *ScoreRequest, tables []string, events Events) (*scored, error) {
	if err := unambiguous("slices", req.Slices); err != nil {
		return nil, err
	}
	cal, err := a.calibrated(req.Calibrations, a.taskSources(req.Traces), events)
	if err != nil {
		return nil, err
	}
	r := reading{ScoreRequest: req, calibrations: cal}
	var s *scored
	if len(tables) > 0 {
		s, err = a.scoreInto(ctx, tables[0], r, events)
	} else {
		s, err = a.sum(ctx, r, events)
	}
	if err != nil {
		return nil, err
	}
	events.lines(s.problems(), &s.log)
	if s.log.Steps+s.log.Tasks == 0 {
		return nil, a.nothingScored(req.Traces)
	}
	a.tellMissingSlices(s, req.Slices)
	if req.Partial == "" {
		a.testResults(s, req.Traces)
	}
	if req.Labels != "" && req.Partial == "" {
		err = a.labelled(s.panels, a.tasksOf(req.Traces[0]), req.Labels, cal, events)
	}
	return s, err
}

func (a *App) writePartial(ctx context.Context, s *scored, name string) error {
	note, err := json.Marshal(s.log)
	if err != nil {
		return fmt.Errorf("write partial result: %w", err)
	}
	return a.cfg.Files.Write(ctx, name, func(w io.Writer) error {
		if _, err := w.Write(seal(s.sheet.AppendPartial(nil, note))); err != nil {
			return fmt.Errorf("write partial result: %w", err)
		}
		return nil
	})
}

// examples are those of the panels that can be read again: standard input and
// pipes cannot, nor can what has no line.
func (a *App) examples(s *scored) []panel.Example {
	var out []panel.Example
	all := slices.Clone(s.panels.Examples)
	for i := range s.panels.Findings {
		all = append(all, s.panels.Findings[i].Examples...)
	}
	for _, e := range all {
		if e = s.named(e); a.regular(e.File) && e.Line > 0 {
			out = append(out, e)
		}
	}
	return out
}

// named is an example with its file, which panels of a single file leave out.
func (s *scored) named(e panel.Example) panel.Example {
	if e.File == "" && len(s.files) == 1 {
		e.File = s.files[0]
	}
	return e
}

// problems are the bad lines and unknown names. Lines count through several files.
func (s *scored) problems() []callvet.Problem {
	ps := s.log.Problems("")
	for i := range ps {
		if ps[i].Position.Line > 0 {
			file, line := s.sheet.Locate(int64(ps[i].Position.Line))
			ps[i].Position.File, ps[i].Position.Line = file, int(line)
		} else if len(s.files) == 1 {
			ps[i].Position.File = s.files[0]
		}
	}
	return ps
}

// reading is how trace files are read and summed up.
type reading struct {
	*ScoreRequest
	calibrations []steps.Calibrated
	complete     bool                         // keep slices of every size: gates ask for them by name
	side         *measure.Side                // nil: nothing is compared
	without      map[string]bool              // tasks that are left out
	each         func([]measure.Scored) error // takes the scored steps in the order of the files
}

// sum scores and sums trace files up, or merges partial results.
func (a *App) sum(ctx context.Context, r reading, events Events) (*scored, error) {
	cfg := steps.Config{
		SliceBy: r.Slices, Partial: r.Partial != "", Files: len(r.Traces) > 1, Confidence: r.Confidence,
		Calibrations: r.calibrations,
	}
	if r.complete {
		cfg.MinTagTasks, cfg.MaxValues = 1, 1<<16
	}
	red, err := a.secrets.Redactor(nil)
	if err != nil {
		return nil, err
	}
	partial, err := a.isPartial(r.Traces[0])
	if err != nil {
		return nil, err
	}
	if partial {
		if r.Safety != "" || r.Suite != "" || r.Scoring != "" {
			return nil, refused("traces", "%s holds sums: give {safety}, {suite} and {scoring} when it is made",
				r.Traces[0])
		}
		cfg.Files = false
		s, err := a.mergePartials(r.Traces, cfg)
		if err == nil {
			s.red, s.again = red, true
		}
		return s, err
	}
	w, tools, done, err := a.watch(ctx, &r.TraceSettings, events)
	if err != nil {
		return nil, err
	}
	defer done()
	rules, told, err := a.stepScoring(r.Scoring, events)
	if err != nil {
		return nil, err
	}
	cfg.Scoring = told
	rules.ToolNames = cmp.Or(rules.ToolNames, w.ToolNames())
	if err := nameClash(&rules, tools, events); err != nil {
		return nil, err
	}
	add := adding{
		watch: w, tools: tools, steps: cfg, scoring: rules, lines: trace.Options{Strict: r.Strict},
		jobs: r.Jobs, side: r.side, without: r.without, each: r.each,
	}
	if r.side != nil && !w.Whole() { // whole attempts cost memory, and nothing else needs them
		if _, err := a.eachTask(r.Traces[0], r.side.Record); err != nil {
			return nil, err
		}
	}
	var sources []measure.Source
	for _, name := range r.Traces {
		sources = append(sources,
			measure.Source{Name: name, Open: func() (io.ReadCloser, error) { return a.cfg.Files.Open(name) }})
	}
	res, scorer, problems, err := add.up(ctx, sources)
	if err != nil {
		return nil, err
	}
	tellUnused(slices.Concat(problems, res.Problems), res, events)
	s := &scored{
		panels: res.Sheet.Panels(), sheet: res.Sheet, log: res.Log, files: r.Traces, marks: res.Marks,
		scorer: scorer, red: red, again: true,
	}
	s.contradict(cfg.Partial)
	s.panels.Lost = s.lost()
	findings.Incidents(s.panels)
	for _, text := range w.Warnings() {
		if r.Partial != "" { // the panels are not shown
			events.warn("safety", text)
		}
		s.panels.Warnings = append(s.panels.Warnings, text)
	}
	return s, nil
}

// adding is how attempts, of files or of a run, are scored and added up.
type adding struct {
	watch    *measure.Watch
	tools    []callvet.Tool
	steps    steps.Config
	scoring  callvet.Scoring
	lines    trace.Options
	jobs     int           // 0: as many as there are processors
	side     *measure.Side // nil: nothing is compared
	attempts bool          // side takes attempts, whether or not anything else needs them whole
	without  map[string]bool
	each     func([]measure.Scored) error
}

// up adds sources up. The problems are those of the tools.
func (d *adding) up(ctx context.Context,
	sources []measure.Source,
) (*measure.Result, *score.StepScorer, []callvet.Problem, error) {
	cfg := d.steps
	cfg.Catalogue, cfg.Families, cfg.Tools = len(d.tools) > 0, callvet.FamiliesOf(d.tools), d.tools
	scorer, problems := score.NewStepScorer(
		score.StepConfig{Tools: d.tools, Safe: d.watch.Safe(), Scoring: d.scoring, Matchers: stepMatchers})
	d.watch.Name(scorer.Naming())
	set := measure.Config{
		Steps: cfg, Scorer: scorer, Attempts: d.watch.Judge(ctx), Lines: d.lines, Jobs: d.jobs,
		Without: d.without, Each: d.each,
	}
	if set.Jobs <= 0 {
		set.Jobs = runtime.GOMAXPROCS(0)
	}
	if d.side != nil {
		d.side.Families(cfg.Families)
		if d.side.NeedsSteps() {
			set.Each = d.side.Steps
		}
		if d.attempts || set.Attempts != nil {
			set.Attempts = d.side.Watch(set.Attempts)
		}
	}
	res, err := measure.Run(ctx, sources, set)
	return res, scorer, problems, err
}

// tellUnused says what of the files and the tools could not be used.
func tellUnused(problems []callvet.Problem, res *measure.Result, events Events) {
	for _, p := range problems {
		events.warn("unused", p.Message)
	}
	if res.UnknownVersions > 0 {
		events.warn("unused",
			fmt.Sprintf("%d calls name a version that the tools do not have: they were validated against no schema",
				res.UnknownVersions))
	}
	if res.Endless > 0 {
		events.warn(callvet.SchemaWithoutEnd,
			fmt.Sprintf("%d calls are not validated: the schemas of their tools take too much work", res.Endless))
	}
	events.lost(res.Lost, nil)
}

// maxPartial bounds a partial result in bytes.
const maxPartial = 1 << 30

// mergePartials merges partial results in the order given.
func (a *App) mergePartials(names []string, cfg steps.Config) (*scored, error) {
	out := &scored{log: trace.Log{Max: 100}}
	for i, name := range names {
		b, err := a.read(name, maxPartial)
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
			out.sheet = steps.New(cfg)
		}
		before := out.sheet.Lines()
		note, err := out.sheet.Merge(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var log trace.Log
		if err := json.Unmarshal(note, &log); err != nil {
			return nil, fmt.Errorf("%s: read partial result: %w: %w", name, callvet.ErrInvalid, doc.Explain(err))
		}
		log.Shift(before)
		out.log.Merge(&log)
	}
	for _, src := range out.sheet.Sources() {
		out.files = append(out.files, src.Name)
	}
	out.panels = out.sheet.Panels()
	out.contradict(cfg.Partial)
	out.panels.Lost = out.lost()
	findings.Incidents(out.panels)
	return out, nil
}

// contradict adds the task records that contradict each other to what is lost. A partial result
// keeps them apart: more of them may come with the next part.
func (s *scored) contradict(partial bool) {
	if partial {
		return
	}
	n, first := s.sheet.Conflicts()
	numbered := !slices.ContainsFunc(s.sheet.Sources(), func(src steps.Source) bool { return src.Foreign })
	for _, c := range first {
		of, line := "", c.Line
		if _, at := s.sheet.Locate(c.Of); numbered {
			of = fmt.Sprintf(" in line %d", at)
		} else {
			line = 0
		}
		what, cure := "attempt", "number attempts"
		if c.Call {
			what, cure = "call", "give each call its own call_id"
		}
		s.log.Reject(line, contradicts(what, of, cure))
	}
	s.log.Bad += n - int64(len(first))
}

// contradicts is why a record is lost that contradicts another one of its attempt or call.
func contradicts(what, of, cure string) string {
	return "it contradicts the record of the same " + what + of + ", so that neither counts: " + cure +
		", or write corrects: true in the one that counts"
}

// maxLost is how many lost records are named in a result; all are counted.
const maxLost = 10

// lost are the records that could not be read, each in its file; nil where there are none.
func (s *scored) lost() *panel.Lost {
	return lostOf(&s.log, func(line int64) (string, int64) {
		if len(s.files) == 1 {
			return s.files[0], line
		}
		return s.sheet.Locate(line)
	})
}

// lostOf are the records that a log has as lost; locate gives the file of a line, and the line in it.
func lostOf(log *trace.Log, locate func(int64) (string, int64)) *panel.Lost {
	if log.Bad == 0 {
		return nil
	}
	out := &panel.Lost{Count: log.Bad, First: []panel.LostRecord{}}
	for _, b := range log.List[:min(len(log.List), maxLost)] {
		file, line := locate(b.Line)
		out.First = append(out.First, panel.LostRecord{File: file, Line: line, Reason: b.Reason})
	}
	return out
}
