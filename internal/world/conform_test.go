// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/mcp"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/value"
)

// kind is one kind of world over the tools of backend.
type kind struct {
	env string // the beginning of its description of itself
	// open makes a world for each attempt, and counts the writes that were executed.
	open func(t *testing.T) (world func() callvet.World, writes func() int)
	// shared: the state of a tool belongs to a server, not to the attempt.
	shared bool
	// recorded: nothing is executed, and a tool is known by its recordings.
	recorded bool
}

var conformTools = []string{"echo", "remember", "recall", "fail", "hang", "late", "write"}

func kinds() map[string]kind {
	return map[string]kind{
		"mock":     {env: "mock", open: mockWorld},
		"recorded": {env: "recorded", open: recordedWorld, shared: true, recorded: true},
		"http":     {env: "live http http://127.0.0.1:", open: httpWorld, shared: true},
		"command":  {env: "live command ", open: commandWorld},
		"mcp":      {env: "live mcp http://127.0.0.1:", open: mcpWorld},
	}
}

func mockWorld(*testing.T) (func() callvet.World, func() int) {
	reply := func(r callvet.MockReply) []callvet.MockReply { return []callvet.MockReply{r} }
	s := &callvet.Suite{Mocks: []callvet.Mock{
		{
			Tool: "echo",
			Replies: reply(
				callvet.MockReply{Template: json.RawMessage(
					`{"got":{"b":"{{args.b}}","a":"{{args.a}}","n":"{{args.n}}"}}`)}),
		},
		{
			Tool: "remember",
			Replies: reply(callvet.MockReply{
				Result: json.RawMessage(`"kept"`),
				Set:    map[string]callvet.MockState{"memory": {Value: "full"}},
			}),
		},
		{Tool: "recall", Replies: reply(callvet.MockReply{Result: json.RawMessage(`"nothing"`)})},
		{
			Tool: "recall", When: map[string]string{"memory": "full"},
			Replies: reply(callvet.MockReply{Result: json.RawMessage(`"a secret of one"`)}),
		},
		{Tool: "fail", Replies: reply(callvet.MockReply{Error: "it is down"})},
		{Tool: "hang", Replies: reply(callvet.MockReply{LatencyMS: 3_600_000})},
		{Tool: "late", Replies: reply(callvet.MockReply{Status: callvet.StatusTimeout, Error: "no answer"})},
		{Tool: "write", Replies: reply(callvet.MockReply{Result: json.RawMessage(`"written"`)})},
	}}
	var writes atomic.Int64
	return func() callvet.World {
		w := world.Mocks(s, &callvet.Case{}, world.MockOptions{RealLatency: true})
		return liveAnswering(func(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
			if call.Tool == "write" {
				writes.Add(1)
			}
			return w.Answer(ctx, call)
		})
	}, func() int { return int(writes.Load()) }
}

func recordedWorld(t *testing.T) (func() callvet.World, func() int) {
	t.Helper()
	var list []*world.Recording
	for tool, r := range map[string]world.Recording{
		"echo":   {Args: json.RawMessage(everyArgument), Result: json.RawMessage(`{"got":` + everyArgument + `}`)},
		"recall": {Result: json.RawMessage(`"nothing"`)}, "fail": {Status: callvet.StatusExecErr, Error: "it is down"},
		"hang": {LatencyMS: 3_600_000}, "late": {Status: callvet.StatusTimeout, Error: "no answer"},
		"write": {Args: json.RawMessage(`{"n":5}`), Result: json.RawMessage(`"written"`)},
	} {
		r.Tool, r.Call = tool, 1
		if r.Status == "" {
			r.Status = callvet.StatusOK
		}
		if r.Args == nil {
			r.Args = json.RawMessage(`{}`)
		}
		r.Args = value.Canonical(r.Args)
		list = append(list, &r)
	}
	all, err := world.RecordingsOf(list)
	if err != nil {
		t.Fatal(err)
	}
	return func() callvet.World {
		return all.World(world.Conversation{}, world.AnswerOptions{ErrorOnMiss: true, RealLatency: true})
	}, func() int { return 0 }
}

// liveAnswering is a World made of a function.
type liveAnswering func(ctx context.Context, call callvet.Call) (callvet.Reply, error)

func (f liveAnswering) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	return f(ctx, call)
}

