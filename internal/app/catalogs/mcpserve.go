// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/mcp"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score"
)

// MCPStreams are how agents reach a server of this program: Listener over HTTP, or else In and Out
// as standard input and output.
type MCPStreams struct {
	In       io.Reader
	Out      io.Writer
	Listener mcp.Listener
}

// TraceRequest sets the trace file for the calls of an agent.
type TraceRequest struct {
	// Output is a trace file to which each call is added before it is answered; "": none.
	Output string `json:"output,omitempty"`
	// Agent is the name of the agent in it; "": the agent's own name.
	Agent string `json:"agent,omitempty"`
	// Keep are kinds of personal data that are not redacted.
	Keep []string `json:"keep,omitempty"`
}

// ServeMCPRequest requests a server with the tools of a suite, which answers with its mocks.
type ServeMCPRequest struct {
	app.SuiteRequest
	// Case is the case with the tools and mocks for conversations; "": those of the suite, unless
	// the address names a case (?case=ID).
	Case string `json:"case,omitempty"`
	// Faults is a file with faults that replace the suite's own; Seed is the seed of their chances.
	Faults string `json:"faults,omitempty"`
	Seed   int64  `json:"seed,omitempty"`
	// RealLatency waits for the latencies of mocks and faults.
	RealLatency bool `json:"real_latency,omitempty"`
	// NoLint serves a suite with errors.
	NoLint bool `json:"no_lint,omitempty"`
	// AllowHost are the allowed host names of the server, in addition to those of this machine.
	AllowHost []string `json:"allow_host,omitempty"`
	TraceRequest
}

// ServedMCP is the result of a server after it ended.
type ServedMCP struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Conversations is how many conversations began, Calls how many calls they made.
	Conversations int `json:"conversations"`
	Calls         int `json:"calls"`
	// Written counts the attempts in the trace file.
	Written int `json:"written"`
}

// counter counts conversations and calls.
type counter struct {
	mu     sync.Mutex
	out    ServedMCP
	events app.Events
}

func (c *counter) add(conversations, calls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Conversations += conversations
	c.out.Calls += calls
}

func (c *counter) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events.Note("mcp", format, args...)
}

// ServeMCP answers agents until ctx ends, or until standard input ends. Each conversation has its
// own mock world, like each attempt of a run. The error wraps callvet.ErrInvalid if the suite
// cannot be served.
func ServeMCP(ctx context.Context, a *app.App, req ServeMCPRequest, via MCPStreams,
	events app.Events,
) (*ServedMCP, error) {
	m, err := newMockServer(ctx, a, &req, events)
	if err != nil {
		return nil, err
	}
	return serve(ctx, a, via, &m.counter, m.log, &mcp.Serving{Hosts: req.AllowHost, Now: a.Config.Now, Open: m.open})
}

// serve answers agents over HTTP or standard input, and closes the trace file.
func serve(ctx context.Context, a *app.App, via MCPStreams, count *counter, log *traceLog,
	s *mcp.Serving,
) (*ServedMCP, error) {
	var err error
	if via.Listener == nil {
		err = s.Stdio(ctx, via.In, via.Out)
	} else {
		if !mcp.Local(via.Listener) {
			count.events.Warn("mcp",
				"anyone with network access to this machine can call these tools: there is no authentication")
		}
		count.note("MCP at http://%s%s", via.Listener.Addr(), mcp.Path)
		err = s.HTTP(ctx, via.Listener)
	}
	err = errors.Join(err, log.Close())
	out := count.out
	out.Format, out.Version = "callvet.mcp-served", 1
	if log != nil {
		out.Written = log.tasks
		if log.hidden > 0 {
			count.note("%s replaced in %s; {keep} keeps a kind",
				plain.Count(int(log.hidden), "secret or personal value was", "secrets and personal values were"),
				log.name)
		}
	}
	return &out, err
}

// mockServer makes the conversations of a suite.
type mockServer struct {
	counter
	app    *app.App
	req    *ServeMCPRequest
	suite  *callvet.Suite
	cases  map[string]*callvet.Case
	scorer *score.Scorer
	log    *traceLog
}

func newMockServer(ctx context.Context, a *app.App, req *ServeMCPRequest, events app.Events) (*mockServer, error) {
	faults, err := a.ReadFaults(req.Faults, events)
	if err != nil {
		return nil, err
	}
	read, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, err
	}
	m := &mockServer{app: a, req: req, suite: read.Suite, cases: map[string]*callvet.Case{}}
	m.events = events
	for c := range read.Cases(ctx) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.cases[c.ID] = c
	}
	problems := append(read.Problems(), a.Secrets().Suite(read.Suite)...)
	if err := runs.LintVerdict(problems, &app.RunRequest{SuiteRequest: req.SuiteRequest, NoLint: req.NoLint},
		events); err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		read.Suite.Faults = faults
	}
	if _, err := m.caseOf(req.Case); err != nil {
		return nil, err
	}
	if len(m.suite.Tools) == 0 &&
		!slices.ContainsFunc(slices.Collect(maps.Values(m.cases)),
			func(c *callvet.Case) bool { return c.Tools != nil }) {
		return nil, app.Wrong("suite", req.Suite,
			"it has no tools that could be served: {tools} names a file or folder with some")
	}
	for _, c := range m.cases {
		if _, err := definitions(m.toolsOf(c)); err != nil {
			return nil, fmt.Errorf("serve case %s: %w", c.ID, err)
		}
	}
	m.scorer, _ = score.New(m.suite, score.Config{}) // the suite was linted
	m.log, err = openTraceLog(a, req.Output, req.Keep)
	return m, err
}

