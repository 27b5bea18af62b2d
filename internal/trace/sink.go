// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// Sink collects the results of an importer.
type Sink struct {
	// Found are the attempts not yet taken, in the order of the source.
	Found []Attempt
	// Lost counts the data that could not be converted, by a sentence for a person.
	Lost            map[string]int64
	Attempts, Calls int64
	// Unknown counts the attempts with unknown calls.
	Unknown int64
	// Seen names some of the things that were not understood.
	Seen []string
}

// maxSeen bounds Seen.
const maxSeen = 5

// See names something that was not understood; it is shown if nothing was understood.
func (s *Sink) See(what string) {
	if len(s.Seen) < maxSeen && !slices.Contains(s.Seen, what) {
		s.Seen = append(s.Seen, what)
	}
}

// Unknown is the fault of an attempt with calls that the source does not record, or not readably.
// Such an attempt is neither a pass nor a failure, and never an abstention.
func Unknown(why string) *callvet.Fault {
	return &callvet.Fault{Kind: callvet.FaultMalformed, Message: unknown + why}
}

const unknown = "what was called is not known: "

// Differ is the problem that the arguments of a call differ: the model's arguments are kept, and
// scored.
const Differ = "the executed arguments of a call, which differ from those that the model gave"

// Lose counts data that an Attempt cannot contain.
func (s *Sink) Lose(what string) {
	if s.Lost == nil {
		s.Lost = map[string]int64{}
	}
	s.Lost[what]++
}

// Give adds an attempt; its turns are the whole conversation. The turns before the target's first
// one become the input. Outcome, answer and goal are set from the turns if the importer has not
// set them. Calls in the text of a model count as calls. A call without a tool's name is
// unreadable: the attempt is unparseable. Without any turn of the target the calls are unknown.
func (s *Sink) Give(a Attempt) {
	odd := ""
	for _, turns := range []*[]callvet.Turn{&a.Input, &a.Trace.Turns} {
		if s.unknownRoles(turns) && turns == &a.Trace.Turns {
			odd = "a message of an unknown role holds a call"
		}
	}
	a.open()
	t := &a.Trace
	if t.CaseID == "" {
		t.CaseID = "task-" + strconv.FormatInt(s.Attempts+1, 10)
	}
	text := written(&a)
	last := callvet.Response{FinishReason: t.FinishReason, Turns: t.Turns, Unreadable: text.Unreadable}
	why, fault := last.Ending()
	switch cause := cmp.Or(illegible(t), odd); {
	case t.Fault != nil:
	case text.Unknown:
		t.Fault = Unknown("the answer has the form of a call, and the offered tools are not recorded")
	case cause != "":
		t.Fault = Unknown(cause)
	case fault != nil:
		fault.Message, fault.Retryable = unknown+fault.Message, false
		t.Fault = fault
	}
	if lost := notKnown(t, why, text.Unreadable); lost != "" {
		s.Unknown++
		s.Lose(lost)
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
	t.Note(last.Remark())
	t.Classify(why)
	s.Attempts++
	s.Calls += int64(len(t.Calls()))
	s.Found = append(s.Found, a)
}

// open sets the input to the turns before the target's first one, and the goal to the last question
// in it, if the importer has not set them.
func (a *Attempt) open() {
	if a.Input == nil {
		n := 0
		for n < len(a.Trace.Turns) && a.Trace.Turns[n].Role != callvet.RoleAssistant &&
			a.Trace.Turns[n].Role != callvet.RoleTool {
			n++
		}
		a.Input, a.Trace.Turns = a.Trace.Turns[:n:n], a.Trace.Turns[n:]
	}
	if a.Goal != "" {
		return
	}
	for _, t := range a.Input {
		if t.Role == callvet.RoleUser {
			a.Goal = t.Content
		}
	}
}

// notKnown is the reason for unknown calls of an attempt, as a sentence for the report; "" if they
// are known, or if the source has its own fault. why is the finish reason of the last answer;
// unreadable: its text has an unreadable mark of a call.
func notKnown(t *callvet.Trace, why callvet.Reason, unreadable bool) string {
	switch {
	case t.Fault != nil && strings.HasPrefix(t.Fault.Message, unknown):
		return t.Fault.Message
	case t.Fault != nil:
		return ""
	case slices.ContainsFunc(t.Calls(), func(c callvet.Call) bool { return c.Nameless() }):
		return unknown + callvet.ReasonArguments.Sentence()
	case why == "" || why == callvet.ReasonEmpty || why == callvet.ReasonThoughts || !unreadable && len(t.Calls()) > 0:
		return ""
	}
	return unknown + why.Sentence()
}

// unknownRoles removes and counts the turns of roles other than the four, such as error or critic:
// they are not from a model. It reports whether one of them has a call.
func (s *Sink) unknownRoles(turns *[]callvet.Turn) (calls bool) {
	const most = 40 // bytes of a role in a report
	*turns = slices.DeleteFunc(*turns, func(t callvet.Turn) bool {
		if t.Role.Known() {
			return false
		}
		name := string(t.Role)
		if len(name) > most {
			name = strings.ToValidUTF8(name[:most], "") + "…"
		}
		s.Lose("a message of the role " + strconv.Quote(name))
		calls = calls || len(t.Calls) > 0
		return true
	})
	return calls
}

// written reads the calls that a model wrote into the text of a turn without a native call. It
// returns the findings in the texts; Unknown only where the attempt has no call. Outputs that the
// decoder of a benchmark read are unchanged.
func written(a *Attempt) message.Reading {
	t := &a.Trace
	var all message.Reading
	if callvet.StopOf(t.FinishReason) == callvet.StopDecoded {
		return all
	}
	tools := &callvet.Toolset{Tools: a.Tools}
	before := 0
	for i := range t.Turns {
		turn := &t.Turns[i]
		if turn.Role != callvet.RoleAssistant || len(turn.Calls) > 0 {
			before += len(turn.Calls)
			continue
		}
		found := message.CallsFromText(turn.Content, tools)
		turn.Calls = found.Calls
		message.Thoughts(turn)
		all.Unreadable, all.Unknown = all.Unreadable || found.Unreadable, all.Unknown || found.Unknown
		before += len(found.Calls)
	}
	all.Unknown = all.Unknown && before == 0
	return all
}

// illegible is the reason for unknown calls of an attempt; "" if they are known. It removes empty
// calls, which an importer adds for unreadable ones.
func illegible(t *callvet.Trace) string {
	why, spoke, answered := "", false, false
	for i := range t.Turns {
		turn := &t.Turns[i]
		spoke = spoke || turn.Role == callvet.RoleAssistant
		answered = answered || turn.Role == callvet.RoleTool
		kept := slices.DeleteFunc(slices.Clone(turn.Calls), func(c callvet.Call) bool {
			return c.Tool == "" && c.ID == "" && c.Args == nil && c.ArgsRaw == ""
		})
		if len(kept) < len(turn.Calls) {
			why, turn.Calls = "a call could not be read", kept
		}
	}
	last := callvet.Response{FinishReason: t.FinishReason, Turns: t.Turns}
	switch {
	case why != "":
		return why
	case last.LostCall():
		return "the answer ended with " + t.FinishReason + ", and no call is in it"
	case answered && len(t.Calls()) == 0:
		return "a tool answered a call that is not there"
	case !spoke:
		return "nothing is there that the target said"
	}
	return ""
}
