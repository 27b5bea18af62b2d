// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/callvet/callvet"
)

// World answers the calls of one attempt with the tools of a server. It connects at the first call,
// so that an attempt without calls starts no server. Each attempt has its own session, so that it
// does not see the state of another attempt. A broken connection is not reopened: the server's
// state of the attempt is lost, and the attempt ends with a Fault. Close it.
type World struct {
	cfg     Config
	mu      sync.Mutex
	session *Session
	listed  *Listing
	outputs outputs
	seen    int64
	broken  error
}

// NewWorld makes the world of one attempt. It connects to nothing yet.
func NewWorld(cfg Config) *World { return &World{cfg: cfg} }

// Answer calls a tool of the server.
func (w *World) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return callvet.Reply{}, fmt.Errorf("the connection broke before: %w", w.broken)
	}
	r, err := w.answer(ctx, call)
	r.Env = w.env()
	if err != nil && ctx.Err() == nil {
		w.broken = err
	}
	return r, err
}

// env names the server that answered, with its version if known.
func (w *World) env() callvet.Env {
	where := w.cfg.Where()
	if w.session != nil && w.session.server.Version != "" {
		where += " " + strings.Join(strings.Fields(w.session.server.Version), "_")
	}
	return callvet.Live("mcp", where)
}

func (w *World) answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	if w.session == nil {
		s, err := Connect(ctx, w.cfg)
		if err != nil {
			return callvet.Reply{}, err
		}
		w.session = s
	}
	gone := ""
	if w.listed == nil || w.session.Changed() != w.seen {
		before := w.listed
		l, err := w.session.List(ctx)
		if err != nil {
			return callvet.Reply{}, err
		}
		w.listed, w.outputs, w.seen = l, outputsOf(l), w.session.Changed()
		if before != nil && before.Find(call.Tool) != nil && l.Find(call.Tool) == nil {
			gone = ", which had it before"
		}
	}
	if w.listed.Find(call.Tool) == nil {
		return callvet.Reply{
			Status: callvet.StatusExecErr, Error: fmt.Sprintf("unknown tool %q", call.Tool),
			Note: fmt.Sprintf("no tool of the MCP server %s%s", w.session.server.Where, gone),
		}, nil
	}
	r, err := w.session.Call(ctx, call.Tool, call.Args)
	if err != nil {
		return r, err
	}
	w.outputs.check(call.Tool, &r)
	return r, nil
}

// Close ends the session with the server.
func (w *World) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.session == nil {
		return nil
	}
	err := w.session.Close()
	w.session, w.broken = nil, fmt.Errorf("the world is closed: %w", callvet.ErrUnavailable)
	return err
}
