// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// TrajectoryGold is what a task needs. The zero value needs nothing.
type TrajectoryGold struct {
	Steps []TrajectoryStep
	// Facts are texts that the target's answer must contain.
	Facts []string
}

// TrajectoryStep is one needed call.
type TrajectoryStep struct {
	Tool string
	// Args are the right arguments, one JSON value; nil: any arguments.
	Args json.RawMessage
	// Compare names the arguments that matter; nil: the rules decide, empty: none do.
	Compare []string
	// User marks a call that the user must make, not the target.
	User bool
}

// TrajectoryRules define when a call answers a step.
type TrajectoryRules uint8

const (
	// Strict is callvet's own. A call answers at most one step, and as many steps as possible are
	// answered. Its arguments must be the arguments of the step, no fewer and no more (only those
	// in Compare, where it is set). Only the user's calls answer the user's steps. Facts are
	// found whatever the letter case and the commas in numbers.
	Strict TrajectoryRules = iota
	// Tau is the rule of the τ-bench family. A call of the target or the user may answer any
	// number of steps. Without Compare only the call's arguments are compared, so that a missing
	// argument is no difference. A fact with a comma is never found. Source: Barres et al. 2025,
	// τ²-bench, actions and communicated information.
	Tau
)

// TrajectoryOutcome is the result of an attempt. Calls are counted from 0: first those of the
// target, in the order of Trace.Calls, then the user's.
type TrajectoryOutcome struct {
	// Steps has one entry per gold step, Facts per fact, in their order.
	Steps []TrajectoryStepOutcome
	Facts []bool
	// Needed counts the target's steps, Missed the steps among them that no call answers.
	Needed, Missed int
	// Extra are the target's calls that answer no step. They are unneeded only where the gold
	// contains every call that a task may take.
	Extra []int
}

// TrajectoryStepOutcome is how a gold step was answered.
type TrajectoryStepOutcome struct {
	// Call answers the step; -1 when it was missed.
	Call int
	// Near is, for a missed step, the first call of its tool. Its arguments then differ, or it
	// answers another step; -1: the tool was not called.
	Near int
}

// made is a call with its compared parts.
type made struct {
	tool string
	args value.Value
	user bool
}

// CheckTrajectory compares an attempt with the needs of its task. user are the calls of the
// (simulated) user. The error wraps callvet.ErrInvalid when the arguments of a step are no JSON
// value. Unreadable arguments of a call answer only steps that ignore arguments.
func CheckTrajectory(g *TrajectoryGold, t *callvet.Trace, user []callvet.Call,
	r TrajectoryRules,
) (TrajectoryOutcome, error) {
	calls, own := collect(t, user)
	answers, near := make([][]int, len(g.Steps)), make([]int, len(g.Steps))
	for i := range g.Steps {
		s := &g.Steps[i]
		want, err := value.Parse(s.Args)
		if s.Args != nil && err != nil {
			return TrajectoryOutcome{}, fmt.Errorf("read arguments of gold step %d (%s): %w", i+1, s.Tool,
				errors.Join(callvet.ErrInvalid, err))
		}
		near[i] = -1
		for j := range calls {
			c := &calls[j]
			if c.tool != s.Tool || r == Strict && c.user != s.User {
				continue
			}
			if near[i] < 0 {
				near[i] = j
			}
			if r.same(s, want, c.args) {
				answers[i] = append(answers[i], j)
			}
		}
	}
	return settle(g, t, r, own, trajectoryPair(answers, r, len(calls)), near), nil
}

func collect(t *callvet.Trace, user []callvet.Call) (calls []made, own int) {
	add := func(list []callvet.Call, byUser bool) {
		for i := range list {
			args, err := list[i].ArgsValue()
			if err != nil {
				args = value.Value{}
			}
			calls = append(calls, made{list[i].Tool, args, byUser})
		}
	}
	add(t.Calls(), false)
	own = len(calls)
	add(user, true)
	return calls, own
}

func settle(g *TrajectoryGold, t *callvet.Trace, r TrajectoryRules, own int, chosen, near []int) TrajectoryOutcome {
	o := TrajectoryOutcome{Steps: make([]TrajectoryStepOutcome, len(g.Steps)), Facts: factsFound(g.Facts, t, r)}
	used := map[int]bool{}
	for i, j := range chosen {
		o.Steps[i] = TrajectoryStepOutcome{Call: j, Near: -1}
		if j < 0 {
			o.Steps[i].Near = near[i]
		} else {
			used[j] = true
		}
		if !g.Steps[i].User {
			o.Needed++
			if j < 0 {
				o.Missed++
			}
		}
	}
	for j := range own {
		if !used[j] {
			o.Extra = append(o.Extra, j)
		}
	}
	return o
}

// same compares arguments of a call of the right tool.
func (r TrajectoryRules) same(s *TrajectoryStep, want, got value.Value) bool {
	if s.Args == nil && s.Compare == nil {
		return true
	}
	if s.Compare == nil && r == Strict {
		return got.Kind() != value.Invalid && value.Equal(want, got)
	}
	names := s.Compare
	if s.Compare == nil {
		for e, ok := got.First(); ok; e, ok = got.Next(e) {
			names = append(names, e.Key())
		}
		if got.Kind() != value.Object {
			return false
		}
	}
	for _, n := range names {
		a, inGold := want.Get(n)
		b, inCall := got.Get(n)
		if inGold != inCall || inGold && !value.Equal(a, b) {
			return false
		}
	}
	return true
}

// trajectoryPair chooses a call for every step, -1 where none is left. Under Strict as
// many steps as possible are answered (augmenting paths; Kuhn 1955), each by the
// earliest call that allows it.
func trajectoryPair(answers [][]int, r TrajectoryRules, calls int) []int {
	chosen := make([]int, len(answers))
	owner := make([]int, calls)
	for j := range owner {
		owner[j] = -1
	}
	var place func(i int, seen []bool) bool
	place = func(i int, seen []bool) bool {
		for _, j := range answers[i] {
			if seen[j] {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || place(owner[j], seen) {
				owner[j], chosen[i] = i, j
				return true
			}
		}
		return false
	}
	for i := range answers {
		chosen[i] = -1
		switch {
		case r == Strict:
			place(i, make([]bool, calls))
		case len(answers[i]) > 0:
			chosen[i] = answers[i][0]
		}
	}
	return chosen
}

// factsFound looks for each fact in the target's answers.
func factsFound(facts []string, t *callvet.Trace, r TrajectoryRules) []bool {
	if len(facts) == 0 {
		return nil
	}
	texts := []string{t.Answer} // a trace may have the answer alone
	for i := range t.Turns {
		if t.Turns[i].Role == callvet.RoleAssistant {
			texts = append(texts, t.Turns[i].Content)
		}
	}
	for i := range texts {
		texts[i] = strings.ReplaceAll(strings.ToLower(texts[i]), ",", "")
	}
	out := make([]bool, len(facts))
	for i, f := range facts {
		f = strings.ToLower(f)
		if r == Strict {
			f = strings.ReplaceAll(f, ",", "")
		}
		out[i] = slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, f) })
	}
	return out
}

// TrajectoryReward is the product of the parts in the task's basis; 1 for an empty basis. ok is
// false when a part of the basis is not known. Source: Barres et al. 2025, τ²-bench.
func TrajectoryReward(basis []string, parts map[string]float64) (reward float64, ok bool) {
	reward = 1
	for _, name := range basis {
		p, known := parts[name]
		if !known {
			return 0, false
		}
		reward *= p
	}
	return reward, true
}
