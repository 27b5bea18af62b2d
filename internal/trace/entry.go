// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"bytes"
	"encoding/json"

	"github.com/callvet/callvet"
)

// Entry presents a task record as a case and one attempt at it, for comparisons
// of attempts by case. judge names the judge whose verdict counts; "" takes what
// the source's own checks say.
//
// The case asks what the gold says: files with different gold for a task cannot
// be compared, those without gold can. The goal does not count, because a
// simulated user says it in other words each time. An attempt with a fault is an
// error, and one without that verdict did not run.
func (t *Task) Entry(judge string) (callvet.Case, callvet.Cell) {
	c := callvet.Case{ID: t.TaskID, Tags: t.Tags, Fields: t.Fields, Context: t.Gold.text()}
	cell := callvet.Cell{Repeat: t.Attempt, Result: callvet.Result{Verdict: callvet.VerdictNotRun}}
	cell.Trace.CaseID, cell.Trace.Target, cell.Trace.Repeat, cell.Trace.Outcome = t.TaskID, t.Target, t.Attempt, t.Outcome
	pass := t.Pass
	if judge != "" {
		pass = t.verdictOf(judge)
	}
	switch {
	case t.Outcome == callvet.OutcomeNotRun:
	case t.Fault != nil || t.Outcome == callvet.OutcomeError:
		cell.Result.Verdict = callvet.VerdictError
	case pass != nil && *pass:
		cell.Result.Verdict = callvet.VerdictPass
	case pass != nil:
		cell.Result.Verdict = callvet.VerdictFail
	}
	return c, cell
}

// Entry is that of the attempt's task record.
func (a *Attempt) Entry(judge string) (callvet.Case, callvet.Cell) {
	t := a.Task()
	return t.Entry(judge)
}

// verdictOf is the last verdict of a judge: its own, or its score against its threshold.
func (t *Task) verdictOf(judge string) (pass *bool) {
	for i := range t.Judged {
		j := &t.Judged[i]
		switch {
		case j.Judge != judge:
		case j.Pass != nil:
			pass = j.Pass
		case j.Score != nil && j.Threshold != nil:
			yes := *j.Score >= *j.Threshold
			pass = &yes
		}
	}
	return pass
}

// text is the gold in one spelling, whatever the order of members; "" when there
// is none. Gold without steps says that nothing is needed, which is something else.
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
