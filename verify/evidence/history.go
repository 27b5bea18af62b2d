// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"context"
	"fmt"
)

// The second question of a chat. The first was answered with a call.
const thanks = "Thanks. What is your name?"

// earlier is a chat up to its second question.
func earlier(before ...utterance) []utterance {
	return append(before,
		utterance{role: "user", text: question}, utterance{role: "assistant", call: "call_1"},
		utterance{role: "tool", text: "It rains.", call: "call_1"},
		utterance{role: "assistant", text: "It rains in Oslo."}, utterance{role: "user", text: thanks})
}

// overHistory reads later turns of chats. The repeated history is input if the form separates it from
// the answer. If a record is one list of messages, all of it is the attempt.
func overHistory(ctx context.Context, c *checker) error {
	const stop = "completed"
	answered := exchange{history: earlier(), reply: reply{text: answerText, stop: stop}}
	for _, f := range traceForms() {
		if f.whole {
			id := f.id(0)
			got, err := c.history(ctx, f.record(id, answered))
			if err != nil {
				return err
			}
			n := 0
			if got[id] != nil {
				n = len(got[id].calls)
			}
			c.Compare(c.subject, f.name+": a list of messages is one attempt", n == 1, "%s, want one call", got[id])
			continue
		}
		if !f.apart {
			continue
		}
		for _, turn := range []struct {
			name string
			e    exchange
			want end
		}{
			{"a later turn", answered, byItself},
			{
				"a later turn, after a system prompt",
				exchange{history: earlier(utterance{role: "system", text: "You are kind."}), reply: answered.reply},
				byItself,
			},
			{
				"a later turn that calls again",
				exchange{history: earlier(), reply: reply{call: true, stop: stop}},
				called,
			},
			{"a turn that goes on after its call", exchange{history: earlier()[:3], reply: answered.reply}, called},
			{"a first turn", exchange{history: earlier()[:1], reply: answered.reply}, byItself},
		} {
			id := f.id(0)
			got, err := c.history(ctx, f.record(id, turn.e))
			if err != nil {
				return err
			}
			c.is(f.name+": "+turn.name, got[id], f.stopped(turn.want)...)
			goal := ""
			if got[id] != nil {
				goal = got[id].Goal
			}
			last := question
			if len(turn.e.history) > 3 {
				last = thanks
			}
			c.Compare(c.subject, f.name+": "+turn.name+", its goal", goal == last, "%q, want %q", goal, last)
		}
		if err := together(ctx, c, &f, answered); err != nil {
			return err
		}
	}
	return nil
}

// stopped are the right ends of an attempt that ended by itself, in a form that may not record it.
func (f *traceForm) stopped(want end) []end {
	if want == byItself && !f.reasons {
		return []end{notRecorded}
	}
	return []end{want}
}

// together reads both turns of the chat from one file: they are two attempts.
func together(ctx context.Context, c *checker, f *traceForm, later exchange) error {
	first := exchange{history: later.history[:1], reply: reply{call: true, stop: "completed"}}
	got, err := c.history(ctx, f.record(f.id(0), first), f.record(f.id(1), later))
	if err != nil {
		return err
	}
	c.is(f.name+": both turns, the first", got[f.id(0)], called)
	c.is(f.name+": both turns, the second", got[f.id(1)], f.stopped(byItself)...)
	c.Compare(c.subject, f.name+": both turns are two attempts", len(got) == 2, "%d", len(got))
	return nil
}

// history imports records of one file.
func (c *checker) history(ctx context.Context, records ...any) (map[string]*seen, error) {
	if err := c.lines("traces.jsonl", records); err != nil {
		return nil, err
	}
	code, got, errs, err := c.imported(ctx, "traces.jsonl")
	if err == nil && code > 1 {
		err = fmt.Errorf("import a history: exit %d: %s", code, errs)
	}
	return got, err
}
