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

// Signs counts what scored attempts show of the issues that most runs share, by the number of
// their target. They are sums, and merge in any order. The zero value is empty.
// Source: Tool Calling Evaluation, "Common Issues".
type Signs struct{ of map[uint32]*attempts }

// attempts are those of a target.
type attempts struct {
	floor   bool  // it is a baseline that any model must beat
	failing int64 // attempts that failed
	signs   [signs]sign
}

// signs is how many issues there are: T1 to T7 of the playbook. A scorer looks for the first
// Scored of them; the others show in how attempts ended.
const (
	Scored = 4
	signs  = 7
)

// SignCode is the code of an issue by its position, from 0.
func SignCode(i int) string { return "T" + string(rune('1'+i)) }

// sign counts the attempts that show one of them.
type sign struct {
	count, of, failed int64
	why               map[string]int64
	first             []Sighting
}

// Limits of what is told. A habit of one attempt in ten is what every model has; the issues
// are about nearly all of them.
const (
	minSpoiled   = 3   // attempts with the right tools
	spoiledShare = 0.9 // of them without one right call
	silentShare  = 0.5 // of the attempts under auto
)

func (s *Signs) target(n uint32) *attempts {
	if s.of == nil {
		s.of = map[uint32]*attempts{}
	}
	if s.of[n] == nil {
		s.of[n] = &attempts{}
	}
	return s.of[n]
}

// Attempt counts an attempt at a target, and says of the target whether it is a baseline that any
// model must beat, and whether it answers the same each time.
func (s *Signs) Attempt(target uint32, floor, failed bool) {
	a := s.target(target)
	a.floor = a.floor || floor
	a.failing += one(failed)
}

// See counts an attempt that could show the issue at a position; shown tells that it does, why in
// what. Of at, only what is kept of the first ones is read.
func (s *Signs) See(target uint32, issue int, shown, failed bool, why []string, at *Call) {
	if issue < 0 || issue >= signs {
		return
	}
	x := &s.target(target).signs[issue]
	x.of++
	if !shown {
		return
	}
	x.count++
	x.failed += one(failed)
	for _, w := range why {
		x.name(w, 1)
	}
	if len(x.first) < maxSightings || at.Line < x.first[len(x.first)-1].Line {
		first := ""
		if len(why) > 0 && issue == 1 { // the first argument that differs
			first = why[0]
		}
		x.keep(Sighting{Line: at.Line, Target: string(at.Target), Task: string(at.Task), Call: first, Attempt: at.Attempt})
	}
}

// End counts an attempt that ran, for the issues that show in how it ended: reason is why it is
// unparseable, or the kind of its error, "" for neither.
func (s *Signs) End(target uint32, reason string, failed bool, at *Call) {
	shown := -1
	switch reason {
	case string(callvet.ReasonTokens), string(callvet.ReasonContext), string(callvet.ReasonCut), string(callvet.ReasonCutCall):
		shown = 4
	case string(callvet.FaultFiltered), string(callvet.FaultRefused):
		shown = 5
	case string(callvet.ReasonThoughts), string(callvet.ReasonEmpty):
		shown = 6
	}
	why := []string{panel.Word(reason)}
	for issue := Scored; issue < signs; issue++ {
		s.See(target, issue, issue == shown, failed, why, at)
	}
}

func (x *sign) name(w string, n int64) {
	if x.why == nil {
		x.why = map[string]int64{}
	}
	if _, ok := x.why[w]; !ok && len(x.why) >= maxPaths {
		w = beyond
	}
	x.why[w] += n
}

func (x *sign) keep(at Sighting) {
	i, _ := slices.BinarySearchFunc(x.first, at, func(a, b Sighting) int { return cmp.Compare(a.Line, b.Line) })
	x.first = slices.Insert(x.first, i, at)
	x.first = x.first[:min(len(x.first), maxSightings)]
}

// Floor reports whether a target is a baseline that any model must beat.
func (s *Signs) Floor(target uint32) bool { return s.of[target] != nil && s.of[target].floor }

// OnlyFloors reports whether no target is known that is no baseline.
func (s *Signs) OnlyFloors() bool {
	for _, a := range s.of {
		if !a.floor {
			return false
		}
	}
	return true
}

// Merge adds the counts of other attempts.
func (s *Signs) Merge(o *Signs) {
	for n, b := range o.of {
		a := s.target(n)
		a.floor, a.failing = a.floor || b.floor, a.failing+b.failing
		for i := range b.signs {
			x, y := &a.signs[i], &b.signs[i]
			x.count, x.of, x.failed = x.count+y.count, x.of+y.of, x.failed+y.failed
			for w, n := range y.why {
				x.name(w, n)
			}
			for _, f := range y.first {
				x.keep(f)
			}
		}
	}
}

