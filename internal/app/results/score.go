// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// Scored is the result of scoring trace files or a run.
type Scored struct {
	Panels *panel.Panels
	Sheet  *steps.Sheet
	Log    trace.Log
	Files  []string
	Marks  map[string][]measure.Mark
	Scorer *score.StepScorer // nil for merged parts
	Red    *redact.Redactor
	Again  bool // the files can be read again, for excerpts
}

// Named is an example with its file, which panels of a single file leave out.
func (s *Scored) Named(e panel.Example) panel.Example {
	if e.File == "" && len(s.Files) == 1 {
		e.File = s.Files[0]
	}
	return e
}

// Problems are bad lines and unknown names. Lines count through several files.
func (s *Scored) Problems() []callvet.Problem {
	ps := s.Log.Problems("")
	for i := range ps {
		if ps[i].Position.Line > 0 {
			file, line := s.Sheet.Locate(int64(ps[i].Position.Line))
			ps[i].Position.File, ps[i].Position.Line = file, int(line)
		} else if len(s.Files) == 1 {
			ps[i].Position.File = s.Files[0]
		}
	}
	return ps
}

// Summing has the settings for scoring and summing attempts, of files or of a run.
type Summing struct {
	Watch    *measure.Watch
	Tools    []callvet.Tool
	Steps    steps.Config
	Scoring  callvet.Scoring
	Lines    trace.Options
	Jobs     int           // 0: the number of processors
	Side     *measure.Side // nil: nothing is compared
	attempts bool          // side needs whole attempts
	Without  map[string]bool
	Each     func([]measure.Scored) error
}

// Sum adds up sources. The problems are about the tools.
func (d *Summing) Sum(ctx context.Context,
	sources []measure.Source,
) (*measure.Result, *score.StepScorer, []callvet.Problem, error) {
	cfg := d.Steps
	cfg.Catalogue, cfg.Families, cfg.Tools = len(d.Tools) > 0, callvet.FamiliesOf(d.Tools), d.Tools
	scorer, problems := score.NewStepScorer(
		score.StepConfig{Tools: d.Tools, Safe: d.Watch.Safe(), Scoring: d.Scoring, Matchers: app.StepMatchers})
	d.Watch.Name(scorer.Naming())
	set := measure.Config{
		Steps: cfg, Scorer: scorer, Attempts: d.Watch.Judge(ctx), Lines: d.Lines, Jobs: d.Jobs,
		Without: d.Without, Each: d.Each,
	}
	if set.Jobs <= 0 {
		set.Jobs = runtime.GOMAXPROCS(0)
	}
	if d.Side != nil {
		d.Side.Families(cfg.Families)
		if d.Side.NeedsSteps() {
			set.Each = d.Side.Steps
		}
		if d.attempts || set.Attempts != nil {
			set.Attempts = d.Side.Watch(set.Attempts)
		}
	}
	res, err := measure.Run(ctx, sources, set)
	return res, scorer, problems, err
}

// Contradict adds the task records that contradict each other to the lost records. A partial result
// keeps them separately, because more of them may come with the next part.
func (s *Scored) Contradict(partial bool) {
	if partial {
		return
	}
	n, first := s.Sheet.Conflicts()
	numbered := !slices.ContainsFunc(s.Sheet.Sources(), func(src steps.Source) bool { return src.Foreign })
	for _, c := range first {
		of, line := "", c.Line
		if _, at := s.Sheet.Locate(c.Of); numbered {
			of = fmt.Sprintf(" in line %d", at)
		} else {
			line = 0
		}
		what, cure := "attempt", "number attempts"
		if c.Call {
			what, cure = "call", "give each call its own call_id"
		}
		s.Log.Reject(line, Contradiction(what, of, cure))
	}
	s.Log.Bad += n - int64(len(first))
}

// Contradiction explains why a record is lost that contradicts another record of its attempt or
// call.
func Contradiction(what, of, cure string) string {
	return "it contradicts the record of the same " + what + of + ", so that neither counts: " + cure +
		", or write corrects: true in the one that counts"
}

// maxLost is how many lost records are named in a result; all are counted.
const maxLost = 10

// Lost returns the records that could not be read, each with its file; nil if there are none.
func (s *Scored) Lost() *panel.Lost {
	return LostRecords(&s.Log, func(line int64) (string, int64) {
		if len(s.Files) == 1 {
			return s.Files[0], line
		}
		return s.Sheet.Locate(line)
	})
}

// LostRecords returns the lost records of a log; locate returns the file of a line, and the line in
// it.
func LostRecords(log *trace.Log, locate func(int64) (string, int64)) *panel.Lost {
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
