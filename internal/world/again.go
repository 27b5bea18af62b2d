// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// OfTrace are the answered calls of a stored attempt as recordings of that attempt. It includes
// calls that a guard denied only if denied is set: a guard decides again.
func OfTrace(t *callvet.Trace, of Conversation, denied bool) []*Recording {
	var out []*Recording
	seen := counter{}
	for _, c := range t.Calls() {
		answered := c.Status != "" && c.Status != callvet.StatusRejected
		if c.Malformed() || !answered && (!denied || !c.Denied()) {
			continue
		}
		tool := of.contract(&c)
		rec := &Recording{
			Format: RecordingFormat, Version: RecordingVersion, Case: of.Case, Tool: c.Tool,
			ToolVersion: version(&c, tool), Schema: SchemaHash(tool), Args: value.Canonical(c.Args),
			Target: of.Target, Repeat: of.Repeat + 1,
			Status: c.Status, Result: c.Result, Error: c.Error, Note: c.Note, LatencyMS: c.ExecMS, Env: c.Env,
			Recorded: t.Started.UTC().Truncate(time.Second),
			file:     fmt.Sprintf("attempt %d of %s", of.Repeat+1, of.Target),
		}
		if tool != nil {
			rec.Tool = tool.Name
		}
		if c.Denied() {
			rec.Guard = c.Guard
		}
		if rec.Result != nil {
			rec.Result = compact(rec.Result)
		}
		rec.Call = seen.next(rec.key())
		out = append(out, rec)
	}
	return out
}

// Past is a stored attempt.
type Past struct {
	Trace *callvet.Trace
	// Input is how many turns its case has.
	Input int
	// Whole: one answer contains all turns, as for agents that run their own tools.
	Whole bool
}

// Again is a model that replays stored answers.
type Again struct {
	// Find returns the stored attempt; the error wraps callvet.ErrNotFound where there is none.
	Find func(ctx context.Context, caseID string, repeat int) (Past, error)
	// Steps is how many answers are replayed; Next, a model, generates the later ones. With a nil
	// Next all answers are replayed, and no further one is made.
	Steps int
	Next  callvet.Model
}

// Generate returns the stored answer for the present round of the conversation.
func (m *Again) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	past, err := m.Find(ctx, req.CaseID, req.Repeat)
	if err != nil {
		if errors.Is(err, callvet.ErrNotFound) {
			return nil, &callvet.Fault{Kind: callvet.FaultMissing, Message: err.Error()}
		}
		return nil, err
	}
	at := Answers(req.Turns[min(past.Input, len(req.Turns)):])
	stored := answers(past.Trace)
	if m.Next != nil && (at >= m.Steps || at >= len(stored)) {
		return m.Next.Generate(ctx, req)
	}
	t := past.Trace
	switch {
	case past.Whole && at == 0 && len(t.Turns) > 0:
		return m.first(&callvet.Response{Turns: t.Turns, Complete: true, Why: why(t), FinishReason: t.FinishReason},
			t), nil
	case at == 0 && t.Decision != nil:
		return m.first(&callvet.Response{Decision: t.Decision}, t), nil
	case at < len(stored):
		resp := &callvet.Response{Turns: []callvet.Turn{unanswered(stored[at])}, Model: t.Model}
		if at+1 == len(stored) {
			resp.FinishReason, resp.Why = t.FinishReason, why(t)
		}
		if at == 0 {
			resp = m.first(resp, t)
		}
		return resp, nil
	case t.Fault != nil:
		f := *t.Fault
		f.Retryable, f.RetryAfter = false, 0
		return nil, &f
	}
	return nil, &callvet.Fault{
		Kind:    callvet.FaultMissing,
		Message: fmt.Sprintf("the stored attempt ended after %d answers", len(stored)),
	}
}

// why a stored attempt is unparseable; attempts of earlier versions have no reason.
func why(t *callvet.Trace) callvet.Reason {
	if t.Outcome == callvet.OutcomeUnparseable {
		return cmp.Or(t.Reason, callvet.ReasonCall)
	}
	return ""
}

// first adds the trace's data of the whole attempt. In a fork it leaves out the cost of the stored
// answers, because the attempt is a new one.
func (m *Again) first(resp *callvet.Response, t *callvet.Trace) *callvet.Response {
	resp.Model, resp.ToolChoice, resp.Omitted = t.Model, t.ToolChoice, t.Omitted
	if m.Next != nil {
		return resp
	}
	resp.Usage, resp.Repairs, resp.Started = t.Usage, t.Repairs, t.Started
	resp.Wall, resp.FirstToken = duration(t.WallMS), duration(t.FirstTokenMS)
	return resp
}

func duration(ms float64) time.Duration {
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}

// answers are the target's turns of an attempt.
func answers(t *callvet.Trace) []callvet.Turn {
	var out []callvet.Turn
	for i := range t.Turns {
		if t.Turns[i].Role == callvet.RoleAssistant {
			out = append(out, t.Turns[i])
		}
	}
	return out
}

// Answers counts a target's turns.
func Answers(turns []callvet.Turn) (n int) {
	for i := range turns {
		if turns[i].Role == callvet.RoleAssistant {
			n++
		}
	}
	return n
}

// unanswered is a turn of the target before its calls were answered.
func unanswered(t callvet.Turn) callvet.Turn {
	t.Calls = slices.Clone(t.Calls)
	for i, c := range t.Calls {
		t.Calls[i] = callvet.Call{
			ID: c.ID, Tool: c.Tool, Version: c.Version, Args: c.Args, ArgsRaw: c.ArgsRaw,
			Repairs: c.Repairs,
		}
	}
	return t
}
