// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

// taskSum is the sum of the attempts at one task; it is reused for the next task.
type taskSum struct {
	taskCounts
	toolTime sample
	recorded
}

// taskCounts are counts from steps, or from steps and records.
type taskCounts struct {
	calls, unneeded, labelled int64
	idle                      int64 // attempts without a call
	incidents, blocked        int
	hidden                    int // breaches that are in no step
	exposed, hasRecord        bool
	made, waste               each // calls and unneeded calls
	tries                     int
	known                     int // attempts with known calls
	torn                      int // attempts with fewer step lines than their records count
}

// recorded is data that only records have.
type recorded struct {
	trials, passes, lost    int
	faults, ran             int
	missed, needed          int
	lack                    each // missing needed calls
	cost, costs, costPasses int64
	tokens, usages          int64
	costValues, tokenValues []float64
	wall, late              []float64 // late ones were cut off by a timeout
	want                    []uint32
}

func (m *taskSum) read(t *task, tries []try) {
	if m.hasRecord {
		m.recorded = recorded{
			costValues: m.costValues[:0], tokenValues: m.tokenValues[:0], wall: m.wall[:0],
			late: m.late[:0], want: m.want[:0],
		}
	}
	m.taskCounts = taskCounts{tries: len(tries)}
	m.toolTime.reset()
	for i := range tries {
		a := &tries[i]
		if r := a.record; r != nil {
			m.hasRecord = true
			r.skipped = r.skipped && a.calls == 0 // an attempt with calls ran: its outcome is lost
			if r.exposed {
				a.exposed = true
				shown := a.incidents + a.blocked
				a.incidents = max(a.incidents, int(r.incidents)) // the record may list what the steps show
				a.blocked = max(a.blocked, int(r.blocked))
				m.hidden += a.incidents + a.blocked - shown
			}
			m.record(t, r, a.torn())
		}
		switch {
		case a.torn():
			m.torn++
		case a.ran():
			m.known++
			m.calls += int64(a.calls)
			m.made.add(a.calls, 0)
		}
		if a.calls == 0 && a.ran() && !a.torn() {
			m.idle++
			m.waste.add(0, 0)
		}
		if a.labelled {
			m.labelled++
			m.unneeded += int64(a.unneeded)
			m.waste.add(a.unneeded, 0)
		}
		if a.timed {
			m.toolTime.add(a.toolTime, false)
		}
		m.incidents += a.incidents
		m.blocked += a.blocked
		m.exposed = m.exposed || a.exposed
	}
}

// unjudged reports whether a scorer could not judge the attempt.
func (r *record) unjudged() bool {
	return r.scoring != nil && r.scoring.scored && r.pass < 0 && !r.notRun
}

// lost reports whether the attempt was planned and has no outcome.
func (r *record) lost() bool { return r.notRun && !r.skipped || r.fault || r.unjudged() }

// record adds a task record. torn: not all calls of the attempt are known.
func (m *taskSum) record(t *task, r *record, torn bool) {
	m.lost += one(r.lost())
	if r.notRun {
		return
	}
	x := r.scoring
	m.ran++
	switch {
	case r.pass >= 0:
		m.trials++
		m.passes += int(r.pass)
	case r.fault:
		m.faults++
	}
	m.usage(r)
	if x != nil && x.timedOut && !x.cached && r.wall > 0 {
		m.late = append(m.late, r.wall)
	}
	if r.fault {
		return
	}
	if r.wall >= 0 && (x == nil || !x.cached) {
		m.wall = append(m.wall, r.wall)
	}
	if r.gold && !torn && !r.unjudged() {
		m.needs(t, r)
	}
}

// usage adds the tokens and costs of an attempt.
func (m *taskSum) usage(r *record) {
	if r.cost >= 0 {
		m.cost, m.costs, m.costPasses = m.cost+r.cost, m.costs+1, m.costPasses+int64(max(r.pass, 0))
		m.costValues = append(m.costValues, float64(r.cost))
	}
	if r.input >= 0 || r.output >= 0 {
		n := max(r.input, 0) + max(r.output, 0)
		m.tokens, m.usages = m.tokens+n, m.usages+1
		m.tokenValues = append(m.tokenValues, float64(n))
	}
}

// needs pairs the needed calls with the actual calls, by tool.
func (m *taskSum) needs(t *task, r *record) {
	m.want, _, _ = lacking(t, r, m.want[:0])
	m.missed += len(m.want)
	m.needed += len(r.needed)
	m.lack.add(len(m.want), len(r.needed))
}

// each compares the values of the attempts at a task.
type each struct {
	n      int
	first  [2]int
	differ bool
}

func (e *each) add(part, whole int) {
	if e.n == 0 {
		e.first = [2]int{part, whole}
	}
	e.differ = e.differ || e.first != [2]int{part, whole}
	e.n++
}

func (e *each) attempts() stats.Attempts { return stats.Attempts{N: e.n, Alike: !e.differ} }

