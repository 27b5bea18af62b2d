// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/callvet/callvet"
)

func checkLimits(limits map[string]callvet.RateLimit) error {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if l := limits[name]; l.Calls < 1 || !(l.PerSeconds > 0) {
			return fmt.Errorf("rate_limits: %s needs calls and per_seconds above 0: %w", name, callvet.ErrInvalid)
		}
	}
	return nil
}

// rateLimits are the limits in force for the tools of a catalogue, and "*".
func rateLimits(tools []callvet.Tool, rules *Rules) map[string]callvet.RateLimit {
	out := map[string]callvet.RateLimit{}
	if rules.KeepRateLimits {
		for i := range tools {
			if l := tools[i].RateLimit; l != nil && l.Calls > 0 && l.PerSeconds > 0 {
				name, _ := callvet.SplitTool(tools[i].Name)
				out[fold(name)] = *l
			}
		}
	}
	for name, l := range rules.RateLimits {
		out[fold(name)] = l
	}
	return out
}

// RateLimit is the limit in force for a tool; ok is false where there is none.
func (c *Checker) RateLimit(tool string) (l callvet.RateLimit, ok bool) {
	if l, ok = c.limits[fold(tool)]; !ok {
		l, ok = c.limits["*"]
	}
	return l, ok
}

// longest is an upper bound of the time of the attempt, in seconds. It is its own time plus the
// recorded times of its calls, as if its own time did not include them. If its time is not known,
// ok is false.
func longest(k *talk, t *callvet.Trace) (seconds float64, ok bool) {
	if !(t.WallMS > 0) {
		return 0, false
	}
	sum := t.WallMS
	for i := range k.steps {
		sum += k.steps[i].call.QueueMS + k.steps[i].call.ExecMS
	}
	return sum / 1000, true
}

// periods is how many periods of some seconds can have begun in a time, at least 1.
func periods(all, seconds float64) float64 { return math.Floor(all/seconds) + 1 }

// pace checks the calls of each tool against its rate limit and the number of failures after which
// it must not be called. A breach counts only where no order of the calls within the time of the
// attempt keeps the limit. Nothing counts where that time is needed but unknown. Source: Evaluating
// Tool Calling, §12 (rate limits, circuit breakers).
func (c *Checker) pace(r *Report, k *talk, t *callvet.Trace) {
	if len(c.limits) == 0 && c.rules.StopAfterFailures == 0 {
		return
	}
	all, known := longest(k, t)
	type state struct {
		made     float64
		failures int
		spare    float64 // calls that may be tried while the tool fails
	}
	tools := map[string]*state{}
	for i := range k.steps {
		call := k.steps[i].call
		if !executed(call) {
			continue
		}
		s := tools[fold(call.Tool)]
		if s == nil {
			s = &state{}
			if c.rules.ReopenSeconds > 0 {
				s.spare = math.Inf(1)
				if known {
					s.spare = math.Floor(all / c.rules.ReopenSeconds)
				}
			}
			tools[fold(call.Tool)] = s
		}
		s.made++
		if l, ok := c.RateLimit(call.Tool); ok && known && s.made > float64(l.Calls)*periods(all, l.PerSeconds) {
			r.add(RuleRate, i, true,
				fmt.Sprintf("%s was called more often than %d times in %g s", call.Tool, l.Calls, l.PerSeconds))
		}
		if n := c.rules.StopAfterFailures; n > 0 && s.failures >= n {
			if s.spare--; s.spare < 0 {
				r.add(RuleFailing, i, true,
					fmt.Sprintf("%s was called again after %d failures in a row", call.Tool, s.failures))
			}
		}
		s.failures++
		if call.Status != callvet.StatusExecErr && call.Status != callvet.StatusTimeout {
			s.failures = 0
		}
	}
}
