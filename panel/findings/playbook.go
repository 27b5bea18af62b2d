// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet/panel"
)

// play is one entry of the playbook. Source: Evaluating Tool Calling, §7.
type play struct {
	code, title, unit, test, fix string
}

var playbook = [Kinds]play{
	rejected: {
		"S1", "Calls break their contract", "calls",
		"Count the rejected calls and look at the arguments that are named most.",
		"Show the schema and a valid example call in the prompt; narrow types and enums in the schema; mend payloads that can be mended before they are sent.",
	},
	wrongTool: {
		"S2", "The wrong tool is called", "calls",
		"Look at the confusion table: which tool is called in place of which.",
		"Put a catalog with one line a tool into the prompt, say how similar tools differ, and add examples in which no tool is called.",
	},
	wrongArguments: {
		"S3", "The right tool gets wrong arguments", "calls",
		"Compare emitted with expected arguments, key by key, on the examples.",
		"Map what users say to the values the schema allows, with a resolver tool where there are many; ask for confirmation of risky values.",
	},
	notExecuted: {
		"S4", "Calls fail or time out", "calls",
		"Look at the share of errors and at the p90 of the tool's latency, by tool.",
		"Retry with growing pauses, set shorter time limits, cache, and take slow tools out of the critical path.",
	},
	chatter: {
		"S5", "Calls that nothing needed", "calls",
		"Look at the over-call rate by task, and whether the answer uses the results.",
		"Allow calls only where evidence or computation is missing, and count unneeded calls against the model.",
	},
	unsafeCalls: {
		"S6", "Calls break safety rules", "calls",
		"List the calls that broke a rule, and what would have stopped them.",
		"Deny by default at run time: allowed tools and domains only, personal data removed, a confirmation before anything is changed.",
	},
	unsteady: {
		"S7", "The same call gives different results", "repeated calls",
		"Replay the call twice with the same arguments and compare.",
		"Replay with recorded results; where results must be live, check post-conditions instead of equality.",
	},
}

// Findings are the symptoms that occur, those that explain most first. name gives
// a tool's name by its number; locate fills in where an example's line is.
func (s *Counts) Findings(name func(uint32) string, locate func(*panel.Example)) []panel.Finding {
	s.tally()
	var out []panel.Finding
	for k := range Kinds {
		x := &s.Of[k]
		if x.Count == 0 {
			continue
		}
		p := &playbook[k]
		f := panel.Finding{Code: p.code, Title: p.title, Count: int(x.Count), Of: int(x.Of), Test: p.test, Fix: p.fix}
		if k != unsteady && s.Failing > 0 {
			f.Share = float64(x.Count) / float64(s.Failing)
		}
		f.Evidence = s.evidence(k, x, name)
		for _, at := range x.First {
			e := panel.Example{Target: at.Target, Task: at.Task, Attempt: at.Attempt, Call: at.Call, Line: at.Line, Why: name(at.Tool)}
			locate(&e)
			f.Examples = append(f.Examples, e)
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, byShare)
	return out
}

// byShare puts what explains most first.
func byShare(a, b panel.Finding) int {
	return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
}

func (s *Counts) evidence(k int, x *Symptom, name func(uint32) string) []string {
	ev := []string{fmt.Sprintf("%d of %d %s (%.2f %%)", x.Count, x.Of, playbook[k].unit, 100*float64(x.Count)/float64(max(x.Of, 1)))}
	if k == unsteady {
		ev[0] = fmt.Sprintf("%d of %d repeated calls gave another result", x.Count, x.Of)
	} else {
		ev = append(ev, fmt.Sprintf("%d steps have something wrong with them", s.Failing))
	}
	if x.Timeouts > 0 {
		ev = append(ev, fmt.Sprintf("%d of them timed out", x.Timeouts))
	}
	if x.Unnamed > 0 {
		ev = append(ev, fmt.Sprintf("%d of them name a tool that is in no catalog", x.Unnamed))
	}
	tools := map[string]int64{}
	for n, c := range x.Tools {
		if c != 0 {
			tools[name(uint32(n))] += c
		}
	}
	if t := most(tools); t != "" {
		ev = append(ev, "tools hit most: "+t)
	}
	if t := most(x.Paths); t != "" {
		ev = append(ev, "arguments hit most: "+t)
	}
	return ev
}

// most lists the three greatest counts.
func most(m map[string]int64) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	text := ""
	for i, k := range keys[:min(len(keys), 3)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s (%d)", k, m[k])
	}
	return text
}
