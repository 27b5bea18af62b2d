// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/mcp"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/world"
)

// ProxyMCPRequest requests a proxy between an agent and an MCP server.
type ProxyMCPRequest struct {
	app.MCPServer
	// Guard is a file with a policy: which calls are made and which results are shown.
	Guard string `json:"guard,omitempty"`
	// Faults is a file with faults for calls; Seed is the seed of their chances.
	Faults string `json:"faults,omitempty"`
	Seed   int64  `json:"seed,omitempty"`
	// Task is the agent's task in the trace file; "": the session.
	Task string `json:"task,omitempty"`
	// Record is a folder for the answers of the server's tools; runs can replay it
	// (WorldRequest.Recordings). Without Task a recording belongs to no case.
	Record string `json:"record,omitempty"`
	// AllowHost are the allowed host names of the proxy, in addition to those of this machine.
	AllowHost []string `json:"allow_host,omitempty"`
	TraceRequest
}

// proxyServer opens the conversations of a proxy.
type proxyServer struct {
	counter
	app    *app.App
	req    *ProxyMCPRequest
	cfg    mcp.Config
	guards *world.Guards // nil: every call is made
	faults []callvet.ToolFault
	log    *traceLog
	tape   *world.Tape      // nil: nothing is recorded
	red    *redact.Redactor // for recordings
}

// ProxyMCP is a proxy between agents and a server until ctx ends, or over standard input until that
// ends. Each conversation has its own session with the server, so that a server over stdio is
// started for each. An unreachable server is a *callvet.Fault, which the agent also gets.
func ProxyMCP(ctx context.Context, a *app.App, req ProxyMCPRequest, via MCPStreams,
	events app.Events,
) (*ServedMCP, error) {
	cfg, err := a.Server(&req.MCPServer, events)
	if err != nil {
		return nil, err
	}
	p := &proxyServer{app: a, req: &req, cfg: cfg}
	p.events = events
	if p.faults, err = a.ReadFaults(req.Faults, events); err != nil {
		return nil, err
	}
	policy, err := runs.GuardPolicy(a, req.Guard)
	if err != nil {
		return nil, err
	}
	if policy != nil {
		if p.guards, err = runs.GuardsBy(a, world.RealClock{Time: a.Config.Now}, policy, nil, req.Seed); err != nil {
			return nil, err
		}
	}
	if req.Record != "" {
		if err := p.record(ctx); err != nil {
			return nil, err
		}
	}
	if p.log, err = openTraceLog(a, req.Output, req.Keep); err != nil {
		return nil, err
	}
	out, err := serve(ctx, a, via, &p.counter, p.log,
		&mcp.Serving{Hosts: req.AllowHost, Now: a.Config.Now, MaxTalks: maxProxied, Open: p.open})
	runs.NoteRecorded(events, req.Record, p.tape)
	return out, err
}

// record opens the folder of recordings.
func (p *proxyServer) record(ctx context.Context) error {
	off, err := app.Kinds(p.req.Keep)
	if err != nil {
		return err
	}
	if p.red, err = p.app.Secrets().Redactor(off); err != nil {
		return err
	}
	p.tape, err = runs.NewTape(ctx, p.app, p.req.Record)
	return err
}

// recorded returns the world of a conversation with its recorder.
func (p *proxyServer) recorded(t *proxyTalk, task, agent string) callvet.World {
	if p.tape == nil {
		return t
	}
	tools, _ := t.catalogue()
	red := p.red.Fork()
	return p.tape.World(t, world.Conversation{Case: task, Target: agent, Tools: tools, Scrub: func(call *callvet.Call) {
		*call = red.Calls([]callvet.Call{*call})[0]
	}})
}

// maxProxied bounds the conversations of a proxy: each may be a process.
const maxProxied = 16

// open connects with the server.
func (p *proxyServer) open(ctx context.Context, h mcp.Hello) (mcp.Talk, error) {
	t := &proxyTalk{server: p, asked: map[string]*passing{}}
	cfg := p.cfg
	cfg.Changed = h.Changed
	var err error
	if t.session, err = mcp.Connect(ctx, cfg); err != nil {
		return nil, err
	}
	if err := t.list(ctx); err != nil {
		return nil, errors.Join(err, t.session.Close())
	}
	task := cmp.Or(h.Query["task"], p.req.Task)
	t.talk.world = world.Faulty(p.recorded(t, task, cmp.Or(p.req.Agent, h.Client, "mcp")), p.faults,
		world.Attempt{Seed: p.req.Seed, Case: task}, true)
	t.talk.log = p.log.attempt(cmp.Or(task, sessionID(p.app.Config.Now())), cmp.Or(p.req.Agent, h.Client, "mcp"))
	t.task = task
	if p.guards != nil {
		tools, _ := t.catalogue()
		t.talk.guard = p.guards.Attempt(task, tools)
	}
	peer := t.session.Server()
	p.add(1, 0)
	p.problems(t.listing.Problems)
	p.once("between %s and %s %s, with %d tools, MCP %s over %s", cmp.Or(h.Client, "an agent"), peer.Name, peer.Version,
		len(t.listing.Tools), peer.Protocol, peer.Transport)
	return t, nil
}

