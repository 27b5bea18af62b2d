// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"context"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/panel/steps"
)

// jobAttempts is how many attempts a worker takes at once: few, because they are in memory until they are summed.
const jobAttempts = 16

// attempts yields the attempts of a source and reads ahead while others are summed. They are
// counted as the lines that they would have in a file.
func (r *run) attempts(ctx context.Context, src Source, before int64, yield func(job) bool) (lines int64, err error) {
	r.foreign = true
	r.res.Formats = append(r.res.Formats, foreign.Contract)
	jobs := func(yield func(job) bool) {
		next := job{foreign: true, source: src.Name, before: before, block: trace.Block{Line: before + 1}}
		for a, failed := range src.Attempts {
			if err = failed; err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return
			}
			r.judge(&a)
			lines += a.Records()
			if next.attempts = append(next.attempts, a); len(next.attempts) < jobAttempts {
				continue
			}
			if !yield(next) {
				return
			}
			next.attempts, next.block.Line = nil, before+lines+1
		}
		if len(next.attempts) > 0 {
			yield(next)
		}
	}
	for j := range sys.Prefetch(jobs, 1) {
		if !yield(j) {
			break
		}
	}
	return lines, err
}

// judge lets the attempt be judged as a whole, and replaces the names of its tools by the names
// that count.
func (r *run) judge(a *trace.Attempt) {
	if r.cfg.Attempts != nil {
		r.cfg.Attempts(a)
	}
	a.Trace = *counted(a)
}

// attempt scores an attempt. line is the number of its first record; next is one more than the
// number of its last record. Its task record is taken as it is. A step is read from the text of its
// line, because a scorer reads values from a text.
func (w *worker) attempt(line int64, a *trace.Attempt) (next int64, err error) {
	for s := range a.Named {
		v, err := w.scan.Step(line, s)
		if err == nil && v != nil {
			err = w.line(v)
		}
		if err != nil {
			return line, err
		}
		line++
	}
	w.scan.Log.Lines++
	w.scan.Log.Tasks++
	if t := a.Task(); !w.without[t.TaskID] {
		t.Line = line
		w.add(w.recorded(&t))
	}
	return line + 1, nil
}

// recorded is a task record, as record and member read it from a line. An attempt has one, so that
// its line number identifies its content.
func (w *worker) recorded(r *trace.Task) *steps.Task {
	t := w.empty()
	t.Line, t.Content, t.ID, t.Target, t.Attempt = r.Line, uint64(r.Line), []byte(r.TaskID), []byte(r.Target), r.Attempt
	if len(r.Tags)+len(r.Fields) > 0 {
		w.text = r.AppendSlices(w.text[:0])
		if err := w.slices.Parse(w.text); err == nil { // it was just written
			t.Tags, _ = w.slices.Root().Get("tags")
			t.Fields, _ = w.slices.Root().Get("fields")
		}
	}
	switch {
	case r.Pass != nil:
		t.Pass = truth(*r.Pass)
	case r.Reward != nil && (*r.Reward == 0 || *r.Reward == 1):
		t.Pass = int(*r.Reward)
	}
	amounts(t, r)
	for i := range r.Judged {
		j := &r.Judged[i]
		if pass, known := callvet.JudgePassed(j.Pass, j.Score, j.Threshold); known {
			t.Judged = append(t.Judged, steps.Verdict{Judge: j.Judge, Pass: pass})
		}
	}
	if t.HasGold = r.Gold != nil && r.Gold.Steps != nil; t.HasGold {
		for i := range r.Gold.Steps {
			if g := &r.Gold.Steps[i]; g.By != "user" {
				t.Needed = append(t.Needed, string(w.scorer.Named([]byte(g.Tool))))
			}
		}
	}
	for _, name := range r.Expects {
		t.Expected = append(t.Expected, string(w.scorer.Named([]byte(name))))
	}
	t.Exposed = r.Safety != nil
	for i := range r.Safety {
		if r.Safety[i].Blocked {
			t.Blocked++
		} else {
			t.Incidents++
		}
	}
	w.made(t, r)
	return t
}

// amounts copies the tokens, cost and time of the attempt.
func amounts(t *steps.Task, r *trace.Task) {
	if _, known := r.Usage.Tokens(); known {
		t.InputTokens, t.OutputTokens = int64(*r.Usage.Input), int64(*r.Usage.Output)
		if n := r.Usage.Reasoning; n > 0 && n <= message.MaxTokens {
			t.ReasoningTokens = int64(n)
		}
	}
	if usd, known := r.Cost(); known && usd >= 0 {
		t.CostUSD = usd
	}
	if r.WallMS != nil {
		t.WallMS = *r.WallMS
	}
}

// made copies how the attempt was made and how it ended.
func (w *worker) made(t *steps.Task, r *trace.Task) {
	if r.Fault != nil {
		t.Kind, t.TimedOut = r.Fault.Kind, r.Fault.Kind == callvet.FaultTimeout
	}
	t.Fault, t.NotRun = r.Fault != nil || r.Outcome == callvet.OutcomeError, r.Outcome == callvet.OutcomeNotRun
	t.Why, t.Outcome, t.Format, t.Requests = r.Reason, r.Outcome, r.Format, int64(r.Requests)
	if r.FirstTokenMS != nil {
		t.FirstMS = *r.FirstTokenMS
	}
	t.Cached, t.Unbilled, t.Floor, t.Corrects, t.Skipped = r.Cached, r.Unbilled, r.Floor, r.Corrects, r.Skipped
	t.Decided = r.Decision != nil
	if r.Steps != nil {
		t.Steps = *r.Steps
	}
	if r.Scored != nil {
		t.ScorerResult = w.sheet.ScorerResult(scoredOf(r.Scored))
	}
}

// scoredOf returns the results of a scorer in the form that scored reads from a line.
func scoredOf(r *trace.Scored) *steps.Scored {
	s := &steps.Scored{
		Class: callvet.ClassOf(string(r.Class)), Scores: make([]steps.Score, 0, len(r.Scores)), Unknown: r.Unknown,
	}
	for name, f := range r.Scores {
		if f >= 0 && f <= 1 {
			s.Scores = append(s.Scores, steps.Score{Name: name, Value: f})
		}
	}
	slices.SortFunc(s.Scores, func(a, b steps.Score) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range r.NotEvaluated {
		s.NotEvaluated = append(s.NotEvaluated, [2]string{n.Name, n.Reason})
	}
	for i := range r.Signs {
		sign(s, r.Signs[i].Code, r.Signs[i].Shown, r.Signs[i].Why)
	}
	for _, c := range r.Routes {
		s.Routes = append(s.Routes, [2]string{c.Expected, c.Called})
	}
	for _, c := range r.Tools {
		s.Tools = append(s.Tools, [2]string{c.Expected, c.Called})
	}
	return s
}
