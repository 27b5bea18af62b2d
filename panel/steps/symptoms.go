// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
)

// The symptoms of the playbook, by position. Source: Evaluating Tool Calling, §7.
const (
	rejected = iota // S1
	wrongTool
	wrongArguments
	notExecuted
	chatter
	unsafeCalls
	unsteady
	kinds
)

// maxSightings is how many examples of a symptom are kept, maxPaths how many
// argument names.
const (
	maxSightings = 5
	maxPaths     = 512
)

// symptoms counts what went wrong. Counts are sums, and the examples are those
// of the lowest lines, so that parts merge in any order.
type symptoms struct {
	of      [kinds]symptom
	failing int64 // steps with any of them
	steps   int64
}

type symptom struct {
	count, of int64
	tools     map[uint32]int64
	paths     map[string]int64
	timeouts  int64 // of S4
	unnamed   int64 // of S2: names that are in no catalogue
	first     []sighting
}

type sighting struct {
	line     int64
	target   string
	task     string
	call     string
	attempt  int
	tool     uint32
	argument string
}

func newSymptoms() symptoms {
	var s symptoms
	for i := range s.of {
		s.of[i].tools, s.of[i].paths = map[uint32]int64{}, map[string]int64{}
	}
	return s
}

const (
	bitRejected = 1 << callvet.StepRejected
	bitSchema   = 1 << callvet.StepSchemaValid
	bitSelected = 1 << callvet.StepSelection
	bitNeeded   = 1 << callvet.StepNeeded
	bitEM       = 1 << callvet.StepArgEM
	bitExecuted = 1 << callvet.StepExecuted
	bitSafe     = 1 << callvet.StepSafe
	bitKnown    = 1 << callvet.StepKnownTool
)

// step looks at one step.
func (s *symptoms) step(in *set, l *Step) {
	known, right := l.Score.Known, l.Score.True
	s.steps++
	of := &s.of
	of[rejected].of += int64(one(known&(bitRejected|bitSchema) != 0))
	of[wrongTool].of += int64(one(known&(bitSelected|bitKnown) != 0))
	of[wrongArguments].of += int64(one(known&bitEM != 0))
	of[notExecuted].of += int64(one(known&bitExecuted != 0))
	of[chatter].of += int64(one(known&bitNeeded != 0))
	of[unsafeCalls].of += int64(one(known&bitSafe != 0))
	bad := known &^ right
	if bad&(bitSchema|bitSelected|bitNeeded|bitEM|bitExecuted|bitSafe|bitKnown) == 0 && known&right&bitRejected == 0 {
		return
	}
	s.failing++
	if bad&bitSchema != 0 || known&right&bitRejected != 0 {
		of[rejected].see(in, l)
	}
	if unneeded := bad&bitNeeded != 0; unneeded {
		of[chatter].see(in, l)
	} else if bad&(bitSelected|bitKnown) != 0 {
		of[wrongTool].unnamed += int64(one(bad&bitKnown != 0))
		of[wrongTool].see(in, l)
	}
	if bad&bitEM != 0 && bad&bitSelected == 0 {
		of[wrongArguments].see(in, l)
	}
	if bad&bitExecuted != 0 {
		of[notExecuted].timeouts += int64(one(l.Status == callvet.StatusTimeout))
		of[notExecuted].see(in, l)
	}
	if bad&bitSafe != 0 {
		of[unsafeCalls].see(in, l)
	}
}

// see counts a step that shows the symptom.
func (s *symptom) see(in *set, l *Step) {
	s.count++
	s.tools[in.tool]++
	for _, p := range l.Paths {
		if _, ok := s.paths[p]; !ok && len(s.paths) >= maxPaths {
			p = beyond
		}
		s.paths[p]++
	}
	if len(s.first) < maxSightings || l.Line < s.first[len(s.first)-1].line {
		s.keep(sighting{line: l.Line, target: string(l.Target), task: string(l.Task), call: string(l.CallID), attempt: l.Attempt, tool: in.tool})
	}
}

func (s *symptom) keep(at sighting) {
	i, _ := slices.BinarySearchFunc(s.first, at, func(a, b sighting) int { return cmp.Compare(a.line, b.line) })
	s.first = slices.Insert(s.first, i, at)
	s.first = s.first[:min(len(s.first), maxSightings)]
}

