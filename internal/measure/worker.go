// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"bytes"
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

// worker reads and scores the lines of blocks.
type worker struct {
	scan   *trace.Scanner
	scorer *score.StepScorer
	sheet  *steps.Worker
	batch  *steps.Batch
	task   steps.Task
	paths  []string
	buf    []byte    // of blocks
	slices value.Doc // of the tags and fields of an attempt
	text   []byte    // of slices
	each   bool
	// without are tasks that are left out; empty: none.
	without map[string]bool
	rows    []Scored
	// scorerResults are the results of scorers by their JSON text: most attempts share one with
	// others.
	scorerResults map[string]*steps.ScorerResult
}

func newWorker(r *run) *worker {
	return &worker{
		scan: trace.NewScanner(r.cfg.Lines), scorer: r.cfg.Scorer.Fork(), sheet: r.sheet.Worker(),
		each: r.cfg.Each != nil, without: r.cfg.Without, scorerResults: map[string]*steps.ScorerResult{},
	}
}

// block scores the lines of a block, or its attempts.
func (w *worker) block(j job) error {
	err := w.scan.Scan(j.block, w.line)
	for line, i := j.block.Line, 0; i < len(j.attempts) && err == nil; i++ {
		line, err = w.attempt(line, &j.attempts[i])
	}
	for i := range w.rows {
		if j.foreign {
			w.rows[i].Line = 0
		}
	}
	return err
}

// line handles a record.
func (w *worker) line(v *trace.View) error {
	if w.without[string(v.TaskID)] {
		return nil
	}
	if v.IsTask {
		w.record(v)
		return nil
	}
	// A literal would be built in another place and copied.
	var s steps.Step
	s.Head, s.Tool = (*steps.Head)(&v.Head), v.Tool
	s.Args, s.Result, s.Turn, s.Corrects = v.Args.Hash(), v.Result.Hash(), v.TurnID, v.Corrects
	w.scorer.Score((*score.StepInput)(&v.Call), &s.Score)
	w.scorer.Time(v.ExecMS, &s.Score)
	if name := w.scorer.Counted(); name != nil {
		s.Tool = name
	}
	if v.GoldTool.Kind() == value.String {
		s.GoldTool = w.scorer.Named(v.GoldTool.Bytes())
		s.Tool = named(s.Tool, s.GoldTool, &s.Score)
	}
	if yes, known := s.Score.Get(callvet.StepArgEM); known && !yes {
		s.Paths = w.differing(v)
	}
	if yes, known := s.Score.Get(callvet.StepSchemaValid); known && !yes {
		s.BadFields = w.scorer.BadFields((*score.StepInput)(&v.Call))
	}
	w.sheet.Step(w.batch, &s)
	if w.each {
		row := Scored{Line: v.Line, Step: v.Step(), Score: s.Score, Args: s.Args, Result: s.Result}
		if len(v.CallID) > 0 {
			h := fnv.New64a()
			h.Write(v.Raw)
			row.Content = h.Sum64()
		}
		w.rows = append(w.rows, row)
	}
	return nil
}

// named returns the tool of a call: the labelled name if the call spells it differently.
func named(tool, gold []byte, score *callvet.StepScore) []byte {
	if bytes.Equal(tool, gold) {
		return tool
	}
	called, version := callvet.SplitTool(string(tool))
	want, _ := callvet.SplitTool(string(gold))
	if right, known := score.Get(callvet.StepSelection); known && right && version == "" &&
		callvet.Misnamed(called, want) != "" {
		return gold
	}
	return tool
}

// differing returns the names of arguments that differ from the expected ones, including missing
// and additional arguments.
func (w *worker) differing(v *trace.View) []string {
	w.paths = w.paths[:0]
	if rules := w.scorer.Rules(); rules != nil {
		args := w.scorer.Args()
		if args.Kind() != value.Object {
			args = value.Value{} // every expected one differs
		}
		for _, d := range rules.Diff(args) {
			if !d.Matched {
				w.paths = append(w.paths, d.Path)
			}
		}
		return w.paths
	}
	args, found := w.scorer.Args(), v.GoldArgs.Len()
	unlike := w.scorer.Unlike(v.GoldArgs)
	for i := range unlike {
		p := &unlike[i]
		if p.Got.Kind() == value.Invalid {
			found--
		} else if value.Equal(p.Got, p.Want) {
			continue
		}
		w.paths = append(w.paths, p.Want.Key())
	}
	if found == args.Len() {
		return w.paths
	}
	for e := args.Members(); e.Ok(); e = e.Next() {
		if !v.GoldArgs.Namesake(e).Ok() {
			w.paths = append(w.paths, e.Value().Key())
		}
	}
	return w.paths
}

// record reads a task record.
func (w *worker) record(v *trace.View) {
	t := w.empty()
	t.Line, t.Content, t.ID, t.Target, t.Attempt = v.Line, v.Record.Hash(), v.TaskID, v.Target, v.Attempt
	t.Tags, t.Fields = v.Tags, v.Fields
	for m, ok := v.Record.First(); ok; m, ok = v.Record.Next(m) {
		w.member(t, m)
	}
	w.add(t)
}

// empty is a task without any record.
func (w *worker) empty() *steps.Task {
	t := &w.task
	*t = steps.Task{
		Pass: -1, InputTokens: -1, OutputTokens: -1, ReasoningTokens: -1, CostUSD: -1, WallMS: -1,
		Judged: t.Judged[:0], Needed: t.Needed[:0], Expected: t.Expected[:0],
	}
	return t
}

