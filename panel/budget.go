// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
)

// budgetShare is the share of executions that should keep the budget of the metric.
func budgetShare(metric string) (float64, bool) {
	switch metric {
	case MetricInBudget:
		return 0.9, true
	case MetricInP50:
		return 0.5, true
	}
	return 0, false
}

// budgetWarnings compares the ends of the interval with the share of executions that should keep
// the latency budget; nil for other metrics.
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

// AllowedCalls is the largest number of calls that a rate limit allows in the given milliseconds,
// wherever in a period they begin.
func AllowedCalls(l *callvet.RateLimit, ms float64) int {
	if n := float64(l.Calls) * (math.Floor(ms/1000/l.PerSeconds) + 1); n < math.MaxInt32 {
		return int(n)
	}
	return math.MaxInt32
}

// ToolUse counts how the calls of a tool keep its contract.
type ToolUse struct {
	Name string
	Tool *callvet.Tool // its contract; nil where none is known
	// Over of Timed executions took longer than the latency budget, OverMid of TimedMid longer than
	// the budget for the median.
	Timed, Over, TimedMid, OverMid int
	// Hit are calls that were refused because of the rate limit, or are beyond it.
	Hit int
}

// SlowTools finds tools that exceed their budget: more than one in ten executions took longer than
// the budget, or more than half longer than the budget for the median. count is the number of slow
// executions among the executions of these tools.
func SlowTools(uses []ToolUse) (count, of int, evidence []string) {
	for i := range uses {
		u := &uses[i]
		budget, mid := "its budget", "half of them should"
		if u.Tool != nil && u.Tool.LatencyBudgetMS != nil {
			budget = fmt.Sprintf("%g ms", *u.Tool.LatencyBudgetMS)
		}
		if u.Tool != nil && u.Tool.LatencyP50MS != nil {
			mid = fmt.Sprintf("%g ms", *u.Tool.LatencyP50MS)
		}
		late, lateMid := 10*u.Over > u.Timed, 2*u.OverMid > u.TimedMid
		if late {
			count, of = count+u.Over, of+u.Timed
			evidence = append(evidence,
				fmt.Sprintf("%s: %d of %d executions took longer than %s (%.1f %%, and the budget allows 10 %%)",
					u.Name, u.Over, u.Timed, budget, 100*float64(u.Over)/float64(u.Timed)))
		} else if lateMid {
			count, of = count+u.OverMid, of+u.TimedMid
		}
		if lateMid {
			evidence = append(evidence,
				fmt.Sprintf("%s: %d of %d executions took longer than %s (%.1f %%, and the budget allows half)", u.Name,
					u.OverMid, u.TimedMid, mid, 100*float64(u.OverMid)/float64(u.TimedMid)))
		}
	}
	return count, of, evidence
}

// LimitedTools lists tools that refused calls because of their rate limits, and tools that were
// called more often than their limit allows in the time of the attempts.
func LimitedTools(refused, executed, beyond int, uses []ToolUse) []string {
	var out []string
	if refused > 0 {
		out = append(out, fmt.Sprintf("%d of %d executed calls were refused (%.2f %%)", refused, executed,
			100*float64(refused)/float64(max(executed, 1))))
	}
	if beyond > 0 {
		out = append(out, plural(beyond, "call that was not refused is", "calls that were not refused are")+
			" more than the limits allow in the time of their attempts")
	}
	for i := range uses {
		u := &uses[i]
		if u.Hit == 0 {
			continue
		}
		line := u.Name + ": " + plural(u.Hit, "call", "calls")
		if u.Tool != nil && u.Tool.RateLimit != nil {
			line += fmt.Sprintf(", its limit is %d in %g s", u.Tool.RateLimit.Calls, u.Tool.RateLimit.PerSeconds)
		}
		out = append(out, line)
	}
	return out
}

// contractUse is how an attempt kept the contract of a tool.
type contractUse struct {
	tool                 *callvet.Tool
	calls                int
	timed, inBudget, mid int // executions with a time; within the budget; within that of the median
	executed, refused    int // of the rate limit
	// calls that were not refused and that the rate limit does not allow in the time of the attempt
	beyond int
}

// check compares the calls of an attempt with the latency budgets and rate limits of their tools,
// in the order of the tools' first calls.
func (from contracts) check(c *callvet.Case, tr *callvet.Trace) []contractUse {
	if len(c.Tools) > 0 { // they replace the suite's
		from = contractsOf(c.Tools)
	}
	if len(from) == 0 {
		return nil
	}
	var out []contractUse
	calls, took := tr.Calls(), tr.WallMS+tr.ToolMS
	for i := range calls {
		took += calls[i].QueueMS // a guard's waits do not pass in real time where tools only declare their durations
		tool := from[strings.ToLower(calls[i].Tool)]
		if tool == nil {
			continue
		}
		at := slices.IndexFunc(out, func(h contractUse) bool { return h.tool == tool })
		if at < 0 {
			at, out = len(out), append(out, contractUse{tool: tool})
		}
		out[at].add(&calls[i])
	}
	for i := range out {
		h := &out[i]
		if h.tool.RateLimit != nil && tr.WallMS > 0 {
			h.beyond = max(0, h.calls-h.refused-AllowedCalls(h.tool.RateLimit, took))
		}
	}
	return out
}

func (h *contractUse) add(call *callvet.Call) {
	h.calls++
	late := call.Status == callvet.StatusTimeout
	if call.Status != callvet.StatusOK && call.Status != callvet.StatusExecErr && !late {
		return // not executed, or not recorded
	}
	h.executed++
	if match.RateLimited(call) {
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

// BudgetNotes lists how an attempt exceeded the latency budgets and rate limits of its tools, which
// are the suite's where the case has none of its own.
func BudgetNotes(tools []callvet.Tool, c *callvet.Case, tr *callvet.Trace) []string {
	var out []string
	for _, h := range contractsOf(tools).check(c, tr) {
		if b := h.tool.LatencyBudgetMS; b != nil && h.inBudget < h.timed {
			out = append(out, fmt.Sprintf("%s: %s took longer than the latency budget of %g ms", h.tool.Name,
				plural(h.timed-h.inBudget, "execution", "executions"), *b))
		}
		if b := h.tool.LatencyP50MS; b != nil && h.mid < h.timed {
			out = append(out, fmt.Sprintf("%s: %s took longer than the %g ms that half should stay below",
				h.tool.Name, plural(h.timed-h.mid, "execution", "executions"), *b))
		}
		l := h.tool.RateLimit
		if l == nil {
			continue
		}
		limit := fmt.Sprintf("the rate limit of %d in %g s", l.Calls, l.PerSeconds)
		if h.refused > 0 {
			out = append(out, fmt.Sprintf("%s: %s refused because of %s", h.tool.Name,
				plural(h.refused, "call was", "calls were"), limit))
		}
		if h.beyond > 0 {
			out = append(out,
				fmt.Sprintf("%s: %s more than %s allows", h.tool.Name, plural(h.beyond, "call", "calls"), limit))
		}
	}
	return out
}
