// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// AttemptSigns counts issues of attempts (T1 to T9), and the symptoms and classes of failing attempts, by
// the number of their target. They are sums, and merge in any order. The zero value is empty.
// Source: Tool Calling Evaluation, "Common Issues".
type AttemptSigns struct{ of map[uint32]*attempts }

// attempts are the attempts of a target.
type attempts struct {
	floor            bool  // it is a baseline that any model must beat
	failing, passing int64 // attempts that failed and that passed
	signs            [signs]sign
	shown            [symptomKinds]shown // by the kind of symptom or failure
}

// signs is the number of issues: T1 to T9 of the playbook. A scorer detects the first ScorerSigns of
// them; the others follow from how attempts ended.
const (
	signs  = 9
	mended = 2 // T3
)

// SignCode is the code of an issue by its position, from 0.
func SignCode(i int) string { return "T" + string(rune('1'+i)) }

// sign counts the attempts with one issue.
type sign struct {
	count, of, failed int64
	why               map[string]int64
	first             []Sighting
}

// Limits for reporting an issue. Every model shows some of them in one attempt in ten; an issue
// concerns nearly all attempts.
const (
	minSpoiled   = 3   // attempts with the right tools
	spoiledShare = 0.9 // share of these without one right call
	silentShare  = 0.5 // share of the attempts under auto
)

func (s *AttemptSigns) target(n uint32) *attempts {
	if s.of == nil {
		s.of = map[uint32]*attempts{}
	}
	if s.of[n] == nil {
		s.of[n] = &attempts{}
	}
	return s.of[n]
}

// See counts an attempt that could show the issue at a position. shown: it does; why names where.
// at is only read for the first attempts.
func (s *AttemptSigns) See(target uint32, issue int, shown bool, why []string, at *SymptomCall) {
	if issue < 0 || issue >= signs {
		return
	}
	x := &s.target(target).signs[issue]
	x.of++
	if !shown {
		return
	}
	x.count++
	x.failed += oneSymptom(at.Ended == Failed)
	for _, w := range why {
		x.name(w, 1)
	}
	if at.Ended == Passed && issue != mended { // this one is no failure
		return
	}
	if len(x.first) < maxSightings || at.Line < x.first[len(x.first)-1].Line {
		first := ""
		if len(why) > 0 && (issue == 1 || issue >= ScorerSigns) { // the first argument that differs, or the reason
			first = why[0]
		}
		keep(&x.first, at.attempt(first))
	}
}

// End counts an attempt that ran for the issues that follow from its end. reason is why it is
// unparseable, or the kind of its error; "" where it is not known.
func (s *AttemptSigns) End(target uint32, outcome callvet.Outcome, reason string, at *SymptomCall) {
	shown := -1
	switch reason {
	case string(callvet.ReasonTokens), string(callvet.ReasonContext), string(callvet.ReasonCut),
		string(callvet.ReasonCutCall):
		shown = 4
	case string(callvet.FaultFiltered), string(callvet.FaultRefused):
		shown = 5
	case string(callvet.ReasonThoughts), string(callvet.ReasonEmpty):
		shown = 6
	default:
		switch outcome {
		case callvet.OutcomeUnparseable:
			shown = 7
		case callvet.OutcomeError:
			shown = 8
		}
	}
	why := []string{panel.Word(cmp.Or(reason, "no reason is recorded"))}
	for issue := ScorerSigns; issue < signs; issue++ {
		s.See(target, issue, issue == shown, why, at)
	}
}

func (x *sign) name(w string, n int64) { name(&x.why, w, n) }

// name adds n to the count of a name; at most maxPaths names are kept.
func name(m *map[string]int64, w string, n int64) {
	if *m == nil {
		*m = map[string]int64{}
	}
	if _, ok := (*m)[w]; !ok && len(*m) >= maxPaths {
		w = beyond
	}
	(*m)[w] += n
}

// Floor reports whether a target is a baseline that any model must beat.
func (s *AttemptSigns) Floor(target uint32) bool { return s.of[target] != nil && s.of[target].floor }

// OnlyFloors reports whether all known targets are baselines.
func (s *AttemptSigns) OnlyFloors() bool {
	for _, a := range s.of {
		if !a.floor {
			return false
		}
	}
	return true
}

