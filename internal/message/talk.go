// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"slices"

	"github.com/callvet/callvet"
)

// Talk is what the models of one attempt were sent and what they gave, in the order of the
// requests, of forms that record the two apart. Requests repeat what came before them:
//
//	request 1   question, call, result, answer, question │          ─► Input, up to the last question
//	            answer                                   │ call     ─► Turns
//	request 2   … as above …                             │ call, result ─► the result is new
//
// What the first request has before its last question was done by earlier attempts. It is input
// then, and no action. The zero Talk is ready.
type Talk struct {
	Input, Turns []callvet.Turn
	seen, said   Seen
}

// Asked is how many turns a request has up to its last question, which is the last that a user
// said; 0 where there is none.
func Asked(in []callvet.Turn) int {
	for i, t := range slices.Backward(in) {
		if t.Role == callvet.RoleUser {
			return i + 1
		}
	}
	return 0
}

// Request adds what a model was sent, and gives what of it is new. open means that the answer of
// an earlier request is not known, so that this one may repeat it.
func (t *Talk) Request(in []callvet.Turn, open bool) []callvet.Turn {
	t.ready()
	n := Asked(in)
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
	case acted(in[:n-1]): // a conversation of its own, as that of an agent that another one asks
		first = until(n - 1)
		t.Input = append(slices.Clone(fresh[:first]), t.Input...)
	default:
		first = 0
	}
	t.Turns = append(t.Turns, MergeTurns(fresh[first:])...)
	return fresh
}

// acted reports whether an assistant or a tool has one of the turns.
func acted(turns []callvet.Turn) bool {
	return slices.ContainsFunc(turns,
		func(t callvet.Turn) bool { return t.Role == callvet.RoleAssistant || t.Role == callvet.RoleTool })
}

// Answer adds what a model gave.
func (t *Talk) Answer(out []callvet.Turn) {
	t.ready()
	t.said.Note(out)
	t.Turns = append(t.Turns, t.seen.Note(out)...)
}

// State adds what an agent gave, which may repeat what it was sent.
func (t *Talk) State(out []callvet.Turn) {
	t.ready()
	t.Turns = append(t.Turns, t.said.Note(t.seen.Fresh(out))...)
}

func (t *Talk) ready() {
	if t.seen == nil {
		t.seen, t.said = Seen{}, Seen{}
	}
}

// Settle gives the calls their results.
func (t *Talk) Settle() {
	t.Input, t.Turns = Attach(t.Input), Attach(t.Turns)
}
