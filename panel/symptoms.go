// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// symptoms are what the attempts of a target show of the issues that most runs share.
// Source: Tool Calling Evaluation, "Common Issues".
type symptoms struct {
	silent  symptom        // under tool_choice auto, where a call is needed: no call
	spoiled symptom        // where the right tools were called: no call has the expected arguments
	mended  symptom        // the call was not where calls stand
	refused symptom        // tool_choice required was not taken
	slow    symptom        // of executions
	limited symptom        // calls that were refused or are beyond a rate limit, of executed calls
	beyond  int            // the latter
	paths   map[string]int // arguments that differ, by tool and name
	repairs map[string]int
	uses    map[string]*ToolUse // by the tool's name
}

// symptom counts attempts or calls that show something.
type symptom struct {
	count, of int
	failed    int // attempts that show it and failed
	at        []place
}

// place is an attempt of a case.
type place struct {
	index, repeat int
	id, why       string
}

// maxPlaces is how many examples of a symptom are kept: those of the first cases.
const maxPlaces = 5

func (s *symptom) see(n, of int, failed bool, at place) {
	s.of += of
	if n == 0 {
		return
	}
	s.count += n
	if failed {
		s.failed++
	}
	order := func(a, b place) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.repeat, b.repeat)) }
	if i, there := slices.BinarySearchFunc(s.at, at, order); !there && i < maxPlaces {
		s.at = slices.Insert(s.at, i, at)
		s.at = s.at[:min(len(s.at), maxPlaces)]
	}
}

