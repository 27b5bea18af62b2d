// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import "slices"

// Need is whether a decision needed a call.
type Need int

// The needs. Unknown decisions are counted separately and in no rate.
const (
	Unknown Need = iota
	Needed
	NotNeeded
)

// Decision is one chance to call a tool.
type Decision struct {
	Need Need
	// Acceptable names the right tools.
	Acceptable []string
	// Called is the tool that was called; "" for none.
	Called string
}

// Selection counts decisions by result.
type Selection struct {
	Right, WrongTool, Missed, Spurious, CorrectAbstain, Unlabelled int
}

// Add counts a decision.
func (s *Selection) Add(d Decision) {
	switch {
	case d.Need == Unknown:
		s.Unlabelled++
	case d.Need == NotNeeded && d.Called == "":
		s.CorrectAbstain++
	case d.Need == NotNeeded:
		s.Spurious++
	case d.Called == "":
		s.Missed++
	case slices.Contains(d.Acceptable, d.Called):
		s.Right++
	default:
		s.WrongTool++
	}
}

// Accuracy is the share of right decisions, calls and abstentions, among those
// labelled; NaN for none. In [0,1], as all rates here.
func (s Selection) Accuracy() float64 {
	return s.rate(s.Right+s.CorrectAbstain, s.Right+s.WrongTool+s.Missed+s.Spurious+s.CorrectAbstain)
}

// Recall is the share of needed calls that were made rightly.
func (s Selection) Recall() float64 { return s.rate(s.Right, s.Right+s.WrongTool+s.Missed) }

// Precision is the share of right ones among the calls made.
func (s Selection) Precision() float64 { return s.rate(s.Right, s.Right+s.WrongTool+s.Spurious) }

// ToolGivenCall is the share of right tools where a call was needed and made.
func (s Selection) ToolGivenCall() float64 { return s.rate(s.Right, s.Right+s.WrongTool) }

// Abstention is the share of abstentions where no call was needed.
func (s Selection) Abstention() float64 {
	return s.rate(s.CorrectAbstain, s.CorrectAbstain+s.Spurious)
}

// Balanced is the mean of Recall and Abstention; NaN where either is.
func (s Selection) Balanced() float64 { return (s.Recall() + s.Abstention()) / 2 }

func (s Selection) rate(x, n int) float64 { return quotient(float64(x), float64(n)) }

// Overcalls counts needless calls. Calls without a label are in no rate.
type Overcalls struct {
	Unnecessary, Labelled, Total int
	// Tasks is all tasks, WithoutCalls those that made none.
	Tasks, WithoutCalls int
	macro               float64
	macroTasks          int
}

// Add counts the calls of one task.
func (o *Overcalls) Add(calls []Need) {
	o.Tasks++
	if len(calls) == 0 {
		o.WithoutCalls++
	}
	needless, labelled := 0, 0
	for _, c := range calls {
		if c != Unknown {
			labelled++
		}
		if c == NotNeeded {
			needless++
		}
	}
	o.Total += len(calls)
	o.Labelled += labelled
	o.Unnecessary += needless
	if labelled > 0 {
		o.macro += float64(needless) / float64(labelled)
		o.macroTasks++
	}
}

// Rate is the needless share of the labelled calls; NaN for none.
func (o Overcalls) Rate() float64 { return quotient(float64(o.Unnecessary), float64(o.Labelled)) }

// Coverage is the labelled share of all calls; NaN for no call.
func (o Overcalls) Coverage() float64 { return quotient(float64(o.Labelled), float64(o.Total)) }

// MacroRate is the mean of the tasks' own rates, over tasks with labelled calls.
func (o Overcalls) MacroRate() float64 { return quotient(o.macro, float64(o.macroTasks)) }

// PerTask is the number of needless calls a task, tasks without calls included.
func (o Overcalls) PerTask() float64 { return quotient(float64(o.Unnecessary), float64(o.Tasks)) }