// ready makes tools of a file with one way for all of them.
func ready(t *testing.T, tool func(name string) world.LiveTool, env ...string) *world.Tools {
	t.Helper()
	f := &world.ToolsFile{Tools: map[string]world.LiveTool{}}
	for _, name := range conformTools {
		one := tool(name)
		reads := name != "write"
		one.ReadOnly = &reads
		if name == "late" {
			one.TimeoutMS = 200
		}
		f.Tools[name] = one
	}
	tools, err := world.NewTools(f, world.ToolsConfig{Client: &http.Client{Transport: &http.Transport{}}, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func httpWorld(t *testing.T) (func() callvet.World, func() int) {
	var mu sync.Mutex
	var before string
	writes := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		args, _ := io.ReadAll(r.Body)
		mu.Lock()
		tool := strings.TrimPrefix(r.URL.Path, "/")
		result, failed, hangs := liveBackend(&before, tool, args)
		if tool == "write" {
			writes++
		}
		mu.Unlock()
		switch {
		case hangs:
			<-r.Context().Done()
		case failed:
			http.Error(w, "it is down", http.StatusBadGateway)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, result)
		}
	}))
	t.Cleanup(srv.Close)
	tools := ready(t, func(name string) world.LiveTool {
		return world.LiveTool{HTTP: &world.HTTPTool{URL: srv.URL + "/" + name}}
	})
	return func() callvet.World { return tools.World() }, func() int { mu.Lock(); defer mu.Unlock(); return writes }
}

func commandWorld(t *testing.T) (func() callvet.World, func() int) {
	log := filepath.Join(t.TempDir(), "writes")
	tools := ready(t, func(string) world.LiveTool { return world.LiveTool{Command: "'" + os.Args[0] + "'"} },
		"LIVE_TOOL=honest", "LIVE_LOG="+log)
	return func() callvet.World { return tools.World() }, func() int {
		if _, err := os.Stat(log); err == nil {
			return 1
		}
		return 0
	}
}

func mcpWorld(t *testing.T) (func() callvet.World, func() int) {
	var mu sync.Mutex
	sessions, writes := map[string]*string{}, 0
	var list []any
	for _, name := range conformTools {
		list = append(list, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&req) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if req.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		mu.Lock()
		result, hangs := map[string]any{}, false
		switch req.Method {
		case "initialize":
			id := fmt.Sprint("session-", len(sessions))
			sessions[id] = new(string)
			w.Header().Set("Mcp-Session-Id", id)
			result = map[string]any{
				"protocolVersion": "2025-11-25",
				"capabilities":    map[string]any{"tools": map[string]any{}},
				"serverInfo":      map[string]any{"name": "conform", "version": "1"},
			}
		case "tools/list":
			result["tools"] = list
		case "tools/call":
			if req.Params.Name == "write" {
				writes++
			}
			var text string
			var failed bool
			text, failed, hangs = liveBackend(sessions[r.Header.Get("Mcp-Session-Id")], req.Params.Name,
				req.Params.Arguments)
			var plain string
			if json.Unmarshal([]byte(text), &plain) == nil {
				text = plain
			}
			result = map[string]any{"isError": failed, "content": []any{map[string]any{"type": "text", "text": text}}}
			if req.Params.Name == "echo" {
				result["structuredContent"] = json.RawMessage(text)
			}
		}
		mu.Unlock()
		if hangs {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result})
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	f := &world.ToolsFile{Tools: map[string]world.LiveTool{}, Servers: map[string]world.ToolServer{"s": {URL: srv.URL}}}
	for _, name := range conformTools {
		reads := name != "write"
		one := world.LiveTool{ReadOnly: &reads, MCP: "s"}
		if name == "late" {
			one.TimeoutMS = 200
		}
		f.Tools[name] = one
	}
	tools, err := world.NewTools(f,
		world.ToolsConfig{Servers: map[string]func() callvet.World{"s": func() callvet.World {
			return mcp.NewWorld(mcp.Config{URL: srv.URL, Transport: mcp.Streamable, Protocol: "2025-11-25"})
		}}})
	if err != nil {
		t.Fatal(err)
	}
	return func() callvet.World { return tools.World() }, func() int { mu.Lock(); defer mu.Unlock(); return writes }
}

// TestWorldsConform holds every kind of world to the same table.
func TestWorldsConform(t *testing.T) {
	t.Parallel()
	all := kinds()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := all[name]
			make1, writes := k.open(t)
			world := func() callvet.World {
				w := make1()
				t.Cleanup(func() {
					if c, ok := w.(io.Closer); ok {
						if err := c.Close(); err != nil {
							t.Error(err)
						}
					}
				})
				return w
			}
			answersTable(t, &k, world())
			ended(t, world)
			isolated(t, &k, world)
			unconfirmed(t, &k, world(), writes)
		})
	}
}

// everyArgument has what a careless reader of JSON would change.
const everyArgument = `{"b": 1.0, "a": ["é","\u0000x",null,{"k":true}], "n": 9007199254740993}`

