// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// The failures without a symptom in a call, by position after the symptoms. Their codes in the
// playbook start at A1.
const (
	missing = SymptomKinds + iota
	disorder
	answered
	exceeded
	misrouted
	unexplained
	symptomKinds // their number, symptoms included
)

// codeOf is the code of a kind of symptom or failure.
func codeOf(kind int) string {
	if kind < SymptomKinds {
		return codes[kind]
	}
	return "A" + string(rune('1'+kind-SymptomKinds))
}

// endedAttempt is the kind of a failure by how an attempt ended: T5 to T9 count those.
const endedAttempt = -1

// kindOf is the kind of a failing attempt of a class. Each class has one, so that none of them is
// without a finding.
func kindOf(c callvet.Class) int {
	switch c {
	case callvet.ClassProvider, callvet.ClassUnparseable:
		return endedAttempt
	case callvet.ClassUnknownTool, callvet.ClassWrongTool:
		return wrongTool
	case callvet.ClassContract:
		return rejected
	case callvet.ClassUnknownArg, callvet.ClassWrongArgs:
		return wrongArguments
	case callvet.ClassUnneededCall:
		return chatter
	case callvet.ClassLoop:
		return loops
	case callvet.ClassPolicy:
		return unsafeCalls
	case callvet.ClassMissedCall, callvet.ClassIncomplete:
		return missing
	case callvet.ClassMissingPrereq, callvet.ClassWrongOrder:
		return disorder
	case callvet.ClassAnswer:
		return answered
	case callvet.ClassBudget:
		return exceeded
	case callvet.ClassRoute, callvet.ClassSubRoute, callvet.ClassAgents, callvet.ClassSelected:
		return misrouted
	}
	return unexplained
}

// shown counts the attempts that show a symptom or a failure.
type shown struct {
	failed, passed int64
	why            map[string]int64 // S3: arguments of failing attempts; else classes
	first          []Sighting       // failing attempts where no call shows it
}

func (x *shown) merge(o *shown) {
	x.failed, x.passed = x.failed+o.failed, x.passed+o.passed
	for w, n := range o.why {
		name(&x.why, w, n)
	}
	for _, f := range o.first {
		keep(&x.first, f)
	}
}

// SymptomAttempt is a whole attempt.
type SymptomAttempt struct {
	Floor bool // of a baseline that any model must beat
	Ended AttemptEnded
	// Shows are the symptoms of its calls.
	Shows Shows
	// Class is the class of the failure, "" without a scorer. Missed: calls are missing. Unread:
	// its answer could not be read.
	Class          callvet.Class
	Missed, Unread bool
	// Args are the arguments that differ.
	Args []string
}

// Attempt counts an attempt at a target. at only identifies the attempt.
func (s *AttemptSigns) Attempt(target uint32, a *SymptomAttempt, at *SymptomCall) {
	t := s.target(target)
	t.floor = t.floor || a.Floor
	switch a.Ended {
	case Passed:
		t.passing++
		for k := range SymptomKinds {
			t.shown[k].passed += oneSymptom(a.Shows.has(k))
		}
	case Failed:
		t.failing++
		for k := range SymptomKinds {
			t.shown[k].failed += oneSymptom(a.Shows.has(k))
		}
		t.class(a, at)
	}
}

// class counts a failing attempt by its class.
func (t *attempts) class(a *SymptomAttempt, at *SymptomCall) {
	kind := kindOf(a.Class)
	switch {
	case kind == endedAttempt, kind == unexplained && a.Unread:
		return
	case kind == unexplained && a.Missed:
		kind = missing
	case kind == unexplained && a.Shows != 0:
		return
	}
	x := &t.shown[kind]
	if kind < SymptomKinds && a.Shows.has(kind) { // its calls are counted, and are the examples
		return
	}
	x.failed++
	switch {
	case kind == wrongArguments:
		for _, arg := range a.Args {
			name(&x.why, arg, 1)
		}
	case a.Class != "":
		name(&x.why, panel.Word(string(a.Class)), 1)
	}
	if len(x.first) < maxSightings || at.Line < x.first[len(x.first)-1].Line {
		keep(&x.first, at.attempt(panel.Word(string(a.Class))))
	}
}

// attempt is the sighting of a whole attempt; why is kept in place of a call.
func (l *SymptomCall) attempt(why string) Sighting {
	return Sighting{
		Line: l.Line, Target: string(l.Target), Task: string(l.Task), Call: why, Attempt: l.Attempt,
		Passed: l.Ended == Passed,
	}
}
