// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// expected are the calls a case asks for, each as a list of acceptable names.
// known is false when the case says nothing about calls.
type expected struct {
	calls    [][]string
	optional []bool
	known    bool
}

// expectation reads what the case asks for; plan names the any-of plan that the
// attempt was compared with.
func expectation(c *callvet.Case, plan string, called []callvet.Call) expected {
	x := &c.Expect
	switch {
	case len(x.Plans) > 0:
		return planned(choosePlan(x.Plans, plan))
	case x.ToolsCalled != nil:
		return named(x.ToolsCalled)
	case len(x.ToolsAcceptable) > 0:
		return named(nearestSet(x.ToolsAcceptable, called))
	}
	return expected{}
}

func choosePlan(plans []callvet.Plan, name string) *callvet.Plan {
	for i := range plans {
		if name != "" && plans[i].Name == name {
			return &plans[i]
		}
	}
	return &plans[0]
}

func planned(p *callvet.Plan) expected {
	e := expected{known: true}
	for i := range p.Calls {
		e.calls = append(e.calls, p.Calls[i].Tools)
		e.optional = append(e.optional, p.Calls[i].Optional)
	}
	return e
}

func named(names []string) expected {
	e := expected{known: true}
	for _, n := range names {
		if n != callvet.NoTools {
			e.calls = append(e.calls, []string{n})
			e.optional = append(e.optional, false)
		}
	}
	return e
}

// nearestSet is the acceptable set with the fewest names missing or too many.
func nearestSet(sets [][]string, called []callvet.Call) []string {
	best, least := sets[0], -1
	for _, s := range sets {
		_, missing, extra := pairNames(named(s), called)
		if d := len(missing) + len(extra); least < 0 || d < least {
			best, least = s, d
		}
	}
	return best
}

// pairNames matches calls with expectations by name alone. matched are the names
// of the calls that were asked for, missing and extra positions.
func pairNames(e expected, called []callvet.Call) (matched []string, missing, extra []int) {
	taken := make([]bool, len(called))
	for i, names := range e.calls {
		found := false
		for j := range called {
			if name, ok := acceptable(names, called[j].Tool); ok && !taken[j] {
				taken[j], found = true, true
				matched = append(matched, name)
				break
			}
		}
		if !found {
			missing = append(missing, i)
		}
	}
	for j, t := range taken {
		if !t {
			extra = append(extra, j)
		}
	}
	return matched, missing, extra
}

// acceptable gives the name as the case spells it, and whether it is one of those
// the case accepts.
func acceptable(names []string, name string) (string, bool) {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return n, true
		}
	}
	return "", false
}

// tally is what one attempt adds to the counts of calls.
type tally struct {
	known                          bool
	none                           bool // nothing was to be called
	needed, missed, made, unneeded int
}

// counted compares the calls of a judged attempt with what was expected and
// tells each pair (expected name, called name) to see.
func counted(c *callvet.Case, calls []callvet.Call, r *callvet.Result, unknown func(string) bool, see func(expected, called string)) tally {
	e := expectation(c, r.Plan, calls)
	if !e.known {
		return tally{}
	}
	t := tally{known: true, made: len(calls), none: len(e.calls) == 0}
	label := func(name string) string {
		if unknown(name) {
			return Unknown
		}
		return name
	}
	if len(r.Calls) > 0 {
		t.fromMatches(e, r.Calls, c.MultiTurn, label, see)
		return t
	}
	t.fromNames(e, calls, c.MultiTurn, label, see)
	if len(e.calls) == 0 && len(calls) == 0 {
		see(None, None)
	}
	return t
}

func (t *tally) fromMatches(e expected, matches []callvet.CallMatch, mt *callvet.MultiTurn, label func(string) string, see func(a, b string)) {
	for i := range matches {
		m := &matches[i]
		optional := m.Expected >= 0 && m.Expected < len(e.optional) && e.optional[m.Expected]
		if m.State != callvet.StateExtra && !(optional && m.State == callvet.StateMissing) {
			t.needed++
		}
		switch m.State {
		case callvet.StateMissing:
			if !optional {
				t.missed++
				see(first(m.Want), None)
			}
		case callvet.StateExtra:
			if !prerequisite(mt, m.Got) {
				t.unneeded++
				see(None, label(m.Got))
			}
		default:
			if name, ok := acceptable(m.Want, m.Got); ok {
				see(name, name)
			} else {
				see(first(m.Want), label(m.Got))
			}
		}
	}
}

// fromNames serves passes, which carry no diff, and expectations by name alone.
// One call too many beside one missing is a confusion of the two tools.
func (t *tally) fromNames(e expected, calls []callvet.Call, mt *callvet.MultiTurn, label func(string) string, see func(a, b string)) {
	matched, missing, extra := pairNames(e, calls)
	extra = slices.DeleteFunc(extra, func(j int) bool { return prerequisite(mt, calls[j].Tool) })
	for _, name := range matched {
		see(name, name)
		t.needed++
	}
	for _, i := range missing {
		if e.optional[i] {
			continue
		}
		t.needed++
		if len(extra) > 0 {
			see(first(e.calls[i]), label(calls[extra[0]].Tool))
			extra = extra[1:]
			continue
		}
		t.missed++
		see(first(e.calls[i]), None)
	}
	for _, j := range extra {
		t.unneeded++
		see(None, label(calls[j].Tool))
	}
}

// prerequisite reports whether a multi-turn case allows the call on the way.
func prerequisite(mt *callvet.MultiTurn, name string) bool {
	if mt == nil {
		return false
	}
	_, valid := acceptable(mt.ValidPrerequisites, name)
	_, required := acceptable(mt.RequiredPrerequisites, name)
	return valid || required
}

func first(names []string) string {
	if len(names) == 0 {
		return None
	}
	return names[0]
}
