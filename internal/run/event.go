// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"time"

	"github.com/callvet/callvet"
)

// Totals counts cells and what they consumed.
type Totals struct {
	Total int `json:"total"` // cells of the whole run
	Done  int `json:"done"`  // cells that are durable
	Pass  int `json:"pass"`
	// InPart are those of Pass with assertions that were not evaluated.
	InPart int `json:"in_part,omitempty"`
	Fail   int `json:"fail"`
	Error  int `json:"error"`
	NotRun int `json:"not_run"`
	// LeftOut are cells that were not asked on purpose, because of Config.Enough. They are not in Done.
	LeftOut int `json:"left_out,omitempty"`
	Cached  int `json:"cached"`
	// Requests were sent to targets, retries included.
	Requests int `json:"requests"`
	// CostUSD sums the known costs; CostKnown is false if the cost of some answer is not known: the
	// sum is then a lower bound.
	CostUSD   float64 `json:"cost_usd"`
	CostKnown bool    `json:"cost_known"`
}

func (t *Totals) add(c *callvet.Cell, free bool) {
	t.Done++
	switch c.Result.Verdict {
	case callvet.VerdictPass:
		t.Pass++
		if c.Result.NotEvaluated > 0 {
			t.InPart++
		}
	case callvet.VerdictFail:
		t.Fail++
	case callvet.VerdictError:
		t.Error++
	default:
		t.NotRun++
	}
	if c.Trace.Cached {
		t.Cached++
		return
	}
	t.Requests += c.Trace.Attempts
	if p := c.Trace.Usage.CostUSD; p != nil {
		t.CostUSD += *p
	} else if f := c.Trace.Fault; !free && c.Trace.Attempts > 0 &&
		(c.Trace.Outcome != callvet.OutcomeError || f != nil && f.Billable()) {
		t.CostKnown = false
	}
}

// Event reports what became durable with the last batch, and the progress of the run.
type Event struct {
	Totals
	// Targets are the same counts per target, in the order of Config.Targets.
	Targets []Totals
	Elapsed time.Duration
	// ETA is how long the rest will take at the pace of this session; 0: not known yet.
	ETA time.Duration
	// Cells are the cells of the batch, without exchanges; the receiver may keep them. The first
	// event of a resumed run has none. Cases are the cases of the cells.
	Cells []*callvet.Cell
	Cases []*callvet.Case
}

// Status of a finished run.
type Status string

// The endings of a run.
const (
	StatusDone        Status = "done"
	StatusInterrupted Status = "interrupted"
	StatusBudget      Status = "budget"
	StatusFailed      Status = "failed"
)

// Summary is the result of Run. Everything that it counts is durable.
type Summary struct {
	Status  Status        `json:"status"`
	Totals                // over all targets
	Targets []Totals      `json:"targets"`
	Elapsed time.Duration `json:"elapsed_ns"`
	Spent   callvet.Spent `json:"spent"`
	// Unbooked is the part of Spent that the journal did not take.
	Unbooked callvet.Spent `json:"-"`
	// DearestUSD is what the dearest cell of the run cost, where there is a budget; 0: none is known.
	DearestUSD float64 `json:"-"`
	// Stopped lists the targets that were given up, with the reason.
	Stopped []string `json:"stopped,omitempty"`
}
