// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// dialogue contains the requests to the models of one attempt and their answers, in order, for
// forms that record the two separately. Requests repeat the earlier messages:
//
//	request 1   question, call, result, answer, question │          ─► Input, up to the last question
//	            answer                                   │ call     ─► Turns
//	request 2   … as above …                             │ call, result ─► the result is new
//
// The turns of the first request before its last question belong to earlier attempts. They are
// input, and no action of this attempt. The zero value is ready.
type dialogue struct {
	Input, Turns []callvet.Turn
	seen, said   seenTurns
}

// lastQuestion is how many turns a request has up to its last question, the last turn of a user; 0
// where there is none.
func lastQuestion(in []callvet.Turn) int {
	for i, t := range slices.Backward(in) {
		if t.Role == callvet.RoleUser {
			return i + 1
		}
	}
	return 0
}

// request adds a request to a model, and returns its new turns. open means that the answer to an
// earlier request is not known, so that this request may repeat it.
func (t *dialogue) request(in []callvet.Turn, open bool) []callvet.Turn {
	t.ready()
	n := lastQuestion(in)
	fresh, at := t.seen.fresh(in)
	history := n > 0 && !open && !t.said.any(in[:n-1])
	until := func(n int) int {
		return len(at) - len(slices.DeleteFunc(slices.Clone(at), func(i int) bool { return i < n }))
	}
	first := until(n)
	switch {
	case !history:
		first = 0
	case len(t.Input) == 0:
		for len(t.Turns) == 0 && first < len(fresh) && fresh[first].Role == callvet.RoleTool {
			first++ // it answers a call from before the question
		}
		t.Input = fresh[:first:first]
	case acted(in[:n-1]): // a separate conversation, for example of a sub-agent
		first = until(n - 1)
		t.Input = append(slices.Clone(fresh[:first]), t.Input...)
	default:
		first = 0
	}
	t.Turns = append(t.Turns, mergeTurns(fresh[first:])...)
	return fresh
}

// acted reports whether one of the turns is from an assistant or a tool.
func acted(turns []callvet.Turn) bool {
	return slices.ContainsFunc(turns,
		func(t callvet.Turn) bool { return t.Role == callvet.RoleAssistant || t.Role == callvet.RoleTool })
}

// answer adds the answer of a model.
func (t *dialogue) answer(out []callvet.Turn) {
	t.ready()
	t.said.note(out)
	t.Turns = append(t.Turns, t.seen.note(out)...)
}

// state adds the output of an agent, which may repeat its input.
func (t *dialogue) state(out []callvet.Turn) {
	t.ready()
	fresh, _ := t.seen.fresh(out)
	t.Turns = append(t.Turns, t.said.note(fresh)...)
}

func (t *dialogue) ready() {
	if t.seen == nil {
		t.seen, t.said = seenTurns{}, seenTurns{}
	}
}

// settle sets the results of the calls.
func (t *dialogue) settle() {
	t.Input, t.Turns = message.Attach(t.Input), message.Attach(t.Turns)
}

// seenTurns counts turns and calls, so that the history which every request of a model repeats
// counts once.
type seenTurns map[string]int

// fresh returns the new turns of a history, without known calls, and their positions. A call is
// known if a call with its id was seen, or, ignoring ids, if this call was seen as often with
// these arguments as the history contains it.
func (s seenTurns) fresh(turns []callvet.Turn) (out []callvet.Turn, at []int) {
	here := seenTurns{}
	for i, t := range turns {
		var calls []callvet.Call
		for _, c := range t.Calls {
			here[making(c)]++
			if (c.ID == "" || s[idOf(c)] == 0) && here[making(c)] > s[making(c)] {
				calls = append(calls, c)
			}
		}
		k, ids := identity(t)
		here[k]++
		if len(t.Calls) > 0 && len(calls) == 0 || len(calls) == 0 && s[k] > 0 && (ids || here[k] <= s[k]) {
			continue
		}
		t.Calls = calls
		out, at = append(out, t), append(at, i)
		for _, c := range calls {
			here[idOf(c)]++
		}
	}
	for k, n := range here {
		s[k] = max(s[k], n)
	}
	return out, at
}

// any reports whether an assistant's turn or a call was seen before.
func (s seenTurns) any(turns []callvet.Turn) bool {
	return slices.ContainsFunc(turns, func(t callvet.Turn) bool {
		for _, c := range t.Calls {
			if s[making(c)] > 0 || c.ID != "" && s[idOf(c)] > 0 {
				return true
			}
		}
		k, _ := identity(t)
		return t.Role == callvet.RoleAssistant && t.Content != "" && s[k] > 0
	})
}

// note counts turns and returns them all: a model's answer is new even when it repeats another.
func (s seenTurns) note(turns []callvet.Turn) []callvet.Turn {
	for _, t := range turns {
		k, _ := identity(t)
		s[k]++
		for _, c := range t.Calls {
			s[making(c)]++
			s[idOf(c)]++
		}
	}
	return turns
}

func idOf(c callvet.Call) string { return "id\x00" + c.ID }

func making(c callvet.Call) string {
	var b bytes.Buffer
	if json.Compact(&b, c.Args) != nil {
		return "call\x00" + c.Tool + "\x00" + c.ArgsRaw
	}
	return "call\x00" + c.Tool + "\x00" + b.String()
}

// identity is the id of the call that a turn answers, where there is one: formats differ in the
// text that they store with it. Otherwise it is the role and the text of the turn.
func identity(t callvet.Turn) (key string, id bool) {
	if t.Role == callvet.RoleTool && t.CallID != "" {
		return "tool\x00" + t.CallID, true
	}
	return string(t.Role) + "\x00" + t.Content, false
}

// mergeTurns joins neighboring assistant turns: in lists of items, reasoning, text and calls of
// one answer are separate.
func mergeTurns(turns []callvet.Turn) []callvet.Turn {
	var out []callvet.Turn
	for _, t := range turns {
		n := len(out)
		if n == 0 || t.Role != callvet.RoleAssistant || out[n-1].Role != callvet.RoleAssistant {
			out = append(out, t)
			continue
		}
		p := &out[n-1]
		p.Content, p.Reasoning = lines(p.Content, t.Content), lines(p.Reasoning, t.Reasoning)
		p.Calls = append(p.Calls, t.Calls...)
	}
	return out
}

func lines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
