// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"bytes"
	"slices"

	"github.com/callvet/callvet"
)

// Label is what the case of an attempt expects of one of its calls.
type Label struct {
	// Needed: a call was needed at this place. Tool is the needed tool; "" where none was needed.
	Needed bool
	Tool   string
	// Call is the expected call that the call is paired with or was made in place of; nil where
	// the case expects no more than the tool.
	Call *callvet.ExpectedCall
}

// Labels labels the calls of an attempt, one Label a call in their order, and lists the calls that
// the case needs. known is false where the case expects nothing about calls.
//
// A call is paired with an expected call as in the attempt's comparison; without such a pair by
// equal arguments, and then by name. An extra call together with a missing call is a call of the
// wrong tool: it was needed, but of a different tool. Calls that a multi-turn case allows on the
// way are needed, with their own tool. Source: Evaluating Tool Calling, §2.2 and §3.1.
func Labels(c *callvet.Case, t *callvet.Trace, r *callvet.Result) (calls, needed []Label, known bool) {
	made := counted(t.Calls(), r)
	e, known := expectation(c, r, made)
	if !known {
		return nil, nil, false
	}
	calls = make([]Label, len(made))
	compared := r.Calls
	sets := c.Expect.Plans == nil && c.Expect.ToolsCalled == nil // sets of names, which no comparison contains
	if sets {
		compared = nil
	}
	paired := e.pair(made, compared)
	taken := make([]bool, len(made))
	var missing []Label
	for i := range e {
		x := &e[i]
		due := Label{true, x.first(), x.src}
		if j := paired[i]; j >= 0 {
			taken[j] = true
			if x.accepts(made[j].Tool) {
				due.Tool = made[j].Tool
			}
			calls[j] = due
		} else if !x.optional {
			missing = append(missing, due)
		}
		if !x.optional {
			needed = append(needed, due)
		}
	}
	for j := range made {
		switch {
		case taken[j]:
		case sets && e.names(made[j].Tool): // a tool of the set may be called again
			calls[j] = Label{Needed: true, Tool: made[j].Tool}
		case c.MultiTurn != nil &&
			(onTheWay(c.MultiTurn, made[j].Tool, r) || made[j].Status == callvet.StatusRejected &&
				e.names(made[j].Tool)):
			calls[j] = Label{Needed: true, Tool: made[j].Tool}
		case len(missing) > 0:
			calls[j], missing = missing[0], missing[1:]
		}
	}
	return calls, needed, true
}

// expectedCall is a call that a case requires, as a list of accepted names. src is nil where the
// case has only names.
type expectedCall struct {
	names    []string
	optional bool
	src      *callvet.ExpectedCall
}

func (e *expectedCall) first() string {
	if len(e.names) == 0 {
		return ""
	}
	return e.names[0]
}

func (e *expectedCall) accepts(name string) bool {
	return slices.ContainsFunc(e.names, func(n string) bool { return callvet.SameName(n, name) })
}

type expectedCalls []expectedCall

// names reports whether one of the calls is of that tool.
func (e expectedCalls) names(tool string) bool {
	return slices.ContainsFunc(e, func(x expectedCall) bool { return x.accepts(tool) })
}

// expectation returns the calls that the case requires, under the names that count. The stored
// result names the any-of plan that the attempt was compared with. known is false where the case
// expects nothing about calls.
func expectation(c *callvet.Case, r *callvet.Result, made []callvet.Call) (e expectedCalls, known bool) {
	x := &c.Expect
	switch {
	case len(x.Plans) > 0:
		p := &x.Plans[0]
		if i := slices.IndexFunc(x.Plans,
			func(p callvet.Plan) bool { return r.Plan != "" && p.Name == r.Plan }); i >= 0 {
			p = &x.Plans[i]
		}
		for i := range p.Calls {
			e = append(e, expectedCall{r.CountsEach(p.Calls[i].Tools), p.Calls[i].Optional, &p.Calls[i]})
		}
		return e, true
	case x.ToolsCalled != nil:
		return eachNamed(r.CountsEach(x.ToolsCalled)), true
	case len(x.ToolsAcceptable) > 0:
		return nearestSet(x.ToolsAcceptable, made, r), true
	}
	return nil, false
}

