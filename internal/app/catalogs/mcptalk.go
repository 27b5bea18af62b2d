// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// conversation serves the calls of a real agent: through the guard to the world, and then to the
// log. It does for an agent what internal/run does for its own attempts. Calls start one after the
// other. Without a guard they may overlap; they are logged in the order of their start.
type conversation struct {
	world callvet.World
	guard run.Guard                               // nil: everything passes
	check func(*callvet.Call) []callvet.Violation // nil: contracts are the world's own
	log   *attemptLog                             // nil: nothing is written
	// excess is by how much the durations of the calls so far exceed the real time: mocks have a
	// duration without waiting for it.
	excess time.Duration
	turns  []callvet.Turn
	n      int
	line   line // of calls that wait to be logged
}

// line keeps the order of calls that are made at the same time.
type line struct {
	mu   sync.Mutex
	last chan struct{} // closed when the latest call is done; nil: there is none
}

// stand puts a call in the line: before closes when the preceding call is done (nil: there is
// none), and done ends the call's place.
func (l *line) stand() (before <-chan struct{}, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := make(chan struct{})
	before, l.last = l.last, own
	return before, func() { close(own) }
}

// maxTurns bounds how far back a guard looks, because an agent's conversation may have any length.
const maxTurns = 2000

// call makes a call and logs it before it returns the answer. named is called with the id that the
// world gets; nil: not called. An error is not an answer: the world failed, or the log could not be
// written.
func (c *conversation) call(ctx context.Context, tool string, args json.RawMessage,
	named func(id string),
) (callvet.Call, error) {
	c.n++
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage(`{}`)
	}
	call := callvet.Call{ID: fmt.Sprintf("call-%d", c.n), Tool: tool, Args: args}
	if named != nil {
		named(call.ID)
	}
	before, done := c.line.stand()
	defer done()
	began := c.log.elapsed()
	call.StartMS = c.log.at(began + c.spared(0))
	failed := c.execute(ctx, &call)
	if took := time.Duration((call.QueueMS + call.ExecMS) * float64(time.Millisecond)); c.log != nil {
		c.spared(max(took-(c.log.elapsed()-began), 0))
	}
	if failed != nil {
		call.Status, call.Error = callvet.StatusExecErr, failed.Error()
		if ctx.Err() != nil {
			call.Status, call.Error = "", "the agent did not wait for the answer"
		}
	}
	if before != nil && (c.log != nil || c.guard != nil) {
		<-before // the preceding call ends, like this one
	}
	if err := c.log.call(context.WithoutCancel(ctx), call); err != nil {
		return call, fmt.Errorf("the call could not be written down: %w", err)
	}
	if c.guard != nil {
		c.remember(call)
	}
	return call, failed
}

// spared adds to the excess and returns its sum.
func (c *conversation) spared(more time.Duration) time.Duration {
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	c.excess += more
	return c.excess
}

// remember keeps the call for the guard, which checks earlier calls.
func (c *conversation) remember(call callvet.Call) {
	content := string(call.Result)
	if call.Error != "" {
		content = call.Error
	}
	c.turns = append(c.turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{call}},
		callvet.Turn{Role: callvet.RoleTool, CallID: call.ID, Tool: call.Tool, Content: content})
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
	_, err := run.Execute(ctx, c.guard, c.world, func() []callvet.Turn { return c.turns }, call)
	return err
}

// broken explains how arguments violate the contract, so that an agent can correct them.
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
