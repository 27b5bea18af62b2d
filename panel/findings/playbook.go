// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// Findings are the symptoms that occur, those that explain most first. name gives
// a tool's name by its number and contract what is known of it, nil for nothing; locate
// fills in where an example's line is.
func (s *Counts) Findings(name func(uint32) string, contract func(string) *callvet.Tool, locate func(*panel.Example)) []panel.Finding {
	s.tally()
	var out []panel.Finding
	for k := range Kinds {
		x := &s.Of[k]
		p := panel.Playbook(codes[k])
		f := panel.Finding{Code: p.Code, Title: p.Title, Count: int(x.Count), Of: int(x.Of), Test: p.Test, Fix: p.Fix}
		switch k {
		case slow:
			f.Count, f.Of, f.Evidence = panel.SlowTools(s.uses(name, contract))
		case limited:
			f.Count += int(x.Beyond)
			f.Evidence = panel.LimitedTools(int(x.Count), int(x.Of), int(x.Beyond), s.uses(name, contract))
		default:
			f.Evidence = s.evidence(k, x, name)
		}
		if f.Count == 0 {
			continue
		}
		if k != unsteady && k != slow && k != loops && s.Failing > 0 {
			f.Share = min(1, float64(x.Count)/float64(s.Failing))
		}
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
	ev := []string{fmt.Sprintf("%d of %d %s (%.2f %%)", x.Count, x.Of, panel.Playbook(codes[k]).Unit, 100*float64(x.Count)/float64(max(x.Of, 1)))}
	switch k {
	case unsteady:
		ev[0] = fmt.Sprintf("%d of %d repeated calls gave another result", x.Count, x.Of)
	case loops:
		ev[0] = fmt.Sprintf("%d of %d calls with the arguments of an earlier one of their attempt had the same result", x.Count, x.Of)
	default:
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
	if t := panel.MostOf(tools); t != "" {
		ev = append(ev, "tools hit most: "+t)
	}
	if t := panel.MostOf(x.Paths); t != "" {
		ev = append(ev, "arguments hit most: "+t)
	}
	return ev
}

// uses are what is known of the budgets and limits of tools, by their names.
func (s *Counts) uses(name func(uint32) string, contract func(string) *callvet.Tool) []panel.ToolUse {
	hit := s.Of[limited].Tools
	out := make([]panel.ToolUse, max(len(s.times), len(hit)))
	for n := range out {
		u := &out[n]
		u.Name = name(uint32(n))
		u.Tool = contract(u.Name)
		if n < len(s.times) {
			x := &s.times[n]
			u.Timed, u.Over, u.TimedMid, u.OverMid = int(x.of), int(x.over), int(x.ofMid), int(x.overMid)
		}
		if n < len(hit) {
			u.Hit = int(hit[n])
		}
	}
	slices.SortFunc(out, func(a, b panel.ToolUse) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
