// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// SymptomNames has functions that resolve numbers and other data for findings.
type SymptomNames struct {
	Tool, Target func(uint32) string
	Contract     func(tool string) *callvet.Tool // nil: none is known
	Locate       func(*panel.Example)            // sets the file and line of an example
}

// SymptomFindings are the symptoms of calls and attempts that occur, ordered by how many failing attempts
// show them. calls has the calls of the targets that count.
func SymptomFindings(calls *SymptomCounts, of *AttemptSigns, names *SymptomNames) []panel.Finding {
	targets := of.counted(names.Target)
	var failing, passing int64
	var all [symptomKinds]shown
	for _, n := range targets {
		t := of.of[n]
		failing, passing = failing+t.failing, passing+t.passing
		for k := range all {
			all[k].merge(&t.shown[k])
		}
	}
	calls.tally()
	out := of.findings(targets, names.Target, names.Locate)
	for k := range symptomKinds {
		f := calls.finding(k, names)
		all[k].add(&f, k, failing, passing, names)
		if f.Count > 0 {
			out = append(out, f)
		}
	}
	for i := range out {
		f := &out[i]
		if f.Failed > 0 {
			f.Failing, f.Share = int(failing), float64(f.Failed)/float64(failing)
		}
	}
	slices.SortStableFunc(out, byShare)
	return out
}

// found is the empty finding of a code.
func found(code string) panel.Finding {
	p := panel.Playbook(code)
	return panel.Finding{Code: p.Code, Title: p.Title, Unit: p.Unit, Evidence: []string{}, Test: p.Test, Fix: p.Fix}
}

func example(at *Sighting, why string, locate func(*panel.Example)) panel.Example {
	if at.Passed {
		why = strings.TrimPrefix(why+", in an attempt that passed", ", ")
	}
	e := panel.Example{Target: at.Target, Task: at.Task, Attempt: at.Attempt, Line: at.Line, Why: why}
	locate(&e)
	return e
}

// byShare orders findings by the share of failing attempts, the largest first.
func byShare(a, b panel.Finding) int {
	return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
}

// finding is the finding of a kind from calls; its Count is 0 where no call shows it.
func (s *SymptomCounts) finding(k int, names *SymptomNames) panel.Finding {
	f := found(codeOf(k))
	if k >= SymptomKinds {
		return f
	}
	x := &s.Of[k]
	f.Count, f.Of = int(x.Count), int(x.Of)
	switch k {
	case slow:
		f.Count, f.Of, f.Evidence = panel.SlowTools(s.uses(names.Tool, names.Contract))
	case limited:
		f.Count, f.Of = f.Count+int(x.Beyond), int(s.Steps)
		f.Evidence = panel.LimitedTools(int(x.Count), int(x.Of), int(x.Beyond), s.uses(names.Tool, names.Contract))
	default:
		if f.Count > 0 {
			f.Evidence = x.evidence(names.Tool)
		}
	}
	for i := range x.First {
		at := &x.First[i]
		e := example(at, names.Tool(at.Tool), names.Locate)
		e.Call = at.Call
		f.Examples = append(f.Examples, e)
	}
	return f
}

// add adds the counts of whole attempts for the kind k. Where no call shows it, failing attempts
// are counted instead of calls.
func (x *shown) add(f *panel.Finding, k int, failing, passing int64, names *SymptomNames) {
	if f.Failed = int(x.failed); f.Failed > 0 && f.Count == 0 {
		f.Count, f.Of, f.Unit, f.Evidence = f.Failed, int(failing), panel.UnitFailing, []string{}
	}
	if most := panel.MostOf(x.why); most != "" {
		what := "class of the attempts: "
		if k == wrongArguments {
			what = "arguments that differ most: "
		}
		f.Evidence = append(f.Evidence, what+most)
	}
	if x.passed > 0 && !Passed.cites(k) {
		has := "have such a call"
		if k == chatter {
			has = "make a call that is not needed"
		}
		f.Evidence = append(f.Evidence,
			fmt.Sprintf("%d of %d passing attempts %s: they are no failures", x.passed, passing, has))
	}
	for i := range x.first {
		if len(f.Examples) < maxSightings {
			f.Examples = append(f.Examples, example(&x.first[i], x.first[i].Call, names.Locate))
		}
	}
}

// evidence names the tools and arguments of the calls that show a symptom.
func (s *Symptom) evidence(name func(uint32) string) []string {
	ev := []string{}
	if s.Timeouts > 0 {
		ev = append(ev, panel.Plural(int(s.Timeouts), "call", "calls")+" timed out")
	}
	if s.Unnamed > 0 {
		ev = append(ev, panel.Plural(int(s.Unnamed), "call names", "calls name")+" a tool that is in no catalog")
	}
	tools := map[string]int64{}
	for n, c := range s.Tools {
		if c != 0 {
			tools[name(uint32(n))] += c
		}
	}
	if t := panel.MostOf(tools); t != "" {
		ev = append(ev, "tools hit most: "+t)
	}
	if t := panel.MostOf(s.Paths); t != "" {
		ev = append(ev, "arguments hit most: "+t)
	}
	return ev
}

// uses are the counts about budgets and limits of tools, by their names.
func (s *SymptomCounts) uses(name func(uint32) string, contract func(string) *callvet.Tool) []panel.ToolUse {
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
