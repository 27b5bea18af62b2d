// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
)

// Sign is the result for an issue that most runs share: does the attempt show it?
// Source: Tool Calling Evaluation, "Common Issues".
type Sign struct {
	// Code is the code of the playbook, T1 to T4.
	Code string `json:"code" form:"required words=T1|T2|T3|T4"`
	// Shown is false where the attempt could have shown it and did not.
	Shown bool `json:"shown,omitempty"`
	// Why names the evidence: repairs (T3), or arguments that differ (T2, also where Shown is
	// false).
	Why []string `json:"why,omitempty"`
}

// Signs finds the issues in an attempt that needs needed calls. The list does not contain issues
// that the attempt could not have shown.
func Signs(c *callvet.Case, target *callvet.Target, t *callvet.Trace, r *callvet.Result, needed int) []Sign {
	var out []Sign
	see := func(code string, shown bool, why ...string) { out = append(out, Sign{code, shown, why}) }
	untaken := slices.Contains(t.Omitted, "tool_choice")
	wanted := cmp.Or(c.ToolChoice, target.ToolChoice, t.ToolChoice)
	if untaken {
		wanted = "required"
	}
	switch {
	case needed == 0:
	case wanted == "required":
		see("T4", untaken || len(t.Calls()) == 0 && t.Outcome == callvet.OutcomeAbstained)
	case wanted == "auto":
		see("T1", t.Outcome == callvet.OutcomeAbstained)
	}
	switch t.Format {
	case "":
	case callvet.FormatNormalized:
		see("T3", true, t.Mended()...)
	default:
		see("T3", false)
	}
	if t.Outcome == callvet.OutcomeCalled {
		if tool, args := r.Score(ToolSelection), r.Score(ArgEM); tool.Scored && tool.Value == 1 && args.Scored {
			see("T2", args.Value == 0, differing(r)...)
		}
	}
	return out
}

// differing names the arguments of an attempt that differ, each with its tool.
func differing(r *callvet.Result) []string {
	var out []string
	for i := range r.Calls {
		m := &r.Calls[i]
		for k := range m.Args {
			if !m.Args[k].Matched {
				out = append(out, m.Got+"."+m.Args[k].Path)
			}
		}
	}
	return out
}