// task looks for calls of a tool with the same arguments and different results:
// S7. The first result of an arguments' text is the one others are held against.
func (s *symptoms) task(t *task) {
	u := &s.of[unsteady]
	for i := range t.steps {
		st := &t.steps[i]
		if st.args == 0 || st.result == 0 {
			continue
		}
		for j := max(0, i-maxLookBack); j < i; j++ {
			o := &t.steps[j]
			if o.args != st.args || o.result == 0 || o.set.tool != st.set.tool {
				continue
			}
			u.of++
			if o.result != st.result {
				u.count++
				u.tools[st.set.tool]++
				if len(u.first) < maxSightings || st.line < u.first[len(u.first)-1].line {
					u.keep(sighting{line: st.line, target: string(t.target), task: string(t.id), attempt: int(st.attempt), tool: st.set.tool})
				}
			}
			break
		}
	}
}

// maxLookBack bounds how far back in a task a call is compared.
const maxLookBack = 64

func (s *symptoms) merge(o *symptoms) {
	s.failing, s.steps = s.failing+o.failing, s.steps+o.steps
	for i := range s.of {
		a, b := &s.of[i], &o.of[i]
		a.count, a.of, a.timeouts, a.unnamed = a.count+b.count, a.of+b.of, a.timeouts+b.timeouts, a.unnamed+b.unnamed
		for k, n := range b.tools {
			a.tools[k] += n
		}
		for k, n := range b.paths {
			a.paths[k] += n
		}
		for _, f := range b.first {
			a.keep(f)
		}
	}
}

// ranking keeps the strongest and weakest tasks.
type ranking struct{ strongest, weakest []ranked }

const maxRanked = 3

// ranked is a task with how many of its measurements are good.
type ranked struct {
	good, of     int64
	calls        int64
	line         int64
	target, task string
	attempts     int
}

func (r *ranking) task(t *task, m *taskSum, good, known int) {
	at := ranked{good: int64(good + m.passes), of: int64(known + m.trials), calls: m.calls}
	if at.of == 0 {
		return
	}
	top := len(r.strongest) < maxRanked || at.compare(&r.strongest[maxRanked-1]) >= 0
	low := len(r.weakest) < maxRanked || at.compare(&r.weakest[maxRanked-1]) <= 0
	if !top && !low {
		return
	}
	if len(t.steps) > 0 {
		at.line = t.steps[0].line
	}
	for i := range t.records {
		if l := t.records[i].line; at.line == 0 || l < at.line {
			at.line = l
		}
	}
	if !top || len(r.strongest) == maxRanked && at.equal(&r.strongest[maxRanked-1]) && string(t.id) > r.strongest[maxRanked-1].task {
		top = false
	}
	if !low || len(r.weakest) == maxRanked && at.equal(&r.weakest[maxRanked-1]) && string(t.id) > r.weakest[maxRanked-1].task {
		low = false
	}
	if top || low {
		at.target, at.task = string(t.target), string(t.id)
		r.keep(at, top, low)
	}
}

func (r *ranking) keep(at ranked, top, low bool) {
	if top {
		r.strongest = append(r.strongest, at)
		slices.SortFunc(r.strongest, func(a, b ranked) int {
			return cmp.Or(b.compare(&a), cmp.Compare(a.calls, b.calls), cmp.Compare(a.task, b.task), cmp.Compare(a.target, b.target), cmp.Compare(a.line, b.line))
		})
		r.strongest = r.strongest[:min(len(r.strongest), maxRanked)]
	}
	if low {
		r.weakest = append(r.weakest, at)
		slices.SortFunc(r.weakest, func(a, b ranked) int {
			return cmp.Or(a.compare(&b), cmp.Compare(a.calls, b.calls), cmp.Compare(a.task, b.task), cmp.Compare(a.target, b.target), cmp.Compare(a.line, b.line))
		})
		r.weakest = r.weakest[:min(len(r.weakest), maxRanked)]
	}
}

// compare orders by the share of good measurements.
func (a *ranked) compare(b *ranked) int { return cmp.Compare(a.good*b.of, b.good*a.of) }

func (a *ranked) equal(b *ranked) bool { return a.compare(b) == 0 && a.calls == b.calls }

func (r *ranking) merge(o *ranking) {
	for _, at := range o.strongest {
		r.keep(at, true, false)
	}
	for _, at := range o.weakest {
		r.keep(at, false, true)
	}
}
