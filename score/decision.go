// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/selection"
)

// decided judges a target that selects tools and does not call them.
func (s *Scorer) decided(c *callvet.Case, d *callvet.Decision) callvet.Result {
	want, ok := selection.Of(&c.Expect)
	if !ok {
		return callvet.Result{Verdict: callvet.VerdictNotRun, Reason: "the case says nothing about which tools are right"}
	}
	sc := merge(s.suite.Defaults.Scoring, c.Scoring)
	set, _ := selection.SettingsOf(sc.Selection) // compile has told what is wrong with it
	return selection.Judge(&want, d, set)
}

// idle says why an attempt that made calls cannot be judged by a case without
// assertions about calls.
func idle(c *callvet.Case) string {
	if c.Expect.Selection != nil {
		return "the case asks for a decision (a router or retriever), and says nothing of calls"
	}
	return "the case asserts nothing"
}