// lacking appends to want the tools of the needed calls that an attempt did not make. It counts the
// calls that it made, and those of a wrong tool.
func lacking(t *task, r *record, want []uint32) (left []uint32, made, wrong int) {
	const right = 1<<callvet.StepNeeded | 1<<callvet.StepSelection
	want = append(want, r.needed...)
	for i := range t.steps {
		st := &t.steps[i]
		if st.attempt != r.attempt {
			continue
		}
		made++
		wrong += one(st.Known&right == right && st.True&right == 1<<callvet.StepNeeded)
		if at := slices.Index(want, st.set.Tool); at >= 0 {
			want = slices.Delete(want, at, at+1)
		}
	}
	return want, made, wrong
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// addTask adds the task as a whole to the slice.
func (s *sliceSums) addTask(of *Sums) {
	m := &of.sum
	m.toolTime.addTo(&s.toolTime)
	if of.whole >= 0 {
		count(&s.whole, of.whole)
	} else {
		s.addCounts(&m.taskCounts, 1)
	}
	if !m.hasRecord {
		return
	}
	if s.fromRecords == nil {
		s.fromRecords = &recordSums{}
	}
	s.fromRecords.add(m, of.tries)
}

// addCounts adds times tasks with equal counts.
func (s *sliceSums) addCounts(m *taskCounts, times int64) {
	n := uint64(times)
	s.tasks += times
	s.attempts += int64(m.tries) * times
	s.torn += int64(m.torn) * times
	if m.known > 0 {
		s.calls.AddTimes(m.calls, int64(m.known), !m.made.differ, n)
	}
	s.labelled += m.labelled * times
	s.unneeded.AddTimes(m.unneeded, m.labelled+m.idle, !m.waste.differ, n)
	if m.labelled+m.idle > 0 {
		s.spared.AddTimes(one(m.unneeded == 0), 1, n)
	}
	s.incidents += int64(m.incidents) * times
	if m.exposed {
		s.exposed.AddTimes(one(m.incidents > 0), 1, n)
		s.blocked += int64(m.blocked) * times
		s.stopped.AddTimes(one(m.blocked > 0), 1, n)
	}
}

func (t *recordSums) add(m *taskSum, tries []try) {
	for i := range tries {
		if r := tries[i].record; r != nil {
			t.verdict(r)
		}
	}
	t.pass.AddAttempts(m.passes, m.trials, stats.AttemptsOf(m.passes, m.trials))
	if m.lost == 0 {
		t.complete.AddAttempts(m.passes, m.trials, stats.AttemptsOf(m.passes, m.trials))
	} else {
		t.shorten(shortTask{m.passes, m.trials, m.lost}, 1)
	}
	t.fault.AddAttempts(m.faults, m.ran, stats.AttemptsOf(m.faults, m.ran))
	t.miss.AddAttempts(m.missed, m.needed, m.lack.attempts())
	t.chances(m.trials, m.passes)
	if m.costs > 0 {
		t.costs.Add(m.cost, m.costs)
		t.perPass.Add(m.cost, m.costPasses)
	}
	if m.usages > 0 {
		t.tokens.Add(m.tokens, m.usages)
	}
	if len(m.late) > 0 {
		m.wall = append(m.wall, m.late...)
	}
	t.wall.Add(m.wall, len(m.late))
	m.wall = m.wall[:len(m.wall)-len(m.late)]
	t.addScored(tries)
	t.costQuantiles.Add(m.costValues, 0)
	t.tokenQuantiles.Add(m.tokenValues, 0)
	t.verdicts(tries)
}

// verdict counts one attempt's end and its usage.
func (t *recordSums) verdict(r *record) {
	switch {
	case r.pass == 1:
		t.passed++
	case r.pass == 0:
		t.failed++
	case r.notRun:
		t.notRun++
		t.skipped += int64(one(r.skipped))
		return
	case r.fault:
		t.errors++
	}
	free := r.scoring != nil && r.scoring.unbilled
	if r.cost >= 0 {
		t.cost, t.costKnown = t.cost+r.cost, t.costKnown+1
	} else if !free {
		t.costUnknown++
	}
	if r.input < 0 && r.output < 0 && !free {
		t.noUsage++
	}
	t.input += max(r.input, 0)
	t.output += max(r.output, 0)
	t.reasoning += max(r.reasoning, 0)
}

// chances adds the task to pass@k and pass^k for every k it has trials for.
func (t *recordSums) chances(trials, passes int) {
	n := min(trials, maxTrials)
	t.trials(n)
	for k := 1; k <= n; k++ {
		at, _ := stats.PassAtK(trials, passes, k)
		hat, _ := stats.PassHatK(trials, passes, k)
		t.at[k-1].Add(int64(at*exact.Scale+0.5), 1)
		t.hat[k-1].Add(int64(hat*exact.Scale+0.5), 1)
	}
}

// verdicts adds the verdicts of judges.
func (t *recordSums) verdicts(tries []try) {
	for i := range tries {
		if r := tries[i].record; r == nil {
			continue
		}
		for k, v := range tries[i].record.judged {
			if !firstOf(tries, i, k) {
				continue
			}
			yes, n := 0, 0
			for j := i; j < len(tries); j++ {
				y, m := judgedBy(tries[j].record, v.judge)
				yes, n = yes+y, n+m
			}
			t.judge(int(v.judge)).AddAttempts(yes, n, stats.AttemptsOf(yes, n))
		}
	}
}

// firstOf reports whether the verdict at k of an attempt is the first one of its judge.
func firstOf(tries []try, i, k int) bool {
	list := tries[i].record.judged
	for j := range i {
		if _, n := judgedBy(tries[j].record, list[k].judge); n > 0 {
			return false
		}
	}
	return slices.IndexFunc(list, func(v judged) bool { return v.judge == list[k].judge }) == k
}

// judgedBy is the last verdict of a judge on an attempt.
func judgedBy(r *record, judge uint32) (yes, n int) {
	if r == nil {
		return 0, 0
	}
	for _, v := range r.judged {
		if v.judge == judge {
			yes, n = one(v.pass), 1
		}
	}
	return yes, n
}
