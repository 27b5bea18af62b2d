// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// conversation joins the messages of model spans, in the order of their start times.
type conversation struct {
	dialogue

	tree tree
	// silent are the spans of models without a known answer so far.
	silent []*span
	// spoke: a span of a model had a readable answer.
	spoke bool
	// end is why the last answer of a model ended.
	end string
}

func (c *conversation) read(list []*span) {
	var legible []*span
	for _, sp := range list {
		if speaks(sp.answer()) {
			legible = append(legible, sp)
		}
	}
	wrappers := c.tree.around(legible)
	whole := map[*span]bool{}
	for _, sp := range legible {
		whole[sp] = true
	}
	for _, sp := range list {
		if wrappers[sp] || c.tree.above(sp, func(up *span) bool { return whole[up] }) && !whole[sp] {
			continue
		}
		in, out := sp.request(), sp.answer()
		c.end = sp.finish()
		c.repeated(c.request(in, len(c.silent) > 0))
		switch {
		case !speaks(out) && sp.failed && !spanEnded(sp): // a request that failed has no answer
		case !speaks(out), spanEnded(sp) && !turnsCall(out):
			c.silent = append(c.silent, sp)
		default:
			c.spoke = true
		}
		if speaks(out) {
			c.answer(out)
		}
	}
	c.settle()
}

// repeated removes from silent the spans with answers that a later request repeats.
func (c *conversation) repeated(history []callvet.Turn) {
	switch {
	case turnsCall(history):
		c.silent = nil
	case speaks(history):
		c.silent = slices.DeleteFunc(c.silent, func(sp *span) bool { return !spanEnded(sp) })
	}
}

// speaks reports whether an assistant turn has a text or a readable call.
func speaks(turns []callvet.Turn) bool {
	return slices.ContainsFunc(turns, func(t callvet.Turn) bool {
		return t.Role == callvet.RoleAssistant && (t.Content != "" || turnsCall([]callvet.Turn{t}))
	})
}

func turnsCall(turns []callvet.Turn) bool {
	return slices.ContainsFunc(turns, func(t callvet.Turn) bool {
		return slices.ContainsFunc(t.Calls, func(c callvet.Call) bool { return c.Tool != "" })
	})
}

// spanEnded reports whether a model's span records that its answer ended with calls.
func spanEnded(sp *span) bool {
	return slices.ContainsFunc(sp.ends(), func(r string) bool { return callvet.StopOf(r) == callvet.StopCalls })
}

// ends are the finish reasons that a span records: in an attribute, an event, or the answer.
func (sp *span) ends() []string {
	all := []string{message.FinishWord(sp.attr(finishReason))}
	for _, e := range sp.events {
		all = append(all, message.FinishWord(e.attrs["finish_reason"]), message.FinishOf(e.body))
		if e.name == detailsEvent {
			all = append(all, message.FinishWord(first(e.attrs, finishReason.names()...)),
				message.LastFinish(e.attrs[spanAnswer.names()[0]]))
		}
	}
	all = append(all, message.LastFinish(sp.attr(spanAnswer)),
		message.LastFinish(sp.attrs["gcp.vertex.agent.llm_response"]), message.LastFinish(sp.attr(spanOutput)))
	return slices.DeleteFunc(all, func(r string) bool { return r == "" })
}

// finish is why the answer of a model's span ended. If several places record it, an abnormal end
// counts. A failed span without a reason ended with an error.
func (sp *span) finish() string {
	all := sp.ends()
	switch bad := slices.IndexFunc(all, func(r string) bool { return callvet.StopOf(r) != callvet.StopDone }); {
	case bad >= 0:
		return all[bad]
	case len(all) > 0:
		return all[0]
	case sp.failed || sp.attrs["langfuse.observation.level"].Str() == "ERROR":
		return "error"
	}
	return ""
}

// missing is the reason for unknown calls of an attempt; "" if they are known. Only a readable
// answer without a sign of a call proves that nothing was called.
func (c *conversation) missing(a *trace.Attempt, of [agent + 1][]*span, x *execution, s *trace.Sink) string {
	silent, cut, open := 0, 0, 0
	for _, sp := range c.silent {
		if x.within(sp) {
			continue
		}
		silent++
		switch {
		case spanEnded(sp):
			cut++
		case sp.attr(finishReason).Kind() == value.Invalid:
			open++
		}
	}
	calls := len(a.Trace.Calls())
	switch {
	case cut > 0:
		return "an answer of a model ended with calls that are not there"
	case silent > 0 && calls == 0, open > 0 && len(of[tool]) == 0:
		return "an answer of a model is not there"
	case silent > 0:
		s.Lose("an answer of a model that is empty or missing, although its calls are there")
	case calls == 0 && !c.spoke:
		return "there is no answer of a model"
	case calls == 0 && !slices.ContainsFunc(append(a.Input, a.Trace.Turns...),
		func(t callvet.Turn) bool { return t.Role == callvet.RoleUser }):
		return "what a model was asked is not there"
	case calls == 0 && slices.ContainsFunc(of[other], suspicious):
		return "a span of an unknown kind may be a call of a tool"
	}
	return ""
}

// suspicious reports whether a span of an unknown kind may be about a call.
func suspicious(sp *span) bool {
	if strings.Contains(strings.ToLower(sp.name), "tool") {
		return true
	}
	for k := range sp.attrs {
		k = strings.ToLower(k)
		if strings.Contains(k, "toolcall") || strings.Contains(k, "tool_call") || strings.Contains(k, "tool.name") ||
			strings.Contains(k, "function.name") {
			return true
		}
	}
	return slices.ContainsFunc(sp.events,
		func(e event) bool { return strings.Contains(strings.ToLower(e.name), "tool") })
}

// outermost uses the input and the output of agents if no model's span has content. It may show
// calls, but never that there were none.
func (c *conversation) outermost(agents []*span) {
	whole := map[*span]bool{}
	for _, sp := range agents {
		if c.tree.above(sp, func(up *span) bool { return whole[up] }) {
			continue
		}
		in, out := sp.request(), sp.state()
		if len(in)+len(out) == 0 {
			continue
		}
		whole[sp] = true
		c.request(in, false)
		c.state(out)
	}
	if turnsCall(c.Turns) {
		c.silent = nil
	}
	c.Turns = mergeTurns(c.Turns)
	c.settle()
}

// opening uses the outermost agent's input for the attempt where no request has a question.
func (c *conversation) opening(agents []*span) {
	if lastQuestion(c.Input)+lastQuestion(c.Turns) > 0 {
		return
	}
	for _, sp := range agents {
		in := message.Said(sp.attr(spanInput), callvet.RoleUser)
		if n := lastQuestion(in); n > 0 {
			lead := 0
			for lead < len(c.Turns) && c.Turns[lead].Role == callvet.RoleSystem {
				lead++
			}
			c.Input = append(slices.Concat(in[:n], c.Input), c.Turns[:lead]...)
			c.Turns = c.Turns[lead:]
			return
		}
	}
}

// end is when the round of a model ends: when the next one of the list begins.
func end(sp *span, rounds []*span) int64 {
	next := int64(math.MaxInt64)
	for _, r := range rounds {
		if r.start > sp.start {
			next = min(next, r.start)
		}
	}
	return next
}
