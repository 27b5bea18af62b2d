// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/callvet/callvet"
)

// attempt plays one case with one target.
type attempt struct {
	e     *engine
	g     *group
	state *targetState
	p     *prepared
	hold  *hold
	bill  bill
	trace callvet.Trace
	world callvet.World
	guard Guard // nil: everything passes
	// behind is the world, if it has to be closed.
	behind io.Closer
	// why is the reason why an answer does not count as an answer, of the answers so far.
	why callvet.Reason
}

// play makes the trace of one attempt; no other code makes traces. It returns nil when the user or
// the budget stopped the attempt: then there is nothing to store.
func (a *attempt) play(ctx context.Context, repeat int) *callvet.Trace {
	t := &a.trace
	*t = callvet.Trace{CaseID: a.p.c.ID, Target: a.state.Name, Repeat: repeat, Started: a.e.cfg.Now()}
	f := a.converse(ctx, repeat)
	if a.behind != nil {
		_ = a.behind.Close() // all that was asked of it is in the trace
	}
	switch {
	case f == nil:
	case f.Kind == callvet.FaultCanceled:
		return nil
	case f.Kind == callvet.FaultMissing:
		t.End = callvet.EndSkipped
	default:
		t.End, t.Fault = callvet.EndError, f
	}
	if t.End != callvet.EndSkipped {
		a.state.breaker.record(t.Fault)
	}
	t.Classify(a.why)
	return t
}

// maxPauses is the number of requests for the rest of an answer that paused.
const maxPauses = 10

// converse sends requests and answers the calls of the responses until the attempt ends.
func (a *attempt) converse(ctx context.Context, repeat int) *callvet.Fault {
	t, c := &a.trace, a.p.c
	if c.Skip != "" && !(c.Selectable && a.state.Selects) || a.p.compiled.Idle(a.state.Selects) != "" {
		t.End = callvet.EndSkipped
		return nil
	}
	if f := a.state.breaker.open(); f != nil {
		return f
	}
	req := a.e.request(a.state, a.p, repeat)
	t.ToolChoice = req.ToolChoice
	a.open(repeat)
	pauses := 0
	for round := 1; ; round++ {
		first := len(t.Turns)
		resp, f := a.next(ctx, &req)
		if f != nil {
			return f
		}
		called := slices.ContainsFunc(t.Turns[first:], func(turn callvet.Turn) bool { return len(turn.Calls) > 0 })
		if paused(resp) && !called {
			if pauses++; pauses > maxPauses {
				_, f := resp.Ending()
				return f
			}
			req.Turns = append(slices.Clip(c.Input), t.Turns...)
			round--
			continue
		}
		if t.End = a.firstEnd(resp, called); t.End != "" {
			return nil
		}
		if unanswerable(t.Calls(), resp) {
			t.End = callvet.EndCalled
			return nil
		}
		if f := a.answer(ctx, first); f != nil {
			return f
		}
		switch {
		case a.p.single:
			t.End = callvet.EndCalled
			return nil
		case !a.p.answer && a.p.compiled.Reached(t.Calls()):
			t.End = callvet.EndReached
			return nil
		case round >= a.p.rounds:
			t.End = callvet.EndMaxRounds
			return nil
		}
		req.Turns = append(slices.Clip(c.Input), t.Turns...)
		if a.p.answer && req.ToolChoice != "none" {
			req.ToolChoice = "auto" // a forced call would never let it answer
		}
	}
}

// unanswerable reports whether calls end the attempt: nothing can answer a call without a name, and no
// provider takes it back; no tool runs with the arguments of a call that is not whole.
func unanswerable(calls []callvet.Call, last *callvet.Response) bool {
	return slices.ContainsFunc(calls, func(c callvet.Call) bool { return c.Nameless() }) ||
		last.Unread() == callvet.ReasonCutCall
}

// open makes the world that answers the attempt's calls, if there is one, and the guard in front of
// it.
func (a *attempt) open(repeat int) {
	c, cfg := a.p.c, &a.e.cfg
	if a.p.loop && cfg.Worlds != nil {
		a.world = cfg.Worlds(c, a.state.Name, repeat)
	}
	if a.world == nil {
		return
	}
	a.behind, _ = a.world.(io.Closer)
	if cfg.Guards != nil {
		a.guard = cfg.Guards(c)
	}
	if len(a.p.faults) > 0 {
		a.world = cfg.Faulty(a.world, a.p.faults, c, repeat)
	}
}

// next sends the request and adds the response to the trace, unless it is too large.
func (a *attempt) next(ctx context.Context, req *callvet.Request) (*callvet.Response, *callvet.Fault) {
	resp, f := a.ask(ctx, req)
	if f != nil {
		return nil, f
	}
	if f = oversized(resp); f != nil {
		resp.Turns = nil // a recorded exchange has the response
	}
	a.absorb(resp)
	return resp, f
}

// request is the first request of a cell.
func (e *engine) request(s *targetState, p *prepared, repeat int) callvet.Request {
	return callvet.Request{
		CaseID: p.c.ID, Repeat: repeat, Turns: p.c.Input, Tools: p.tools, Params: s.Params, Stubs: p.c.Mocks,
		System:     System(e.cfg.Suite.SystemPrompt, &s.Target.Target, p.c.Context),
		ToolChoice: toolChoice(e.cfg.Suite, &s.Target.Target, p.c),
	}
}