// add adds a task to the batch.
func (w *worker) add(t *steps.Task) {
	t.Outcome = trace.OutcomeOf(t.Outcome, t.Skipped, t.Pass >= 0 || t.Fault)
	t.NotRun = t.Outcome == callvet.OutcomeNotRun
	t.Steps = leastSteps(t.Steps, t.Outcome, t.Decided)
	if len(t.Expected) == 0 {
		t.Expected = append(t.Expected, t.Needed...)
	}
	w.sheet.Task(w.batch, t)
}

func (w *worker) member(t *steps.Task, m value.Value) {
	switch string(m.KeyBytes()) {
	case "pass":
		if m.Kind() == value.Bool {
			t.Pass = truth(m.Bool())
		}
	case "reward":
		if f, ok := m.Float(); ok && t.Pass < 0 && (f == 0 || f == 1) {
			t.Pass = int(f)
		}
	case "usage":
		tokens(t, m)
	case "cost_usd":
		if t.CostUSD = positive(m); t.CostUSD > message.MaxUSD {
			t.CostUSD = -1
		}
	case "wall_ms":
		t.WallMS = positive(m)
	case "judged":
		verdicts(t, m)
	case "gold":
		w.needs(t, m)
	case "steps":
		if n, ok := m.Float(); ok {
			t.Steps = int(n)
		}
	case "expected_tools":
		w.expects(t, m)
	case "safety":
		incidents(t, m)
	case "scored":
		t.ScorerResult = w.scored(m)
	default:
		made(t, m)
	}
}

// leastSteps is how many step lines an attempt has by its record, at least. announced is 0 where the
// record has no number.
func leastSteps(announced int, o callvet.Outcome, decided bool) int {
	if announced == 0 && o == callvet.OutcomeCalled && !decided {
		return 1
	}
	return announced
}

// expects reads the tools that a case expects.
func (w *worker) expects(t *steps.Task, m value.Value) {
	for e, ok := m.First(); ok && m.Kind() == value.Array; e, ok = m.Next(e) {
		if e.Kind() == value.String {
			t.Expected = append(t.Expected, string(w.scorer.Named(e.Bytes())))
		}
	}
}

// incidents counts breaches of safety: an empty list means that there were none.
func incidents(t *steps.Task, m value.Value) {
	if m.Kind() != value.Array {
		return
	}
	t.Exposed = true
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		if blocked, _ := e.Get("blocked"); blocked.Bool() {
			t.Blocked++
		} else {
			t.Incidents++
		}
	}
}

func truth(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func verdicts(t *steps.Task, m value.Value) {
	for e, ok := m.First(); ok && m.Kind() == value.Array; e, ok = m.Next(e) {
		if pass, known := judged(e); known {
			name, _ := e.Get("judge")
			t.Judged = append(t.Judged, steps.Verdict{Judge: name.Str(), Pass: pass})
		}
	}
}

// judged returns a judge's verdict, as in trace.Judged.
func judged(e value.Value) (passed, known bool) {
	var pass *bool
	if p, _ := e.Get("pass"); p.Kind() == value.Bool {
		yes := p.Bool()
		pass = &yes
	}
	score, threshold := number(e, "score"), number(e, "threshold")
	return callvet.JudgePassed(pass, score, threshold)
}

func number(e value.Value, name string) *float64 {
	m, _ := e.Get(name)
	if f, ok := m.Float(); ok {
		return &f
	}
	return nil
}

// needs reads the calls that a task needs, except calls of the user.
func (w *worker) needs(t *steps.Task, gold value.Value) {
	list, ok := gold.Get("steps")
	if !ok || list.Kind() != value.Array {
		return
	}
	t.HasGold = true
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		if by, _ := e.Get("by"); string(by.Bytes()) == "user" {
			continue
		}
		if name, _ := e.Get("tool"); name.Kind() == value.String {
			t.Needed = append(t.Needed, string(w.scorer.Named(name.Bytes())))
		}
	}
}

func positive(m value.Value) float64 {
	if f, ok := m.Float(); ok && f >= 0 {
		return f
	}
	return -1
}

// tokens reads usage. An incomplete count is not used.
func tokens(t *steps.Task, m value.Value) {
	t.InputTokens, t.OutputTokens, t.ReasoningTokens = whole(m, "input_tokens"), whole(m, "output_tokens"),
		whole(m, "reasoning_tokens")
	if t.InputTokens < 0 || t.OutputTokens < 0 {
		t.InputTokens, t.OutputTokens, t.ReasoningTokens = -1, -1, -1
	}
}

// whole returns a count of tokens; -1 if it is missing or impossible.
func whole(m value.Value, name string) int64 {
	v, _ := m.Get(name)
	if n, ok := message.WholeTokens(v); ok {
		return int64(n)
	}
	return -1
}

func mergeProblems(a, b []callvet.Problem) []callvet.Problem {
	for _, p := range b {
		if !slices.ContainsFunc(a,
			func(o callvet.Problem) bool { return o.Code == p.Code && o.Message == p.Message && o.Key == p.Key }) {
			a = append(a, p)
		}
	}
	slices.SortFunc(a, func(x, y callvet.Problem) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Message, y.Message))
	})
	return a
}
