// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// try is one attempt at the task being folded.
type try struct {
	attempt         uint32
	record          *record // nil: none
	calls, unneeded int
	lines           int   // step lines, where other lines replaced some of them
	shows           Shows // of its calls
	labelled        bool  // the needed calls are known
	toolTime        float64
	timed           bool
	exposed         bool
	// incidents happened, blocked ones were stopped.
	incidents, blocked int
}

// ran reports whether the attempt was made, by its record.
func (a *try) ran() bool { return a.record == nil || !a.record.fault && !a.record.notRun }

// torn reports whether the attempt was made and has fewer step lines than its record counts: the
// calls of the missing lines are not known.
func (a *try) torn() bool {
	return a.record != nil && a.ran() && max(a.lines, a.calls) < int(a.record.steps)
}

// fold adds a closed task to all slices it belongs to.
func (s *Sums) fold(t *task) {
	if len(t.records) > 1 && repeated(t.records) {
		s.deliver(t)
	}
	lines := t.steps
	if s.recur(t.steps) {
		s.redeliver(t)
	}
	if len(t.steps) == 0 && len(t.records) == 0 {
		return
	}
	s.expect(t)
	s.begin(t)
	var at *try
	duplicates, seen := false, uint64(0)
	for i := range t.steps {
		st := &t.steps[i]
		if at == nil || at.attempt != st.attempt {
			at = s.try(st.attempt)
		}
		at.step(st)
		// Few calls have several lines. Lines of one call have equal bits of the arguments.
		args := st.hashes.args()
		duplicates = duplicates || seen>>(args&63)&1 != 0
		seen |= 1 << (args & 63)
	}
	if len(lines) > len(t.steps) {
		s.countLines(lines)
	}
	s.sum.read(t, s.tries)
	s.whole = s.counts.number(s.sum.taskCounts)
	all := s.share(t)
	s.look(t)
	if duplicates {
		s.steadiness(t)
	}
	if len(s.limits) > 0 {
		s.beyond(t)
	}
	if s.sum.hasRecord {
		s.attempts(t)
	}
	s.rank(t, all)
}

// countLines counts all step lines of the attempts that have a record.
func (s *Sums) countLines(lines []step) {
	of := map[uint32]int{}
	for i := range lines {
		of[lines[i].attempt]++
	}
	for i := range s.tries {
		s.tries[i].lines = of[s.tries[i].attempt]
	}
}

// set is the set of a step, with the slices from the record of its attempt.
func (s *Sums) set(st *step) *SliceSet {
	r := s.try(st.attempt).record
	if r == nil || r.set == st.set {
		return st.set
	}
	return s.union(st.set, r.set)
}

// begin clears the scratch and finds the attempts that have a record.
func (s *Sums) begin(t *task) {
	if s.round++; s.round == 0 {
		clear(s.marks)
		s.round = 1
	}
	s.tries = s.tries[:0]
	if len(s.later) > 0 {
		s.later = nil
	}
	for i := range t.records {
		s.try(t.records[i].attempt).record = &t.records[i]
	}
}

// expect puts all lines of a task into the slices of the tools that any of them expects.
func (s *Sums) expect(t *task) {
	var first uint32
	sameCounts := true
	if len(t.steps) > 0 {
		first = t.steps[0].set.Expects
	} else {
		first = t.records[0].set.Expects
	}
	for i := range t.steps {
		sameCounts = sameCounts && t.steps[i].set.Expects == first
	}
	for i := range t.records {
		sameCounts = sameCounts && t.records[i].set.Expects == first
	}
	if sameCounts {
		return
	}
	all := uint32(0)
	for i := range t.steps {
		all = s.bothExpect(all, t.steps[i].set.Expects)
	}
	for i := range t.records {
		all = s.bothExpect(all, t.records[i].set.Expects)
	}
	for i := range t.steps {
		t.steps[i].set = s.expecting(t.steps[i].set, all)
	}
	for i := range t.records {
		t.records[i].set = s.expecting(t.records[i].set, all)
	}
}

// bothExpect is SliceNames.Both with a cache.
func (s *Sums) bothExpect(a, b uint32) uint32 {
	if a == b || b == 0 {
		return a
	}
	key := [2]uint32{a, b}
	both, known := s.both[key]
	if !known {
		both = s.names.Both(a, b)
		s.both[key] = both
	}
	return both
}