// observed is an attempt as symptoms see it.
type observed struct {
	c      *callvet.Case
	target *callvet.Target
	cell   *callvet.Cell
	needed int // calls that the case needs
	failed bool
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (s *symptoms) observe(o observed) {
	tr, r := &o.cell.Trace, &o.cell.Result
	at := place{index: o.cell.Case, repeat: o.cell.Repeat, id: o.c.ID}
	untaken := slices.Contains(tr.Omitted, "tool_choice")
	wanted := cmp.Or(o.c.ToolChoice, o.target.ToolChoice, tr.ToolChoice)
	if untaken {
		wanted = "required"
	}
	switch {
	case o.needed == 0:
	case wanted == "required":
		ignored := len(tr.Calls()) == 0 && tr.Outcome == callvet.OutcomeAbstained
		s.refused.see(one(untaken || ignored), 1, o.failed, at)
	case wanted == "auto":
		s.silent.see(one(tr.Outcome == callvet.OutcomeAbstained), 1, o.failed, at)
	}
	if tr.Format == callvet.FormatNormalized {
		for _, name := range tr.Mended() {
			count(&s.repairs, name)
		}
	}
	s.mended.see(one(tr.Format == callvet.FormatNormalized), one(tr.Format != ""), o.failed, at)
	if tr.Outcome == callvet.OutcomeCalled {
		s.arguments(r, o.failed, at)
	}
}

// arguments looks at attempts in which the right tools were called and arguments are expected.
func (s *symptoms) arguments(r *callvet.Result, failed bool, at place) {
	tool, args := r.Score("tool_selection"), r.Score("arg_em")
	if !tool.Scored || tool.Value < 1 || !args.Scored {
		return
	}
	if args.Value > 0 {
		s.spoiled.of++
		return
	}
	for i := range r.Calls {
		m := &r.Calls[i]
		for k := range m.Args {
			if !m.Args[k].Matched {
				name := m.Got + "." + m.Args[k].Path
				count(&s.paths, name)
				at.why = cmp.Or(at.why, name)
			}
		}
	}
	s.spoiled.see(1, 1, failed, at)
}

func count(m *map[string]int, name string) {
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[name]++
}

// hold adds what an attempt tells of budgets and limits. An attempt shows each symptom once,
// with however many tools.
func (s *symptoms) hold(list []held, failed bool, at place) {
	hit, executed, late := 0, 0, 0
	limitedAt, slowAt := at, at
	for i := range list {
		h := &list[i]
		u := ToolUse{Name: h.tool.Name, Tool: h.tool}
		if h.tool.LatencyBudgetMS != nil {
			u.Timed, u.Over = h.timed, h.timed-h.inBudget
		}
		if h.tool.LatencyP50MS != nil {
			u.TimedMid, u.OverMid = h.timed, h.timed-h.mid
		}
		if h.tool.RateLimit != nil {
			u.Hit = h.refused + h.beyond
			s.beyond += h.beyond
			hit, executed = hit+u.Hit, executed+h.executed
		}
		if u.Hit > 0 {
			limitedAt.why = cmp.Or(limitedAt.why, u.Name)
		}
		if over := max(u.Over, u.OverMid); over > 0 {
			late += over
			slowAt.why = cmp.Or(slowAt.why, u.Name)
		}
		if s.uses == nil {
			s.uses = map[string]*ToolUse{}
		}
		if all := s.uses[u.Name]; all != nil {
			all.add(&u)
		} else {
			s.uses[u.Name] = &u
		}
	}
	s.limited.see(hit, executed, failed, limitedAt)
	s.slow.see(late, 0, failed, slowAt)
}

// Limits of what is told. A habit of one attempt in ten is what every model has; the issues
// are about nearly all of them.
const (
	minSpoiled   = 3   // attempts with the right tools
	spoiledShare = 0.9 // of them without one right call
	silentShare  = 0.5 // of the attempts under auto
)

// findings are the symptoms of the targets that count, those that explain most first.
func (a *Accumulator) findings() []Finding {
	only := slices.IndexFunc(a.cfg.Targets, func(t callvet.Target) bool { return !t.Floor }) < 0
	failing := 0
	for i := range a.targets {
		if only || !a.cfg.Targets[i].Floor {
			failing += a.targets[i].failing
		}
	}
	var out []Finding
	for _, code := range []string{"T1", "T2", "T3", "T4", "B1", "B2"} {
		p := Playbook(code)
		f := Finding{Code: code, Title: p.Title, Test: p.Test, Fix: p.Fix}
		failed := 0
		for i := range a.targets {
			if !only && a.cfg.Targets[i].Floor {
				continue
			}
			failed += a.targets[i].symptoms.tell(code, a.cfg.Targets[i].Name, &f)
		}
		if f.Count == 0 {
			continue
		}
		if failing > 0 && code != "B1" { // a slow tool makes no attempt fail
			f.Share = float64(failed) / float64(failing)
		}
		f.Examples = f.Examples[:min(len(f.Examples), maxPlaces)]
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(x, y Finding) int { return cmp.Compare(y.Share, x.Share) })
	return out
}

// tell adds what a target shows of one symptom to the finding; failed are its attempts that
// show it and failed.
func (s *symptoms) tell(code, target string, f *Finding) (failed int) {
	add := func(x *symptom, evidence ...string) int {
		f.Count, f.Of = f.Count+x.count, f.Of+x.of
		for _, e := range evidence {
			f.Evidence = append(f.Evidence, target+": "+e)
		}
		for _, at := range x.at {
			f.Examples = append(f.Examples, Example{Target: target, Task: at.id, Attempt: at.repeat, Why: at.why})
		}
		return x.failed
	}
	switch code {
	case "T1":
		if x := &s.silent; x.count > 0 && float64(x.count) >= silentShare*float64(x.of) {
			return add(x, fmt.Sprintf("%d of %s that need a call and have tool_choice auto have none", x.count, plural(x.of, "attempt", "attempts")))
		}
	case "T2":
		if x := &s.spoiled; x.of >= minSpoiled && float64(x.count) >= spoiledShare*float64(x.of) {
			return add(x, fmt.Sprintf("%d of %s with the right tools have no call with the expected arguments", x.count, plural(x.of, "attempt", "attempts")), "arguments that differ most: "+MostOf(s.paths))
		}
	case "T3":
		if x := &s.mended; x.count > 0 {
			return add(x, fmt.Sprintf("%d of %s were mended before they were scored: %s", x.count, plural(x.of, "attempt", "attempts"), MostOf(s.repairs)))
		}
	case "T4":
		if x := &s.refused; x.count > 0 {
			return add(x, fmt.Sprintf("%d of %s that had to call were made under auto, or without a call", x.count, plural(x.of, "attempt", "attempts")))
		}
	case "B1":
		if n, of, evidence := SlowTools(s.sorted()); n > 0 {
			x := s.slow
			x.count, x.of = n, of
			return add(&x, evidence...)
		}
	case "B2":
		if x := &s.limited; x.count > 0 {
			return add(x, LimitedTools(x.count-s.beyond, x.of, s.beyond, s.sorted())...)
		}
	}
	return 0
}

// sorted are the uses of tools by name.
func (s *symptoms) sorted() []ToolUse {
	var out []ToolUse
	for _, name := range slices.Sorted(maps.Keys(s.uses)) {
		out = append(out, *s.uses[name])
	}
	return out
}

// MostOf lists the three greatest counts: "a (5), b (2), c (2)".
func MostOf[N int | int64](m map[string]N) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	keys = keys[:min(len(keys), 3)]
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s (%d)", k, m[k])
	}
	return strings.Join(keys, ", ")
}