// Merge adds the counts of other attempts.
func (s *AttemptSigns) Merge(o *AttemptSigns) {
	for n, b := range o.of {
		a := s.target(n)
		a.floor, a.failing, a.passing = a.floor || b.floor, a.failing+b.failing, a.passing+b.passing
		for i := range b.signs {
			x, y := &a.signs[i], &b.signs[i]
			x.count, x.of, x.failed = x.count+y.count, x.of+y.of, x.failed+y.failed
			for w, n := range y.why {
				x.name(w, n)
			}
			for _, f := range y.first {
				keep(&x.first, f)
			}
		}
		for k := range b.shown {
			a.shown[k].merge(&b.shown[k])
		}
	}
}

// counted are the numbers of the targets that count, by their names: baselines are left out where
// there are others.
func (s *AttemptSigns) counted(name func(uint32) string) []uint32 {
	targets := slices.SortedFunc(maps.Keys(s.of), func(a, b uint32) int { return cmp.Compare(name(a), name(b)) })
	if !s.OnlyFloors() {
		targets = slices.DeleteFunc(targets, func(n uint32) bool { return s.of[n].floor })
	}
	return targets
}

// findings are the issues that these targets show.
func (s *AttemptSigns) findings(targets []uint32, name func(uint32) string, locate func(*panel.Example)) []panel.Finding {
	var out []panel.Finding
	for i := range signs {
		f, habit := found(SignCode(i)), false
		for _, n := range targets {
			x := &s.of[n].signs[i]
			f.Count, f.Of, f.Failed = f.Count+int(x.count), f.Of+int(x.of), f.Failed+int(x.failed)
			if !x.habit(i) {
				continue
			}
			if e := x.evidence(); len(targets) > 1 {
				f.Evidence = append(f.Evidence,
					fmt.Sprintf("%s: %d of %d%s", cmp.Or(name(n), "without a target's name"), x.count, x.of, e))
			} else if e != "" {
				f.Evidence = append(f.Evidence, strings.TrimPrefix(e, ", "))
			}
			for _, at := range x.first {
				f.Examples = append(f.Examples, example(&at, at.Call, locate))
			}
			habit = true
		}
		if !habit {
			continue
		}
		f.Examples = f.Examples[:min(len(f.Examples), maxSightings)]
		out = append(out, f)
	}
	return out
}

// habit reports whether attempts of a target show an issue often enough to be reported.
func (x *sign) habit(issue int) bool {
	switch issue {
	case 0:
		return x.count > 0 && float64(x.count) >= silentShare*float64(x.of)
	case 1:
		return x.of >= minSpoiled && float64(x.count) >= spoiledShare*float64(x.of)
	}
	return x.count > 0
}

// evidence names the places where the attempts show the issue.
func (x *sign) evidence() string {
	if most := panel.MostOf(x.why); most != "" {
		return ", " + most
	}
	return ""
}

// Write appends what Read reads.
func (s *AttemptSigns) Write(w SymptomWriter) {
	w.Uint(uint64(len(s.of)))
	for _, n := range slices.Sorted(maps.Keys(s.of)) {
		a := s.of[n]
		w.Uint(uint64(n))
		w.Bool(a.floor)
		w.Int(a.failing)
		w.Int(a.passing)
		for i := range a.signs {
			x := &a.signs[i]
			w.Int(x.count)
			w.Int(x.of)
			w.Int(x.failed)
			writeCounts(w, x.why)
			writeFirst(w, x.first)
		}
		for k := range a.shown {
			x := &a.shown[k]
			w.Int(x.failed)
			w.Int(x.passed)
			writeCounts(w, x.why)
			writeFirst(w, x.first)
		}
	}
}

// Read adds what was written. It adds shift to lines, and maps written numbers of targets and tools
// by the lists targets and tools. r keeps errors.
func (s *AttemptSigns) Read(r SymptomReader, shift int64, targets, tools []uint32) {
	for range r.Count() {
		a := s.target(r.Number(targets))
		a.floor = r.Bool() || a.floor
		a.failing, a.passing = a.failing+r.Int(), a.passing+r.Int()
		for i := range a.signs {
			x := &a.signs[i]
			x.count, x.of, x.failed = x.count+r.Int(), x.of+r.Int(), x.failed+r.Int()
			for range r.Count() {
				x.name(r.Text(), r.Int())
			}
			readFirst(r, &x.first, shift, tools)
		}
		for k := range a.shown {
			x := &a.shown[k]
			x.failed, x.passed = x.failed+r.Int(), x.passed+r.Int()
			for range r.Count() {
				name(&x.why, r.Text(), r.Int())
			}
			readFirst(r, &x.first, shift, tools)
		}
	}
}