func eachNamed(names []string) (e expectedCalls) {
	for _, n := range names {
		if n != callvet.NoTools {
			e = append(e, expectedCall{names: []string{n}})
		}
	}
	return e
}

// nearestSet is the acceptable set with the fewest names missing or too many.
func nearestSet(sets [][]string, made []callvet.Call, r *callvet.Result) (best expectedCalls) {
	least := -1
	for _, s := range sets {
		e := eachNamed(r.CountsEach(s))
		met := 0
		for _, j := range e.pair(made, nil) {
			met += truth(j >= 0)
		}
		if d := len(e) + len(made) - 2*met; least < 0 || d < least {
			best, least = e, d
		}
	}
	return best
}

// pair returns for each expected call the position of its actual call, -1 for none. It uses the
// comparison where there is one, otherwise inOrder.
func (e expectedCalls) pair(made []callvet.Call, compared []callvet.CallMatch) []int {
	if len(compared) == 0 {
		return inOrder(len(e), len(made), func(i, j int) bool { return e[i].accepts(made[j].Tool) },
			func(i, j int) bool {
				return gives(e[i].src, &made[j])
			})
	}
	out, taken := make([]int, len(e)), make([]bool, len(made))
	for i := range out {
		out[i] = -1
	}
	for k := range compared {
		if m := &compared[k]; m.Expected >= 0 && m.Expected < len(e) && m.Actual >= 0 && m.Actual < len(made) &&
			!taken[m.Actual] {
			out[m.Expected], taken[m.Actual] = m.Actual, true
		}
	}
	return out
}

// inOrder pairs n expected with m actual calls of accepted names without a comparison. First it
// pairs calls with equal arguments, and then each expected call with the first call that is left;
// -1 where none is left. A result without a comparison has this pairing (see scratch.notable).
func inOrder(n, m int, accepts, equal func(i, j int) bool) []int {
	out, taken := make([]int, n), make([]bool, m)
	for i := range out {
		out[i] = -1
	}
	take := func(also func(i, j int) bool) {
		for i := range out {
			for j := 0; j < m && out[i] < 0; j++ {
				if !taken[j] && accepts(i, j) && (also == nil || also(i, j)) {
					out[i], taken[j] = j, true
				}
			}
		}
	}
	if n > 1 || m > 1 {
		take(equal)
	}
	take(nil)
	return out
}

// gives reports whether a call has exactly the arguments of an expected one.
func gives(e *callvet.ExpectedCall, made *callvet.Call) bool {
	return e != nil && e.Args != nil && bytes.Equal(e.Args, made.Args)
}

// onTheWay reports whether a multi-turn case allows the call before its expected ones.
func onTheWay(mt *callvet.MultiTurn, name string, r *callvet.Result) bool {
	same := func(n string) bool { return callvet.SameName(r.Counts(n), name) }
	return slices.ContainsFunc(mt.ValidPrerequisites, same) || slices.ContainsFunc(mt.RequiredPrerequisites, same)
}

// counted are the calls under the names that they count as.
func counted(made []callvet.Call, r *callvet.Result) []callvet.Call {
	if len(r.Names) == 0 {
		return made
	}
	made = slices.Clone(made)
	for i := range made {
		made[i].Tool = r.Counts(made[i].Tool)
	}
	return made
}

// Counted are the names that the calls of an attempt count as, in their order.
func Counted(t *callvet.Trace, r *callvet.Result) []string {
	made := counted(t.Calls(), r)
	out := make([]string, len(made))
	for i := range made {
		out[i] = made[i].Tool
	}
	return out
}