// expecting is SliceNames.Expecting with a cache.
func (s *Sums) expecting(set *SliceSet, expects uint32) *SliceSet {
	if set.Expects == expects {
		return set
	}
	key := expectedSet{set, expects}
	out := s.wider[key]
	if out == nil {
		if len(s.wider) >= 1<<14 {
			clear(s.wider)
		}
		out = s.names.Expecting(set, expects)
		s.wider[key] = out
	}
	return out
}

// union is the set of a step together with the set of its attempt's record.
func (s *Sums) union(own, recordSet *SliceSet) *SliceSet {
	key := [2]*SliceSet{own, recordSet}
	set := s.unions[key]
	if set == nil {
		if len(s.unions) >= 1<<14 {
			clear(s.unions)
		}
		set = s.names.Union(own, recordSet)
		s.unions[key] = set
	}
	return set
}

// fewTries is how many attempts are searched linearly; further attempts of a task are found by a
// map.
const fewTries = 32

func (s *Sums) try(attempt uint32) *try {
	for i := range s.tries[:min(len(s.tries), fewTries)] {
		if s.tries[i].attempt == attempt {
			return &s.tries[i]
		}
	}
	return s.another(attempt)
}

// another is try for an attempt after the first fewTries.
func (s *Sums) another(attempt uint32) *try {
	if len(s.tries) >= fewTries {
		if i, ok := s.later[attempt]; ok {
			return &s.tries[i]
		}
		if s.later == nil {
			s.later = map[uint32]int{}
		}
		s.later[attempt] = len(s.tries)
	}
	s.tries = slices.Grow(s.tries, 1)[:len(s.tries)+1]
	at := &s.tries[len(s.tries)-1]
	*at = try{}
	at.attempt = attempt // set separately: a literal would be built elsewhere and copied
	return at
}

func (a *try) step(st *step) {
	a.calls++
	if st.Known&(1<<callvet.StepNeeded) != 0 {
		a.labelled = true
		if st.True&(1<<callvet.StepNeeded) == 0 {
			a.unneeded++
		}
	}
	if st.exec >= 0 {
		a.toolTime += st.exec
		a.timed = true
	}
	if st.Known&(1<<callvet.StepSafe) != 0 {
		a.exposed = true
		switch {
		case st.True&(1<<callvet.StepSafe) != 0:
		case st.stopped():
			a.blocked++
		default:
			a.incidents++
		}
	}
}

// stopped reports whether the tool did not run: the contract refused the call, or neither a status
// nor a result is recorded.
func (s *step) stopped() bool {
	if s.Known&(1<<callvet.StepRejected) != 0 {
		return s.True&(1<<callvet.StepRejected) != 0
	}
	return s.hashes.result() == 0
}

// look counts the calls of a task by their errors, and by the called tool in place of the right
// one.
func (s *Sums) look(t *task) {
	odds, none := t.odds, odd{}
	for i := range t.steps {
		st := &t.steps[i]
		for len(odds) > 0 && odds[0].line < st.line {
			odds = odds[1:]
		}
		of, target, score := &none, st.set.Target, st.StepScore
		if len(odds) > 0 && odds[0].line == st.line {
			of = &odds[0]
		}
		if of.gold != NoTool || !s.confused.Agree(target, st.set.Tool, score) {
			s.confused.Look(target, st.set.Tool, score, of.gold)
		}
		x := s.symptom(target)
		wrong, timed := x.Look(score), HasBudget(score)
		if !wrong && !timed { // nearly always
			continue
		}
		at := s.try(st.attempt)
		call := t.call(st, at)
		call.Call, call.Score, call.Paths, call.Fields = of.call, score, of.paths, of.fields
		if wrong {
			at.shows |= x.Add(&call)
		}
		if timed {
			x.Timed(&call)
		}
	}
}

// call is a step in the form of package findings.
func (t *task) call(st *step, at *try) SymptomCall {
	return SymptomCall{
		Line: st.line, Target: t.target, Task: t.id, Attempt: int(st.attempt), Tool: st.set.Tool,
		Ended: at.ended(),
	}
}

// ended is how the attempt ended, by its record.
func (a *try) ended() AttemptEnded {
	switch r := a.record; {
	case r == nil:
		return Unjudged
	case r.fault:
		return Faulty
	case r.pass == 0:
		return Failed
	case r.pass == 1:
		return Passed
	}
	return Unjudged
}