// caseOf finds a case; "" is a case with the suite's tools and mocks.
func (m *mockServer) caseOf(id string) (*callvet.Case, error) {
	if id == "" {
		return &callvet.Case{MultiTurn: &callvet.MultiTurn{}}, nil
	}
	if c := m.cases[id]; c != nil {
		return c, nil
	}
	ids := make([]string, 0, len(m.cases))
	for id := range m.cases {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	bad := &callvet.FieldError{
		Field: "case", Kind: callvet.ErrNotFound,
		Text: fmt.Sprintf("{case} %s: the suite has no such case", id),
	}
	if near := callvet.Nearest(id, ids); near != "" {
		bad.Fix = "did you mean " + near + "?"
	}
	return nil, bad
}

// toolsOf returns the tools of a case, the newest version of each.
func (m *mockServer) toolsOf(c *callvet.Case) []callvet.Tool {
	all := m.suite.Tools
	if c.Tools != nil {
		all = c.Tools
	}
	var out []callvet.Tool
	for i := range all {
		t := &all[i]
		if c.ToolNames != nil && !slices.Contains(c.ToolNames, t.Name) {
			continue
		}
		at := slices.IndexFunc(out, func(o callvet.Tool) bool { return o.Name == t.Name })
		switch {
		case at < 0:
			out = append(out, *t)
		case callvet.CompareVersions(t.Version, out[at].Version) > 0:
			out[at] = *t
		}
	}
	return out
}

func definitions(tools []callvet.Tool) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(tools))
	for i := range tools {
		var err error
		if out[i], err = mcp.Definition(&tools[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// open begins a conversation.
func (m *mockServer) open(_ context.Context, h mcp.Hello) (mcp.Talk, error) {
	id := cmp.Or(h.Query["case"], m.req.Case)
	c, err := m.caseOf(id)
	if err != nil {
		return nil, err
	}
	tools := m.toolsOf(c)
	t := &mockTalk{server: m, tools: tools, id: id}
	if t.defs, err = definitions(tools); err != nil {
		return nil, err
	}
	acting := c
	if c.MultiTurn == nil { // so that calls are answered in a case of one turn, too
		with := *c
		with.MultiTurn = &callvet.MultiTurn{}
		acting = &with
	}
	t.talk.world = world.Faulty(
		world.Mocks(m.suite, acting, world.MockOptions{RealLatency: m.req.RealLatency}), callvet.FaultsOf(m.suite, c),
		world.Attempt{Seed: m.req.Seed, Case: c.ID}, m.req.RealLatency,
	)
	compiled, _ := m.scorer.Compile(c) // the suite was linted
	t.talk.check = compiled.Check
	t.talk.log = m.log.attempt(cmp.Or(id, sessionID(m.app.Config.Now())), cmp.Or(m.req.Agent, h.Client, "mcp"))
	m.add(1, 0)
	return t, nil
}

// sessionID returns the task of an unnamed conversation. Conversations that begin in the same
// second are attempts at the same task.
func sessionID(now time.Time) string { return "session-" + now.UTC().Format("20060102T150405Z") }

// mockTalk is a conversation with mocks.
type mockTalk struct {
	server *mockServer
	id     string // of the case; "": none
	tools  []callvet.Tool
	defs   []json.RawMessage
	talk   conversation
}

// Greeting implements mcp.Talk.
func (t *mockTalk) Greeting() mcp.Greeting {
	return mcp.Greeting{Name: cmp.Or(t.server.suite.Name, "callvet"), Version: t.server.app.Config.Version}
}

// Tools implements mcp.Talk.
func (t *mockTalk) Tools(context.Context) ([]json.RawMessage, error) { return t.defs, nil }

// Call implements mcp.Talk. Mocks answer one call after the other, because an answer may depend on
// earlier calls.
func (t *mockTalk) Call(ctx context.Context, tool string, args json.RawMessage, _ func()) (json.RawMessage, error) {
	t.server.add(0, 1)
	known := slices.ContainsFunc(t.tools, func(o callvet.Tool) bool { return strings.EqualFold(o.Name, tool) })
	call, err := t.talk.call(ctx, tool, args, nil)
	switch {
	case err != nil:
		return nil, err
	case !known && len(t.tools) > 0:
		return nil, &mcp.UnknownToolError{Tool: tool}
	}
	return mcp.Result(&callvet.Reply{Status: call.Status, Result: call.Result, Error: call.Error})
}

// Forward implements mcp.Talk: a suite has tools and nothing else.
func (t *mockTalk) Forward(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, fmt.Errorf("%s: a suite has tools only: %w", method, callvet.ErrUnavailable)
}

// closeTime is how long the last line of an attempt may take, when everything ends.
const closeTime = 300 * time.Millisecond

// Close implements mcp.Talk.
func (t *mockTalk) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return t.talk.log.end(ctx, t.id != "")
}
