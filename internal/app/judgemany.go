// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"slices"

	"github.com/callvet/callvet/internal/judge"
)

// multiple gathers attempts for judges that look at several at once.
type multiple struct {
	targets  []string
	attempts map[attemptKey][]judge.Subject // in the order of targets, for pairs
	order    []attemptKey
	digests  map[string][]judge.Digest
}

type attemptKey struct {
	task    string
	attempt int
}

func (m *multiple) add(j *judge.Judge, s judge.Subject) {
	t := &s.Attempt.Trace
	if t.Fault != nil {
		return
	}
	if !slices.Contains(m.targets, t.Target) {
		m.targets = append(m.targets, t.Target)
	}
	if j.Unit == judge.Target {
		if m.digests == nil {
			m.digests = map[string][]judge.Digest{}
		}
		m.digests[t.Target] = append(m.digests[t.Target], judge.DigestOf(s))
		return
	}
	k := attemptKey{t.CaseID, t.Repeat}
	if m.attempts == nil {
		m.attempts = map[attemptKey][]judge.Subject{}
	}
	if m.attempts[k] == nil {
		m.order = append(m.order, k)
	}
	m.attempts[k] = append(m.attempts[k], s)
}

// questions compare the first target with each of the others, or grade each.
func (m *multiple) questions(j *judge.Judge, skipped map[string]int) (qs []judge.Question) {
	for _, name := range m.targets {
		if all := m.digests[name]; len(all) > 0 {
			qs = append(qs, j.Overall(name, all))
		}
	}
	for _, p := range m.pairs(skipped) {
		qs = append(qs, j.Pairs(p[0], p[1])...)
	}
	return qs
}

// pairs are the attempts of the first target beside those of each other one at the same task.
func (m *multiple) pairs(skipped map[string]int) (out [][2]judge.Subject) {
	for _, k := range m.order {
		of := m.attempts[k]
		at := slices.IndexFunc(of, func(s judge.Subject) bool { return s.Attempt.Trace.Target == m.targets[0] })
		if at < 0 || len(of) < 2 {
			skipped["another target made no attempt at the task"]++
			continue
		}
		for i := range of {
			if i != at {
				out = append(out, [2]judge.Subject{of[at], of[i]})
			}
		}
	}
	return out
}