// answersTable: arguments arrive as they are, mistakes of tools are answers, and each names who
// gave it.
func answersTable(t *testing.T, k *kind, w callvet.World) {
	t.Helper()
	const args = everyArgument
	unknown := `unknown tool "nobody_has_it"`
	if k.recorded {
		unknown = "no recording of this call"
	}
	for _, tc := range []struct {
		tool, args, result string
		status             callvet.Status
		want               string
	}{
		{"echo", args, `{"got":` + args + `}`, callvet.StatusOK, ""},
		{"fail", `{}`, "", callvet.StatusExecErr, "it is down"},
		{"nobody_has_it", `{}`, "", callvet.StatusExecErr, unknown},
		{"late", `{}`, "", callvet.StatusTimeout, "no answer"},
		{"recall", `{}`, `"nothing"`, callvet.StatusOK, ""},
	} {
		r, err := w.Answer(t.Context(), callvet.Call{Tool: tc.tool, Args: json.RawMessage(tc.args)})
		if err != nil || r.Status != tc.status || !strings.Contains(r.Error, tc.want) {
			t.Errorf("%s: %+v, %v", tc.tool, r, err)
			continue
		}
		if tc.result != "" && !sameJSON(t, r.Result, tc.result) {
			t.Errorf("%s gave %s, want %s", tc.tool, r.Result, tc.result)
		}
		if !strings.HasPrefix(string(r.Env), k.env) && tc.tool != "nobody_has_it" {
			t.Errorf("%s: %q answered, want %s", tc.tool, r.Env, k.env)
		}
	}
}

func sameJSON(t *testing.T, got json.RawMessage, want string) bool {
	t.Helper()
	a, err := value.Parse(got)
	if err != nil {
		t.Errorf("%s: %v", got, err)
		return false
	}
	b, err := value.Parse([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	return value.Equal(a, b)
}

// ended: a call ends with its context, during it and before it, and that is no answer of a tool.
func ended(t *testing.T, world func() callvet.World) {
	t.Helper()
	for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		begun := time.Now()
		if r, err := world().Answer(ctx, callvet.Call{Tool: "hang", Args: json.RawMessage(`{}`)}); err == nil ||
			!errors.Is(ctx.Err(), context.DeadlineExceeded) || time.Since(begun) > 20*time.Second {
			t.Errorf("after %s: %+v, %v", wait, r, err)
		}
		cancel()
	}
}

// isolated: what one conversation leaves in a tool is not there for another one.
func isolated(t *testing.T, k *kind, world func() callvet.World) {
	t.Helper()
	if k.shared {
		return
	}
	one, other := world(), world()
	call(t, one, "remember", `{"text":"a secret of one"}`)
	if r := call(t, other, "recall", `{}`); string(r.Result) != `"nothing"` {
		t.Errorf("another conversation knows %s", r.Result)
	}
	if r := call(t, one, "recall", `{}`); string(r.Result) != `"a secret of one"` {
		t.Errorf("its own conversation knows %s", r.Result)
	}
}

// unconfirmed: behind a guard nothing that writes is executed, until a user confirms.
func unconfirmed(t *testing.T, k *kind, w callvet.World, writes func() int) {
	t.Helper()
	p, err := world.ReadPolicy("p.yaml", []byte(`{tools: ["*"], guard: {}}`))
	if err != nil {
		t.Fatal(err)
	}
	no := false
	g, err := world.NewGuards(world.GuardsConfig{
		Policy: p,
		Tools:  []callvet.Tool{{Name: "write", ReadOnly: &no, Safety: &callvet.ToolSafety{}}}, Clock: world.RealClock{},
	})
	if err != nil {
		t.Fatal(err)
	}
	write := callvet.Call{Tool: "write", Args: json.RawMessage(`{"n":5}`)}
	talk := func(user ...callvet.Turn) []callvet.Turn {
		return append(user, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{write}})
	}
	ask := func(turns []callvet.Turn) bool {
		a := g.Attempt("a", nil)
		pass, deny, _ := a.Before(t.Context(), turns, write)
		if deny != nil {
			return false
		}
		if _, err := w.Answer(t.Context(), pass); err != nil {
			t.Fatal(err)
		}
		return true
	}
	unasked := talk(callvet.Turn{Role: callvet.RoleUser, Content: "Is 5 enough?"})
	if ask(unasked) || writes() != 0 {
		t.Errorf("%d writes without a confirmation", writes())
	}
	yes := talk(callvet.Turn{Role: callvet.RoleUser, Content: "Set it to 5."},
		callvet.Turn{Role: callvet.RoleAssistant, Content: "I will write 5. Is that right?"},
		callvet.Turn{Role: callvet.RoleUser, Content: "Yes, go ahead."})
	executed := 1
	if k.recorded {
		executed = 0
	}
	if !ask(yes) || writes() != executed {
		t.Errorf("%d writes after a confirmation", writes())
	}
}
