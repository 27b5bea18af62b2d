// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// decided judges a target that selects tools and does not call them.
func (k *Compiled) decided(t *callvet.Trace) callvet.Result {
	want, ok := SelectionOf(&k.src.Expect)
	if !ok {
		return callvet.Result{
			Verdict: callvet.VerdictNotRun,
			Reason:  "the case says nothing about which tools are right",
		}
	}
	set, _ := SelectionSettingsOf(k.scoring.Selection) // Compile has reported its mistakes
	names := callvet.Result{Names: k.counted(t)}
	r := JudgeSelection(&want, names.CountsDecision(t.Decision), set)
	r.Names = names.Names
	at := slices.IndexFunc(r.Assertions, func(a callvet.Assertion) bool { return a.Name == callvet.SelectTools })
	for _, name := range t.Decision.Names() {
		if as := r.Counts(name); as != name && at >= 0 {
			r.Assertions[at].Actual += "; " + callvet.CountedAs(name, as)
		}
	}
	return r
}

// givenTool is the name that a selected tool counts as: the name of the offered tool, or of the
// expected one where the offered tools are unknown.
func (k *Compiled) givenTool(name string, want *callvet.Selection) string {
	name = k.naming.Of(name)
	if k.scoring.CaseSensitiveNames {
		return name
	}
	if k.tools != nil {
		if t := k.tools.find(name, false); t != nil {
			return t.src.Name
		}
		return name
	}
	for _, list := range [][]string{want.Tools, want.Acceptable} {
		for _, n := range list {
			if callvet.SameName(n, name) {
				return n
			}
		}
	}
	return name
}

// Idle returns why no attempt at the case can be judged, whatever the target does. It is empty
// when an attempt can be judged, and when the case asserts nothing at all, which lint refuses.
// selects: the target selects tools and does not call them.
func (k *Compiled) Idle(selects bool) string {
	c := k.src
	left := c.Expect.Unevaluated()
	if !selects && k.asserts {
		return k.tooMany(0)
	}
	if _, decides := SelectionOf(&c.Expect); selects && decides {
		return ""
	}
	if selects || len(left) == 0 && c.Expect.Selection == nil {
		return ""
	}
	return idle(c, left)
}

// idle returns why an attempt that made calls cannot be judged by a case without assertions about
// calls.
func idle(c *callvet.Case, left []callvet.Assertion) string {
	switch {
	case len(left) > 0:
		return "nothing could be evaluated: " + why(left)
	case c.Expect.Selection != nil:
		return "the case asks for a decision (a router or retriever), and says nothing of calls"
	}
	return "the case asserts nothing"
}

// why returns the reason for which the first of some assertions was not evaluated.
func why(as []callvet.Assertion) string {
	if len(as) == 0 {
		return "the case asserts nothing"
	}
	a := as[0]
	more := ""
	if n := len(as) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return a.Name + ": " + a.Reason + more
}
