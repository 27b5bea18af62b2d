// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/guard"
)

// conversation is what a real agent calls, one call after the other: in front of the world stands
// the guard, and behind both the log. It is what internal/run does for an attempt of its own,
// where somebody else asks the model.
type conversation struct {
	world callvet.World
	guard *guard.Guard                            // nil: everything passes
	check func(*callvet.Call) []callvet.Violation // nil: contracts are the world's own
	log   *attemptLog                             // nil: nothing is written
	turns []callvet.Turn
	n     int
}

// maxTurns bounds how far back a guard looks: an agent may go on for as long as it likes.
const maxTurns = 2000

// call makes a call and writes it down before anybody is told of it. An error is no answer: the
// world broke, or nothing could be written.
func (c *conversation) call(ctx context.Context, tool string, args json.RawMessage) (callvet.Call, error) {
	c.n++
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage(`{}`)
	}
	call := callvet.Call{ID: fmt.Sprintf("call-%d", c.n), Tool: tool, Args: args}
	failed := c.execute(ctx, &call)
	if failed != nil {
		call.Status, call.Error = callvet.StatusExecErr, failed.Error()
		if ctx.Err() != nil {
			call.Status, call.Error = "", "the agent did not wait for the answer"
		}
	}
	if err := c.log.call(context.WithoutCancel(ctx), call); err != nil {
		return call, fmt.Errorf("the call could not be written down: %w", err)
	}
	if c.guard != nil {
		c.remember(call)
	}
	return call, failed
}

// remember is for the guard, which looks at what was called before.
func (c *conversation) remember(call callvet.Call) {
	said := string(call.Result)
	if call.Error != "" {
		said = call.Error
	}
	c.turns = append(c.turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{call}}, callvet.Turn{Role: callvet.RoleTool, CallID: call.ID, Tool: call.Tool, Content: said})
	if len(c.turns) > maxTurns {
		c.turns = append([]callvet.Turn(nil), c.turns[len(c.turns)-maxTurns:]...)
	}
}

// execute fills in how the call ended.
func (c *conversation) execute(ctx context.Context, call *callvet.Call) error {
	if c.check != nil {
		if bad := c.check(call); len(bad) > 0 {
			call.Status, call.Error = callvet.StatusRejected, broken(bad)
			return nil
		}
	}
	r, err := c.guarded(ctx, call)
	if err != nil {
		return err
	}
	call.Status, call.Result, call.Error, call.Note, call.Env = r.Status, r.Result, r.Error, r.Note, r.Env
	if call.Denied() {
		call.Status, call.Result = "", nil
		return nil
	}
	call.ExecMS = float64(r.Latency) / float64(time.Millisecond)
	if call.Status == "" {
		call.Status = callvet.StatusOK
	}
	return nil
}

// broken says how arguments break the contract, in words that an agent can mend them by.
func broken(bad []callvet.Violation) string {
	const most = 5
	var why []string
	for i := range bad {
		if i == most {
			why = append(why, fmt.Sprintf("and %d more", len(bad)-most))
			break
		}
		why = append(why, bad[i].Message)
	}
	return "the arguments break the tool's contract: " + strings.Join(why, "; ")
}

// guarded has the world answer a call, as far as the guard lets it.
func (c *conversation) guarded(ctx context.Context, call *callvet.Call) (callvet.Reply, error) {
	if c.guard == nil {
		r, err := c.world.Answer(ctx, *call)
		call.Guard = r.Guard
		return r, err
	}
	pass, deny, rulings := c.guard.Before(ctx, c.turns, *call)
	call.Guard, call.QueueMS = rulings, pass.QueueMS
	if deny != nil {
		deny.Env = callvet.EnvGuard
		return *deny, nil
	}
	r, err := c.within(ctx, pass)
	call.Guard = append(call.Guard, r.Guard...)
	if err != nil { // the guard hears that the tool failed
		_, _ = c.guard.After(ctx, pass, callvet.Reply{Status: callvet.StatusExecErr, Error: err.Error()})
		return r, err
	}
	r, rulings = c.guard.After(ctx, pass, r)
	call.Guard = append(call.Guard, rulings...)
	return r, nil
}

// within has the world answer in the time that the guard gives.
func (c *conversation) within(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	most := c.guard.Timeout()
	inner, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	r, err := c.world.Answer(inner, call)
	var denied *callvet.DeniedError
	switch {
	case err == nil:
	case errors.As(err, &denied):
		return callvet.Reply{Env: callvet.EnvGuard, Error: denied.Error(), Guard: append(r.Guard, denied.Ruling)}, nil
	case inner.Err() != nil && ctx.Err() == nil:
		return callvet.Reply{Status: callvet.StatusTimeout, Error: fmt.Sprintf("no answer within %g s", most.Seconds()), Latency: most, Env: r.Env, Guard: r.Guard}, nil
	}
	return r, err
}