// firstEnd returns how the attempt ends with this response, or "" if it continues.
func (a *attempt) firstEnd(resp *callvet.Response, called bool) callvet.End {
	if n := len(resp.Turns); resp.Complete && n > 0 {
		called = len(resp.Turns[n-1].Calls) > 0 // an agent called on the way and may have answered since
	}
	switch {
	case !called:
		return callvet.EndAnswered
	case resp.Complete:
		return callvet.EndCalled
	case a.world == nil && a.p.answer:
		return callvet.EndUnanswered
	case a.world == nil:
		return callvet.EndCalled
	}
	return ""
}

// absorb adds a response to the trace.
func (a *attempt) absorb(resp *callvet.Response) {
	t := &a.trace
	t.Turns = append(t.Turns, resp.Turns...)
	t.Usage.Add(resp.Usage)
	t.Exchanges = append(t.Exchanges, resp.Exchanges...)
	t.Repairs = append(t.Repairs, resp.Repairs...)
	t.Model, t.FinishReason = resp.Model, resp.FinishReason
	if !resp.Started.IsZero() {
		t.Started = resp.Started
	}
	if resp.ToolChoice != "" {
		t.ToolChoice = resp.ToolChoice
	}
	for _, name := range resp.Omitted {
		if !slices.Contains(t.Omitted, name) {
			t.Omitted = append(t.Omitted, name)
		}
	}
	if resp.Decision != nil {
		t.Decision = resp.Decision
	}
	if t.FirstTokenMS == 0 {
		t.FirstTokenMS = ms(resp.FirstToken)
	}
	a.end(resp)
	t.Answer = ""
	for i := len(resp.Turns) - 1; i >= 0; i-- {
		if resp.Turns[i].Role == callvet.RoleAssistant {
			t.Answer = resp.Turns[i].Content
			break
		}
	}
}

// end records how a response ended. A call that could not be read stays recorded, whatever the
// target reports afterwards.
func (a *attempt) end(resp *callvet.Response) {
	why, _ := resp.Ending()
	switch {
	case a.why == callvet.ReasonCall || a.why == callvet.ReasonCutCall:
	case paused(resp):
	default:
		a.why = why
	}
	for _, n := range append(slices.Clone(resp.Notes), resp.Remark()) {
		a.trace.Note(n)
	}
}

// answer lets the world answer the calls of the turns from first on, in order.
func (a *attempt) answer(ctx context.Context, first int) *callvet.Fault {
	for i := first; i < len(a.trace.Turns); i++ {
		for j := range a.trace.Turns[i].Calls {
			call := &a.trace.Turns[i].Calls[j]
			content, f := a.execute(ctx, call)
			if f != nil {
				return f
			}
			// Appending may move the turns; call is not used after it.
			a.trace.Turns = append(a.trace.Turns,
				callvet.Turn{Role: callvet.RoleTool, CallID: call.ID, Tool: call.Tool, Content: content})
		}
	}
	return nil
}

// execute fills a call's status and result and returns the text for the target.
func (a *attempt) execute(ctx context.Context, call *callvet.Call) (string, *callvet.Fault) {
	if call.Malformed() {
		call.Status, call.Error = callvet.StatusRejected, call.Unreadable(call.ArgsRaw)
		return resultText(map[string]any{"error": call.Error}), nil
	}
	if vs := a.p.compiled.Check(call); len(vs) > 0 {
		call.Status, call.Error = callvet.StatusRejected, vs[0].Message
		return resultText(map[string]any{"error": "the arguments break the tool's contract", "violations": vs}), nil
	}
	called := call.Tool
	naming := a.p.compiled.Naming()
	call.Tool = naming.Of(called)
	talk := func() []callvet.Turn { return naming.Turns(append(slices.Clip(a.p.c.Input), a.trace.Turns...)) }
	reply, err := Execute(ctx, a.guard, a.world, talk, call)
	call.Tool = called // the trace keeps what was called
	if err != nil {
		if ctx.Err() != nil {
			return "", canceled()
		}
		return "", &callvet.Fault{Kind: callvet.FaultTool, Message: fmt.Sprintf("%s: %v", call.Tool, err)}
	}
	if call.Denied() {
		return resultText(map[string]any{"error": reply.Error, "status": "denied"}), nil
	}
	a.trace.ToolMS += call.ExecMS
	if call.Status != callvet.StatusOK {
		return resultText(map[string]any{"error": reply.Error, "status": call.Status}), nil
	}
	var text string
	if json.Unmarshal(reply.Result, &text) == nil {
		return text, nil // the target gets a string itself, not its JSON
	}
	return string(reply.Result), nil
}

// resultText is the JSON that a target gets instead of a result.
func resultText(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil { // strings and violations always encode
		return "{\"error\":\"error\"}"
	}
	return string(b)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func canceled() *callvet.Fault {
	return &callvet.Fault{Kind: callvet.FaultCanceled, Message: "the run was stopped"}
}
