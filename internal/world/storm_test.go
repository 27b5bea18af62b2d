// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/safety"
)

// archive is a journal that keeps all traces.
type archive struct{ traces chan callvet.Trace }

func (a *archive) Encode(dst []byte, cell *callvet.Cell, _ []byte) ([]byte, error) {
	a.traces <- cell.Trace
	return append(dst, 'x'), nil
}

func (*archive) Append(context.Context, string, [][]byte, callvet.Spent) error { return nil }

// stubborn calls its tools in every round until there were so many, whatever they answer.
type stubborn struct {
	rounds int
	calls  []callvet.Call
}

func (s stubborn) Generate(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
	rounds := 0
	for i := range req.Turns {
		if req.Turns[i].Role == callvet.RoleAssistant {
			rounds++
		}
	}
	turn := callvet.Turn{Role: callvet.RoleAssistant, Content: "I give up."}
	if rounds < s.rounds {
		turn.Calls = append(turn.Calls, s.calls...)
	}
	return &callvet.Response{Turns: []callvet.Turn{turn}}, nil
}

// carry runs attempts of a model through the turn loop against live tools, with a guard of all of
// them, and gives their traces.
func carry(t *testing.T, file *world.ToolsFile, tools []callvet.Tool, policy string, model callvet.Model, attempts,
	concurrency int,
) []callvet.Trace {
	t.Helper()
	g, err := world.NewGuards(world.GuardsConfig{Policy: open(t, policy), Tools: tools, Clock: world.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	ready, err := world.NewTools(file, world.ToolsConfig{Client: g.Client(nil)})
	if err != nil {
		t.Fatal(err)
	}
	s := &callvet.Suite{Name: "live", Tools: tools}
	for i := range attempts {
		s.Cases = append(s.Cases,
			callvet.Case{
				ID:        fmt.Sprint(i),
				Input:     []callvet.Turn{{Role: callvet.RoleUser, Content: "Do what is needed."}},
				MultiTurn: &callvet.MultiTurn{MaxRounds: 50}, Expect: callvet.Expect{ResponseNonEmpty: true},
			})
	}
	scorer, _ := score.New(s, score.Config{})
	j := &archive{make(chan callvet.Trace, attempts)}
	_, err = run.Run(t.Context(), run.Config{
		Suite: s, RunID: "r", Journal: j, Limits: map[string]run.Limits{"": {Concurrency: concurrency}},
		Targets: []run.Target{{Target: callvet.Target{Name: "m", Provider: "m"}, Model: model}},
		Compile: func(k *callvet.Case) run.Compiled { out, _ := scorer.Compile(k); return out },
		Worlds:  func(*callvet.Case, string, int) callvet.World { return ready.World() },
		Guards:  func(k *callvet.Case) run.Guard { return g.Attempt(k.ID, nil) },
	})
	if err != nil {
		t.Fatal(err)
	}
	close(j.traces)
	var out []callvet.Trace
	for tr := range j.traces {
		out = append(out, tr)
	}
	if len(out) != attempts {
		t.Fatalf("%d of %d attempts were kept", len(out), attempts)
	}
	return out
}

// TestLiveErrorStorm: of 1,000 calls of a tool that is down, few reach it: as many as may fail one
// after the other before the breaker opens, and those that were under way by then. All are in the
// traces, with what became of them.
func TestLiveErrorStorm(t *testing.T) {
	t.Parallel()
	const attempts, each, concurrency, most = 100, 10, 8, 5
	var reached atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		http.Error(w, "overloaded", http.StatusServiceUnavailable)
	}))
	defer srv.Close()
	yes := true
	file := &world.ToolsFile{Tools: map[string]world.LiveTool{"look_up": {
		ReadOnly: &yes,
		HTTP:     &world.HTTPTool{URL: srv.URL},
	}}}
	policy := fmt.Sprintf("stop_after_failures: %d, reopen_seconds: 3600, guard: {backoff_ms: 1, max_backoff_ms: 2}",
		most)
	traces := carry(t, file, []callvet.Tool{{Name: "look_up", ReadOnly: &yes}}, policy,
		stubborn{each, []callvet.Call{c("look_up", `{"q":"x"}`)}}, attempts, concurrency)
	failed, denied := 0, 0
	for i := range traces {
		for _, call := range traces[i].Calls() {
			switch {
			case call.Status == callvet.StatusExecErr && call.Env.IsLive() && strings.HasPrefix(call.Error, "HTTP 503"):
				failed++
			case call.Denied() && len(call.Guard) > 0 &&
				call.Guard[len(call.Guard)-1].Rule == string(safety.RuleFailing):
				denied++
			default:
				t.Errorf("a call that nobody expects: %+v", call)
			}
		}
	}
	t.Logf("%d calls: %d reached the tool, %d were denied", failed+denied, failed, denied)
	if failed+denied != attempts*each || failed != int(reached.Load()) {
		t.Errorf("%d calls are in the traces (%d failed), %d reached the tool", failed+denied, failed, reached.Load())
	}
	if failed > most+concurrency {
		t.Errorf("%d calls reached the tool, at most %d may", failed, most+concurrency)
	}
}

// TestMutatingIsNeverExecuted: a model asks for a tool that reads and for one that writes, a
// hundred times, and the server is asked for the first one only.
// Source: Evaluating Tool Calling, 14-2.
func TestMutatingIsNeverExecuted(t *testing.T) {
	t.Parallel()
	var reads, writes atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			reads.Add(1)
		} else {
			writes.Add(1)
		}
		_, _ = io.WriteString(w, "done")
	}))
	defer srv.Close()
	yes, no := true, false
	tools := []callvet.Tool{{Name: "read", ReadOnly: &yes}, {Name: "write", ReadOnly: &no}, {Name: "unsaid"}}
	file := &world.ToolsFile{Tools: map[string]world.LiveTool{}}
	for i := range tools {
		file.Tools[tools[i].Name] = world.LiveTool{
			ReadOnly: &no,
			HTTP:     &world.HTTPTool{URL: srv.URL + "/" + tools[i].Name},
		}
	}
	const attempts = 100
	calls := []callvet.Call{c("read", `{"id":1}`), c("write", `{"id":1}`), c("unsaid", `{}`), c("WRITE", `{"id":2}`)}
	for _, policy := range []string{
		"read_only: true, guard: {}", "confirm_writes: true, confirm: user, guard: {}",
		"confirm_writes: true, confirm: deny, guard: {}",
	} {
		reads.Store(0)
		traces := carry(t, file, tools, policy, stubborn{1, calls}, attempts, 8)
		if reads.Load() != attempts || writes.Load() != 0 {
			t.Errorf("%s: %d reads, %d writes", policy, reads.Load(), writes.Load())
		}
		var first json.RawMessage
		for i := range traces {
			for k, call := range traces[i].Calls() {
				if call.Denied() != (k > 0) {
					t.Errorf("%s: call %d: %+v", policy, k, call)
				}
			}
			got, err := json.Marshal([]any{traces[i].Turns[0].Calls[1:], traces[i].Turns[1:]})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			}
			if string(got) != string(first) {
				t.Errorf("%s: attempt %d is another one:\n%s\n%s", policy, i, got, first)
			}
		}
	}
}
