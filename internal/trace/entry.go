// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"encoding/json"

	"github.com/callvet/callvet"
)

// Entry presents a task record as a case and one attempt at it, for comparisons
// of attempts by case. judge names the judge of the verdict; "" uses the source's own checks.
//
// The case is identified by the gold: files with different gold for a task cannot be compared,
// files without gold can. The goal does not count, because a simulated user words it differently
// each time. An attempt that Failed is an error, whatever its verdict, and one without a verdict
// did not run.
func (t *Task) Entry(judge string) (callvet.Case, callvet.Cell) {
	c := callvet.Case{ID: t.TaskID, Tags: t.Tags, Fields: t.Fields, Context: t.Asks}
	if c.Context == "" {
		c.Context = t.Gold.text()
	}
	cell := callvet.Cell{Repeat: t.Attempt, Result: callvet.Result{Verdict: callvet.VerdictNotRun}}
	cell.Trace.CaseID, cell.Trace.Target, cell.Trace.Repeat, cell.Trace.Outcome = t.TaskID, t.Target,
		t.Attempt, t.Outcome
	pass := t.Pass
	if judge != "" {
		pass = t.verdictOf(judge)
	} else if r := t.Reward; pass == nil && r != nil && (*r == 0 || *r == 1) {
		yes := *r == 1
		pass = &yes
	}
	switch {
	case t.Outcome == callvet.OutcomeNotRun:
	case t.Failed():
		cell.Result.Verdict = callvet.VerdictError
	case pass != nil && *pass:
		cell.Result.Verdict = callvet.VerdictPass
	case pass != nil:
		cell.Result.Verdict = callvet.VerdictFail
	}
	if s := t.Scored; s != nil {
		cell.Trace.Decision, cell.Result.NotEvaluated = t.Decision, len(s.NotEvaluated)
		for _, name := range s.Layers {
			cell.Result.Assertions = append(cell.Result.Assertions,
				callvet.Assertion{Name: name, Layer: callvet.LayerRouting})
		}
	}
	return c, cell
}

// Failed reports whether the infrastructure failed: such an attempt is neither a pass
// nor a failure, and no verdict on it counts.
// Source: Statistics specification, section 1.
func (t *Task) Failed() bool { return t.Fault != nil || t.Outcome == callvet.OutcomeError }

// Entry is the Entry of the attempt's task record.
func (a *Attempt) Entry(judge string) (callvet.Case, callvet.Cell) {
	t := a.Task()
	return t.Entry(judge)
}

// ExpectedTools are the tools that the task expects, by base name: from its record, or else from
// its gold.
func (t *Task) ExpectedTools() []string {
	var out []string
	for _, name := range t.Expects {
		name, _ = callvet.SplitTool(name)
		out = append(out, name)
	}
	if out == nil && t.Gold != nil {
		for _, g := range t.Gold.Steps {
			if name, _ := callvet.SplitTool(g.Tool); g.By != "user" {
				out = append(out, name)
			}
		}
	}
	return out
}

// verdictOf is the last verdict of a judge: its own, or its score against its threshold.
func (t *Task) verdictOf(judge string) (pass *bool) {
	for i := range t.Judged {
		if yes, ok := t.Judged[i].Verdict(); ok && t.Judged[i].Judge == judge {
			pass = &yes
		}
	}
	return pass
}

// Verdict is the judge's verdict (callvet.JudgePassed).
func (j *Judged) Verdict() (pass, known bool) {
	return callvet.JudgePassed(j.Pass, j.Score, j.Threshold)
}

// text is the gold in a canonical form; "" if there is none. Gold without steps has a text: it
// means that no call is needed.
func (g *TaskGold) text() string {
	if g == nil {
		return ""
	}
	raw, err := json.Marshal(g)
	if err != nil { // the file's own values were valid
		return err.Error()
	}
	var any any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&any) != nil {
		return string(raw)
	}
	if sorted, err := json.Marshal(any); err == nil {
		return string(sorted)
	}
	return string(raw)
}
