// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callvet/callvet"
)

// Execute lets w answer a call, if g allows it (nil: everything passes), and fills in how the call
// ended. No other code passes a call to a guard: in runs, and for agents that call this program
// themselves. talk returns the conversation so far, with the call in its last turn of the assistant
// where there is one. If there is an error there is no answer, and the call is not filled in,
// except for rulings.
func Execute(ctx context.Context, g Guard, w callvet.World, talk func() []callvet.Turn,
	call *callvet.Call,
) (callvet.Reply, error) {
	reply, err := guarded(ctx, g, w, talk, call)
	if err != nil {
		return reply, err
	}
	call.Status, call.Result, call.Error, call.Note, call.Env = reply.Status, reply.Result, reply.Error,
		reply.Note, reply.Env
	if call.Denied() {
		call.Status, call.Result = "", nil
		return reply, nil
	}
	call.ExecMS = ms(reply.Latency)
	if call.Status == "" {
		call.Status = callvet.StatusOK
	}
	return reply, nil
}

func guarded(ctx context.Context, g Guard, w callvet.World, talk func() []callvet.Turn,
	call *callvet.Call,
) (callvet.Reply, error) {
	if g == nil {
		reply, err := w.Answer(ctx, *call)
		call.Guard = reply.Guard
		return reply, err
	}
	pass, deny, rulings := g.Before(ctx, talk(), *call)
	call.Guard, call.QueueMS = rulings, pass.QueueMS
	if deny != nil {
		deny.Env = callvet.EnvGuard
		return *deny, nil
	}
	reply, err := within(ctx, w, g.Timeout(), pass)
	call.Guard = append(call.Guard, reply.Guard...)
	if err != nil { // the guard learns that the tool failed
		_, _ = g.After(ctx, pass, callvet.Reply{Status: callvet.StatusExecErr, Error: err.Error()})
		return reply, err
	}
	reply, rulings = g.After(ctx, pass, reply)
	call.Guard = append(call.Guard, rulings...)
	return reply, nil
}

// within lets the world answer within a time. A late answer is a timeout, and a refused call is
// denied: both count as answers.
func within(ctx context.Context, w callvet.World, most time.Duration, call callvet.Call) (callvet.Reply, error) {
	inner, cancel := ctx, context.CancelFunc(func() {})
	if most > 0 {
		inner, cancel = context.WithTimeout(ctx, most)
	}
	defer cancel()
	reply, err := w.Answer(inner, call)
	var denied *callvet.DeniedError
	switch {
	case err == nil:
	case errors.As(err, &denied):
		return callvet.Reply{
			Env: callvet.EnvGuard, Error: denied.Error(),
			Guard: append(reply.Guard, denied.Ruling),
		}, nil
	case inner.Err() != nil && ctx.Err() == nil:
		return callvet.Reply{
			Status: callvet.StatusTimeout, Error: fmt.Sprintf("no answer within %g s", most.Seconds()),
			Latency: most, Env: reply.Env, Guard: reply.Guard,
		}, nil
	}
	return reply, err
}
