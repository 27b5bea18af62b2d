// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/judge"
)

// AttemptGroups collects attempts for judges that judge several at once.
type AttemptGroups struct {
	side
	digests map[string][]judge.Digest
	order   []attemptKey // of attempts
	other   *side        // the baseline; nil: the targets of one side are compared
}

// side are the attempts of a run or a trace file.
type side struct {
	targets  []string
	attempts map[attemptKey][]judge.Subject // in the order of targets
}

type attemptKey struct {
	task    string
	attempt int
}

func (s *side) add(one judge.Subject) (k attemptKey, first bool) {
	t := &one.Attempt.Trace
	if !slices.Contains(s.targets, t.Target) {
		s.targets = append(s.targets, t.Target)
	}
	k = attemptKey{t.CaseID, t.Repeat}
	if s.attempts == nil {
		s.attempts = map[attemptKey][]judge.Subject{}
	}
	first = s.attempts[k] == nil
	s.attempts[k] = append(s.attempts[k], one)
	return k, first
}

// Add adds a subject for j.
func (m *AttemptGroups) Add(j *judge.Judge, s judge.Subject) {
	switch {
	case !s.Made():
	case j.Unit == judge.Pair:
		if k, first := m.side.add(s); first {
			m.order = append(m.order, k)
		}
	default:
		t := s.Attempt.Trace.Target
		if m.digests == nil {
			m.digests = map[string][]judge.Digest{}
		}
		if m.digests[t] == nil {
			m.targets = append(m.targets, t)
		}
		m.digests[t] = append(m.digests[t], judge.DigestOf(s))
	}
}

// ReadBaseline reads the baseline of the attempts, if it is another run or file. Targets with the
// same name are compared, or the only targets of both.
func (m *AttemptGroups) ReadBaseline(s *Subject) error {
	if s.eachOther == nil {
		return nil
	}
	m.other = &side{}
	err := s.eachOther(func(one judge.Subject, _ *float64) error {
		if one.Made() {
			m.other.add(one)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(m.targets, func(t string) bool { return m.counterpart(t) != "" }) {
		return app.Wrong("against", "", "no target is in both (%s; %s)", strings.Join(m.targets, ", "),
			strings.Join(m.other.targets, ", "))
	}
	return nil
}

// counterpart returns the target of the other side for the comparison of a target; "": none.
func (m *AttemptGroups) counterpart(target string) string {
	switch {
	case slices.Contains(m.other.targets, target):
		return target
	case len(m.targets) == 1 && len(m.other.targets) == 1:
		return m.other.targets[0]
	}
	return ""
}

// questions compare targets, or grade each.
func (m *AttemptGroups) questions(j *judge.Judge, skipped map[string]int) (qs []judge.Question) {
	for _, name := range m.targets {
		if all := m.digests[name]; len(all) > 0 {
			qs = append(qs, j.Overall(name, all))
		}
	}
	for _, p := range m.Pairs(skipped) {
		qs = append(qs, j.Pairs(p[0], p[1])...)
	}
	return qs
}

// Pairs returns the attempts to compare: at the same task, of a target on both sides, or of the
// first target and each other target. skipped counts attempts without a counterpart.
func (m *AttemptGroups) Pairs(skipped map[string]int) (out [][2]judge.Subject) {
	for _, k := range m.order {
		of := m.attempts[k]
		if m.other != nil {
			for _, s := range of {
				if why := m.across(k, s, &out); why != "" {
					skipped[why]++
				}
			}
			continue
		}
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

// across adds the pair of an attempt and its counterpart, or returns why there is none.
func (m *AttemptGroups) across(k attemptKey, s judge.Subject, out *[][2]judge.Subject) (why string) {
	name := m.counterpart(s.Attempt.Trace.Target)
	for _, o := range m.other.attempts[k] {
		switch {
		case name == "" || o.Attempt.Trace.Target != name:
		case o.Attempt.Goal != s.Attempt.Goal || callvet.Question(o.Attempt.Input) != callvet.Question(s.Attempt.Input):
			return "the other one was asked something else"
		default:
			*out = append(*out, [2]judge.Subject{s, o})
			return ""
		}
	}
	return "the other one has no attempt of the target at the task"
}