// Findings are the issues that the targets show, baselines left out where there are others; name
// gives the name of a target by its number.
func (s *Signs) Findings(name func(uint32) string, locate func(*panel.Example)) []panel.Finding {
	targets := slices.SortedFunc(maps.Keys(s.of), func(a, b uint32) int { return cmp.Compare(name(a), name(b)) })
	if !s.OnlyFloors() {
		targets = slices.DeleteFunc(targets, func(n uint32) bool { return s.of[n].floor })
	}
	failing := int64(0)
	for _, n := range targets {
		failing += s.of[n].failing
	}
	var out []panel.Finding
	for i := range signs {
		p := panel.Playbook(SignCode(i))
		f := panel.Finding{Code: p.Code, Title: p.Title, Test: p.Test, Fix: p.Fix}
		failed := int64(0)
		for _, n := range targets {
			x := &s.of[n].signs[i]
			evidence := x.evidence(i)
			if evidence == nil {
				continue
			}
			f.Count, f.Of, failed = f.Count+int(x.count), f.Of+int(x.of), failed+x.failed
			for _, e := range evidence {
				f.Evidence = append(f.Evidence, name(n)+": "+e)
			}
			for _, at := range x.first {
				e := panel.Example{Target: at.Target, Task: at.Task, Attempt: at.Attempt, Line: at.Line, Why: at.Call}
				locate(&e)
				f.Examples = append(f.Examples, e)
			}
		}
		if f.Count == 0 {
			continue
		}
		if failing > 0 {
			f.Share = float64(failed) / float64(failing)
		}
		f.Examples = f.Examples[:min(len(f.Examples), maxSightings)]
		out = append(out, f)
	}
	slices.SortStableFunc(out, byShare)
	return out
}

// evidence says what the attempts of a target show of an issue; nil where that is too little to
// be told.
func (x *sign) evidence(issue int) []string {
	of := panel.Plural(int(x.of), "attempt", "attempts")
	switch {
	case x.count == 0:
		return nil
	case issue == 0:
		if float64(x.count) < silentShare*float64(x.of) {
			return nil
		}
		return []string{fmt.Sprintf("%d of %s that need a call and have tool_choice auto have none", x.count, of)}
	case issue == 1:
		if x.of < minSpoiled || float64(x.count) < spoiledShare*float64(x.of) {
			return nil
		}
		return []string{fmt.Sprintf("%d of %s with the right tools have no call with the expected arguments", x.count, of), "arguments that differ most: " + panel.MostOf(x.why)}
	case issue == 2:
		return []string{fmt.Sprintf("%d of %s were mended before they were scored: %s", x.count, of, panel.MostOf(x.why))}
	}
	if issue == 3 {
		return []string{fmt.Sprintf("%d of %s that had to call were made under auto, or without a call", x.count, of)}
	}
	return []string{fmt.Sprintf("%d of %s: %s", x.count, of, panel.MostOf(x.why))}
}

// Write appends what Read reads.
func (s *Signs) Write(w Writer) {
	w.Uint(uint64(len(s.of)))
	for _, n := range slices.Sorted(maps.Keys(s.of)) {
		a := s.of[n]
		w.Uint(uint64(n))
		w.Bool(a.floor)
		w.Int(a.failing)
		for i := range a.signs {
			x := &a.signs[i]
			w.Int(x.count)
			w.Int(x.of)
			w.Int(x.failed)
			w.Uint(uint64(len(x.why)))
			for _, k := range slices.Sorted(maps.Keys(x.why)) {
				w.Text(k)
				w.Int(x.why[k])
			}
			w.Uint(uint64(len(x.first)))
			for _, f := range x.first {
				w.Int(f.Line)
				w.Text(f.Target)
				w.Text(f.Task)
				w.Text(f.Call)
				w.Int(int64(f.Attempt))
			}
		}
	}
}

// Read adds what was written. Lines are counted shift higher, and targets gives the numbers of
// the targets by those that were written. Errors stay in r.
func (s *Signs) Read(r Reader, shift int64, targets []uint32) {
	for range r.Count() {
		a := s.target(r.Number(targets))
		a.floor = r.Bool() || a.floor
		a.failing += r.Int()
		for i := range a.signs {
			x := &a.signs[i]
			x.count, x.of, x.failed = x.count+r.Int(), x.of+r.Int(), x.failed+r.Int()
			for range r.Count() {
				x.name(r.Text(), r.Int())
			}
			for range r.Count() {
				x.keep(Sighting{Line: r.Int() + shift, Target: r.Text(), Task: r.Text(), Call: r.Text(), Attempt: int(r.Int())})
			}
		}
	}
}
