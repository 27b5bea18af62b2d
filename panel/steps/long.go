// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import "github.com/callvet/callvet/panel/tally"

// sums of steps of which there are too many for bits.
type many struct {
	facts               facts
	exec, queue, accept tally.Sample
}

// read reads the steps with these indices.
func (m *many) read(t *task, list []int32) {
	m.facts = facts{}
	m.exec.Reset()
	m.queue.Reset()
	m.accept.Reset()
	for _, i := range list {
		m.step(&t.steps[i])
	}
}

func (m *many) step(st *step) {
	m.facts.step(st)
	m.exec.Time(st.time())
	m.queue.Time(float64(st.queue), false)
	m.accept.Time(float64(st.accept), false)
}

// shareLong is share for a long task: slices that have all of the steps are alike.
func (s *Sums) shareLong(t *task) *facts {
	all, some, shape := &many{}, &many{}, s.kinds.shape(s.sum.shape)
	for i := range t.steps {
		all.step(&t.steps[i])
	}
	for _, id := range s.ids {
		m, list := all, s.lists[s.marks[id].steps]
		if len(list) < len(t.steps) {
			some.read(t, list)
			m = some
		}
		s.slice(id).addMany(s, m, shape)
	}
	if cap(s.lists[0]) > maxSteps/16 { // one of the longest is rare
		s.lists = nil
	}
	return &all.facts
}

// addMany adds steps of a long task, and the task as a whole.
func (s *sliceSums) addMany(of *Sums, m *many, shape uint32) {
	s.tell(&of.sum, of.tries, shape)
	if m.facts.steps == 0 {
		return
	}
	s.addFacts(&m.facts, 1)
	s.exec.Add(&m.exec)
	if s.waits {
		s.queue.Add(&m.queue)
		s.accept.Add(&m.accept)
	}
}
