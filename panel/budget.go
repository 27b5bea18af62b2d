// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/check"
)

// budgetShare is the share of executions that a budget of that metric is for.
func budgetShare(metric string) (float64, bool) {
	switch metric {
	case MetricInBudget:
		return 0.9, true
	case MetricInP50:
		return 0.5, true
	}
	return 0, false
}

// budgetWarnings say whether the latency budgets of tools are kept, by the ends of the
// interval; none for other metrics.
func budgetWarnings(m *Metric) []string {
	share, ok := budgetShare(m.Name)
	if !ok || !m.Interval.Defined() {
		return nil
	}
	switch iv := &m.Interval; {
	case iv.Usable() && iv.Upper < share:
		return []string{fmt.Sprintf("budget exceeded: it is for %.0f %% of the executions", 100*share)}
	case iv.Usable() && iv.Lower >= share:
		return []string{fmt.Sprintf("budget kept: it is for %.0f %% of the executions", 100*share)}
	}
	return []string{fmt.Sprintf("whether the budget is kept is open: it is for %.0f %% of the executions", 100*share)}
}

// contracts are the tools with a latency budget or a rate limit, by name in lower case.
type contracts map[string]*callvet.Tool

func contractsOf(tools []callvet.Tool) contracts {
	out := contracts{}
	for i := range tools {
		if t := &tools[i]; t.LatencyBudgetMS != nil || t.LatencyP50MS != nil || t.RateLimit != nil {
			out[strings.ToLower(t.Name)] = t
		}
	}
	return out
}

// AllowedCalls is the most calls of a tool that its rate limit allows in so many
// milliseconds, wherever in a period they begin.
func AllowedCalls(l *callvet.RateLimit, ms float64) int {
	if n := float64(l.Calls) * (math.Floor(ms/1000/l.PerSeconds) + 1); n < math.MaxInt32 {
		return int(n)
	}
	return math.MaxInt32
}

// held is what an attempt tells of a tool's contract.
type held struct {
	tool                 *callvet.Tool
	calls                int
	timed, inBudget, mid int // executions with a time; within the budget; within that of the median
	executed, refused    int // of the rate limit
	beyond               int // calls that the rate limit does not allow in the time of the attempt
}

// hold compares the calls of an attempt with the latency budgets and rate limits of their
// tools, in the order in which the tools were called first.
func (a *Accumulator) hold(c *callvet.Case, tr *callvet.Trace) []held {
	from := a.contracts
	if len(c.Tools) > 0 { // they replace the suite's
		from = contractsOf(c.Tools)
	}
	if len(from) == 0 {
		return nil
	}
	var out []held
	calls := tr.Calls()
	for i := range calls {
		tool := from[strings.ToLower(calls[i].Tool)]
		if tool == nil {
			continue
		}
		at := slices.IndexFunc(out, func(h held) bool { return h.tool == tool })
		if at < 0 {
			at, out = len(out), append(out, held{tool: tool})
		}
		out[at].add(&calls[i])
	}
	for i := range out {
		h := &out[i]
		if h.tool.RateLimit != nil && tr.WallMS > 0 {
			h.beyond = max(0, h.calls-AllowedCalls(h.tool.RateLimit, tr.WallMS+tr.ToolMS))
		}
	}
	return out
}

func (h *held) add(call *callvet.Call) {
	h.calls++
	late := call.Status == callvet.StatusTimeout
	if call.Status != callvet.StatusOK && call.Status != callvet.StatusExecErr && !late {
		return // not executed, or nobody says so
	}
	h.executed++
	if check.RateLimited(call) {
		h.refused++
	}
	if call.ExecMS <= 0 && !late {
		return
	}
	h.timed++
	if b := h.tool.LatencyBudgetMS; b != nil && !late && call.ExecMS <= *b {
		h.inBudget++
	}
	if b := h.tool.LatencyP50MS; b != nil && !late && call.ExecMS <= *b {
		h.mid++
	}
}

// budgets adds what an attempt tells of budgets and limits to the sums.
func (a *Accumulator) budgets(list []held) {
	add := func(metric, yes, n int) {
		if n > 0 {
			a.pairs = append(a.pairs, sample{metric, float64(yes), n, true})
		}
	}
	for i := range list {
		h := &list[i]
		if h.tool.LatencyBudgetMS != nil {
			add(mInBudget, h.inBudget, h.timed)
		}
		if h.tool.LatencyP50MS != nil {
			add(mInP50, h.mid, h.timed)
		}
		if h.tool.RateLimit != nil {
			add(mRateLimited, h.refused, h.executed)
		}
	}
}
