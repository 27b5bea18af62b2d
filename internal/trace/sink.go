// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"strconv"

	"github.com/callvet/callvet"
)

// Sink takes what an importer reads.
type Sink struct {
	// Found are the attempts not yet taken, in the order of the source.
	Found []Attempt
	// Lost counts what could not be carried, by a sentence for a person.
	Lost            map[string]int64
	Attempts, Calls int64
}

// Lose counts something that has no place in an Attempt.
func (s *Sink) Lose(what string) {
	if s.Lost == nil {
		s.Lost = map[string]int64{}
	}
	s.Lost[what]++
}

// Give takes an attempt of which the turns are all that was said: what comes
// before the target's first word becomes the input. Outcome, answer and goal are
// set from the turns where the importer has not set them.
func (s *Sink) Give(a Attempt) {
	if a.Input == nil {
		n := 0
		for n < len(a.Trace.Turns) && a.Trace.Turns[n].Role != callvet.RoleAssistant && a.Trace.Turns[n].Role != callvet.RoleTool {
			n++
		}
		a.Input, a.Trace.Turns = a.Trace.Turns[:n:n], a.Trace.Turns[n:]
	}
	if a.Goal == "" {
		for _, t := range a.Input {
			if t.Role == callvet.RoleUser {
				a.Goal = t.Content
			}
		}
	}
	t := &a.Trace
	if t.CaseID == "" {
		t.CaseID = "task-" + strconv.FormatInt(s.Attempts+1, 10)
	}
	for i := range t.Turns {
		for j := range t.Turns[i].Calls {
			if c := &t.Turns[i].Calls[j]; c.Tool == "" {
				c.Tool = "unknown"
				s.Lose("the name of a tool that was called")
			}
		}
	}
	if n := len(t.Turns); t.Answer == "" && n > 0 && t.Turns[n-1].Role == callvet.RoleAssistant {
		t.Answer = t.Turns[n-1].Content
	}
	if t.End == "" && t.Fault == nil {
		if n := len(t.Turns); n > 0 && len(t.Turns[n-1].Calls) > 0 {
			t.End = callvet.EndCalled
		} else {
			t.End = callvet.EndAnswered
		}
	}
	t.Classify(false)
	s.Attempts++
	s.Calls += int64(len(t.Calls()))
	s.Found = append(s.Found, a)
}