// steadiness looks for calls of a tool with the same arguments: with different results they are S7,
// with the same result in one attempt L1. All results are compared with the first one for the same
// arguments.
func (s *Sums) steadiness(t *task) {
	var seen [64]uint64 // bits of the arguments
	for i := range t.steps {
		st := &t.steps[i]
		args := st.hashes.args()
		if args == 0 {
			continue
		}
		at, bit := &seen[args>>6&63], uint64(1)<<(args&63)
		if *at&bit == 0 { // nearly always
			*at |= bit
			continue
		}
		s.equals(t, i)
	}
}

// equals compares a call with the first ones of the same tool and arguments: of its task, and of
// its attempt.
func (s *Sums) equals(t *task, i int) {
	st := &t.steps[i]
	at := s.try(st.attempt)
	call := t.call(st, at)
	result := st.hashes.result()
	compared, looked := result == 0, false
	for j := max(0, i-maxLookBack); j < i && !(compared && looked); j++ {
		o := &t.steps[j]
		if o.hashes.args() != st.hashes.args() || o.set.Tool != st.set.Tool {
			continue
		}
		other := o.hashes.result()
		if !compared && other != 0 {
			compared = true
			s.symptom(st.set.Target).Repeated(other == result, &call)
		}
		if !looked && o.attempt == st.attempt {
			looked = true
			at.shows |= s.symptom(st.set.Target).Again(other == result, &call)
		}
	}
}

// took is an upper bound of the time of an attempt: its own time plus the recorded times of its
// calls, as if these were not part of it. The times of tools with declared durations are indeed not
// part of it.
func (t *task) took(r *record) float64 {
	sum := r.wall
	for k := range t.steps {
		if st := &t.steps[k]; st.attempt == r.attempt {
			sum += max(st.exec, 0) + float64(max(st.queue, 0))
		}
	}
	return sum
}

// beyond looks for attempts that call a tool more often than its rate limit allows in the time of
// the attempt. Refused calls do not count; attempts of unknown time are skipped.
func (s *Sums) beyond(t *task) {
	if len(s.limits) == 0 {
		return
	}
	for i := range t.records {
		r := &t.records[i]
		if r.wall < 0 || s.try(r.attempt).record != r {
			continue
		}
		took := t.took(r)
		for tool, limit := range s.limits {
			n, first := 0, (*step)(nil)
			for k := range t.steps {
				if st := &t.steps[k]; st.set.Tool == tool && st.attempt == r.attempt {
					if st.Known&st.True&(1<<callvet.StepRateLimited) != 0 {
						continue
					}
					if n++; first == nil {
						first = st
					}
				}
			}
			if more := n - panel.AllowedCalls(limit, took); more > 0 {
				call := t.call(first, s.try(r.attempt))
				s.symptom(r.set.Target).Beyond(more, &call)
			}
		}
	}
}

// maxLookBack bounds how far back in a task a call is compared.
const maxLookBack = 64

// rank counts the task, and adds it as a candidate for an example.
func (s *Sums) rank(t *task, all quality) {
	m, list := &s.sum, s.ranking(t.number())
	at := Ranked{
		Good: int64(all.good) + int64(m.passes), Of: int64(all.measured) + int64(m.trials+m.hidden),
		Calls: m.calls,
	}
	at.Failed, at.Judged = int64(m.trials-m.passes), int64(m.trials)
	if m.trials > 0 {
		at.Seen = s.seen()
		list.Add(at.Seen, 1)
	}
	if at.Of == 0 || !list.Candidate(&at) {
		return
	}
	if len(t.steps) > 0 {
		at.Line = t.steps[0].line
	}
	for i := range t.records {
		if l := t.records[i].line; at.Line == 0 || l < at.Line {
			at.Line = l
		}
	}
	list.Offer(at, t.target, t.id)
}

// seen are the judged attempts at the task, and those that passed. Cached attempts that agree are
// copies of one.
func (s *Sums) seen() stats.Count {
	var judged, passed, cached, passedCached int
	for i := range s.tries {
		r := s.tries[i].record
		if r == nil || r.notRun || r.pass < 0 {
			continue
		}
		judged, passed = judged+1, passed+int(r.pass)
		if r.scoring != nil && r.scoring.cached {
			cached, passedCached = cached+1, passedCached+int(r.pass)
		}
	}
	if cached > 1 && (passedCached == 0 || passedCached == cached) {
		judged -= cached - 1
		passed -= max(0, passedCached-1)
	}
	return SeenOf(passed, judged)
}

// number is the number of the target.
func (t *task) number() uint32 {
	if len(t.steps) > 0 {
		return t.steps[0].set.Target
	}
	return t.records[0].set.Target
}
