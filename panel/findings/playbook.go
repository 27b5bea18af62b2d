// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package findings

import (
	"cmp"
	"fmt"
	"maps"
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
			f.Count, f.Of, f.Evidence = s.slowTools(name, contract)
		case limited:
			f.Count += int(x.Beyond)
			f.Evidence = s.limits(x, name, contract)
		default:
			f.Evidence = s.evidence(k, x, name)
		}
		if f.Count == 0 {
			continue
		}
		if k != unsteady && k != slow && s.Failing > 0 {
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

// limits tells which tools refused calls, and which were called more often than allowed.
func (s *Counts) limits(x *Symptom, name func(uint32) string, contract func(string) *callvet.Tool) []string {
	var ev []string
	if x.Count > 0 {
		ev = append(ev, fmt.Sprintf("%d of %d executed calls were refused (%.2f %%)", x.Count, x.Of, 100*float64(x.Count)/float64(max(x.Of, 1))))
	}
	if x.Beyond > 0 {
		ev = append(ev, fmt.Sprintf("%d calls are more than the limits allow in the time of their attempts", x.Beyond))
	}
	for _, n := range byName(len(x.Tools), name) {
		if x.Tools[n] == 0 {
			continue
		}
		line := fmt.Sprintf("%s: %d calls", name(n), x.Tools[n])
		if t := contract(name(n)); t != nil && t.RateLimit != nil {
			line += fmt.Sprintf(", its limit is %d in %g s", t.RateLimit.Calls, t.RateLimit.PerSeconds)
		}
		ev = append(ev, line)
	}
	return ev
}

// slowTools tells which tools exceed their budget: more than one in ten executions, or more
// than half of them, took longer.
func (s *Counts) slowTools(name func(uint32) string, contract func(string) *callvet.Tool) (count, of int, ev []string) {
	for _, n := range byName(len(s.times), name) {
		x := &s.times[n]
		budget, mid := "its budget", "half of them should"
		if t := contract(name(n)); t != nil {
			if t.LatencyBudgetMS != nil {
				budget = fmt.Sprintf("%g ms", *t.LatencyBudgetMS)
			}
			if t.LatencyP50MS != nil {
				mid = fmt.Sprintf("%g ms", *t.LatencyP50MS)
			}
		}
		if 10*x.over > x.of {
			count, of = count+int(x.over), of+int(x.of)
			ev = append(ev, fmt.Sprintf("%s: %d of %d executions took longer than %s (%.1f %%, and the budget allows 10 %%)", name(n), x.over, x.of, budget, 100*float64(x.over)/float64(x.of)))
		} else if 2*x.overMid > x.ofMid {
			count, of = count+int(x.overMid), of+int(x.ofMid)
		}
		if 2*x.overMid > x.ofMid {
			ev = append(ev, fmt.Sprintf("%s: %d of %d executions took longer than %s (%.1f %%, and the budget allows half)", name(n), x.overMid, x.ofMid, mid, 100*float64(x.overMid)/float64(x.ofMid)))
		}
	}
	return count, of, ev
}

// byName are the numbers of tools below n, by their names.
func byName(n int, name func(uint32) string) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(i)
	}
	slices.SortFunc(out, func(a, b uint32) int { return cmp.Compare(name(a), name(b)) })
	return out
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