// once reports only about the first conversation, because the others are similar.
func (c *counter) once(format string, args ...any) {
	c.mu.Lock()
	first := c.out.Conversations == 1
	c.mu.Unlock()
	if first {
		c.note(format, args...)
	}
}

func (c *counter) problems(list []callvet.Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events.Problems(list)
}

// proxyTalk is a conversation of an agent with a foreign server. It is also the world that answers
// after the guard and the faults.
type proxyTalk struct {
	server  *proxyServer
	session *mcp.Session
	task    string // "": not named
	talk    conversation

	mu      sync.Mutex
	asked   map[string]*passing // calls that are being answered, by their ids
	listing *mcp.Listing
	guarded *mcp.Listing // that the guard has
	seen    int64
	broken  error
}

// passing is one call on its way to the server.
type passing struct {
	next   func() // lets the next call begin
	answer mcp.Answer
}

// list reads the tools of the server, again after it reported a change.
func (t *proxyTalk) list(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.session.Changed()
	if t.listing != nil && now == t.seen {
		return nil
	}
	l, err := t.session.List(ctx)
	if err != nil {
		return err
	}
	t.listing, t.seen = l, now
	return nil
}

// catalogue are the tools for the guard; changed: they differ from the earlier ones.
func (t *proxyTalk) catalogue() (tools []callvet.Tool, changed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	changed, t.guarded = t.listing != t.guarded, t.listing
	out := make([]callvet.Tool, len(t.listing.Tools))
	for i := range t.listing.Tools {
		out[i] = t.listing.Tools[i].Tool
	}
	return out, changed
}

// Greeting implements mcp.Talk: it describes the server behind the proxy.
func (t *proxyTalk) Greeting() mcp.Greeting {
	s := t.session.Server()
	return mcp.Greeting{
		Name: s.Name, Title: s.Title, Version: s.Version, Instructions: s.Instructions,
		Resources: s.Resources, Prompts: s.Prompts, Completions: s.Completions,
	}
}

// Tools implements mcp.Talk. They are passed on unchanged, except schemas of results that a guard
// or a fault may change.
func (t *proxyTalk) Tools(ctx context.Context) ([]json.RawMessage, error) {
	if err := t.list(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]json.RawMessage, len(t.listing.Tools))
	for i := range t.listing.Tools {
		out[i] = t.listing.Tools[i].Raw
		if t.server.guards != nil || len(t.server.faults) > 0 {
			out[i] = mcp.Passed(out[i])
		}
	}
	return out, nil
}

// Call implements mcp.Talk. Concurrent calls of the agent are made concurrently, unless there is a
// guard or faults: their decisions depend on the earlier calls.
func (t *proxyTalk) Call(ctx context.Context, tool string, args json.RawMessage, next func()) (json.RawMessage, error) {
	t.server.add(0, 1)
	if t.talk.guard != nil || len(t.server.faults) > 0 {
		next = func() {}
	}
	own := &passing{next: next}
	if t.talk.guard != nil {
		if err := t.list(ctx); err != nil {
			return nil, err
		}
		if tools, changed := t.catalogue(); changed {
			t.talk.guard = t.server.guards.Attempt(t.task, tools)
		}
	}
	call, err := t.talk.call(ctx, tool, args, func(id string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.asked[id] = own
	})
	t.mu.Lock()
	delete(t.asked, call.ID)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	was := &own.answer.Reply
	if call.Env.IsLive() && call.Status == was.Status && call.Error == was.Error &&
		bytes.Equal(call.Result, was.Result) {
		if own.answer.Refused != nil {
			return nil, own.answer.Refused
		}
		if own.answer.Raw != nil {
			return own.answer.Raw, nil
		}
	}
	return own.answer.Changed(&callvet.Reply{Status: call.Status, Result: call.Result, Error: call.Error})
}

// Answer implements callvet.World: the server is asked. A broken connection is not opened again,
// because the server's state of the conversation is lost with it.
func (t *proxyTalk) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	t.mu.Lock()
	broken, own := t.broken, t.asked[call.ID]
	t.mu.Unlock()
	own.next()
	if broken != nil {
		return callvet.Reply{}, fmt.Errorf("the connection broke before: %w", broken)
	}
	a, err := t.session.Ask(ctx, call.Tool, call.Args)
	if err != nil {
		if ctx.Err() == nil {
			t.mu.Lock()
			t.broken = err
			t.mu.Unlock()
		}
		return callvet.Reply{}, err
	}
	own.answer = a
	a.Reply.Env = callvet.Live("mcp", t.session.Server().Where)
	return a.Reply, nil
}

// Forward implements mcp.Talk: resources and prompts pass unchanged.
func (t *proxyTalk) Forward(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return t.session.Forward(ctx, method, params)
}

// Close implements mcp.Talk.
func (t *proxyTalk) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return errors.Join(t.talk.log.end(ctx, t.task != ""), t.session.Close())
}
