// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
)

func mock(tool, args string, results ...string) callvet.Mock {
	m := callvet.Mock{Tool: tool}
	if args != "" {
		m.Args = json.RawMessage(args)
	}
	for _, r := range results {
		m.Replies = append(m.Replies, callvet.MockReply{Result: json.RawMessage(r)})
	}
	return m
}

func TestMocks(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{
		Tools: []callvet.Tool{{Name: "search"}, {Name: "book"}, {Name: "ping"}, {Name: "fail"}, {Name: "exact"}},
		Mocks: []callvet.Mock{mock("book", "", `"suite book"`), mock("search", "", `"suite search"`)},
	}
	c := &callvet.Case{Mocks: []callvet.Mock{
		mock("Search", "", `"any"`),
		mock("search", `{"city":"Oslo"}`, `"oslo 1"`, `"oslo 2"`),
		mock("search", `{"city":"Oslo","when":{"day":1}}`, `"oslo day"`),
		mock("search", `{"n":5}`, `"five"`),
		mock("search", `{"n":"5"}`, `"text five"`),
		mock("exact", `{"a":1}`, `1`),
		{Tool: "fail", Replies: []callvet.MockReply{
			{Error: "down", LatencyMS: 20},
			{Status: callvet.StatusTimeout, Error: "slow"},
			{},
		}},
	}}
	w := world.Mocks(s, c, world.MockOptions{}) // one for all steps, so that sequences advance
	ok, execErr := callvet.StatusOK, callvet.StatusExecErr
	for _, step := range []struct {
		tool, args string
		want       callvet.Reply
	}{
		{"search", `{"city":"Paris"}`, callvet.Reply{Status: ok, Result: json.RawMessage(`"any"`)}},
		{"SEARCH", `{"city":"Oslo"}`, callvet.Reply{Status: ok, Result: json.RawMessage(`"oslo 1"`)}},
		{
			"search", `{"when":{"day":1.0,"hour":2},"city":"Oslo"}`,
			callvet.Reply{Status: ok, Result: json.RawMessage(`"oslo day"`)},
		},
		{"search", `{"city":"Oslo","x":1}`, callvet.Reply{Status: ok, Result: json.RawMessage(`"oslo 2"`)}},
		{"search", `{"city":"Oslo"}`, callvet.Reply{Status: ok, Result: json.RawMessage(`"oslo 2"`)}},
		{"search", `{"n":5.0}`, callvet.Reply{Status: ok, Result: json.RawMessage(`"five"`)}},
		{"search", `{"n":"5"}`, callvet.Reply{Status: ok, Result: json.RawMessage(`"text five"`)}},
		{"search", ``, callvet.Reply{Status: ok, Result: json.RawMessage(`"any"`)}},
		{"book", `{}`, callvet.Reply{Status: ok, Result: json.RawMessage(`"suite book"`)}},
		{
			"ping", `{}`,
			callvet.Reply{Status: ok, Result: json.RawMessage(`{"status":"ok"}`), Note: "no mock for this tool"},
		},
		{
			"exact", `{"a":2}`,
			callvet.Reply{Status: execErr, Error: "no result for these arguments", Note: "no mock fits the arguments"},
		},
		{
			"exact", `{"a":1,"a":2}`,
			callvet.Reply{Status: execErr, Error: "unreadable arguments: byte 8: duplicate key \"a\""},
		},
		{"nope", `{}`, callvet.Reply{Status: execErr, Error: `unknown tool "nope"`}},
		{"fail", `{}`, callvet.Reply{Status: execErr, Error: "down", Latency: 20 * time.Millisecond}},
		{"fail", `{}`, callvet.Reply{Status: callvet.StatusTimeout, Error: "slow"}},
		{"fail", `{}`, callvet.Reply{Status: ok, Result: json.RawMessage(`null`)}},
	} {
		step.want.Env = callvet.EnvMock
		got, err := w.Answer(t.Context(), callvet.Call{Tool: step.tool, Args: json.RawMessage(step.args)})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(step.want, got); d != "" {
			t.Errorf("%s(%s): %s", step.tool, step.args, d)
		}
	}
}

func TestNoWorldWithoutMocks(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{Tools: []callvet.Tool{{Name: "a"}}}
	if w := world.Mocks(s, &callvet.Case{}, world.MockOptions{}); w != nil {
		t.Errorf("a single-turn case without mocks has the world %v", w)
	}
	w := world.Mocks(s, &callvet.Case{MultiTurn: &callvet.MultiTurn{}}, world.MockOptions{})
	if r, err := w.Answer(t.Context(), callvet.Call{Tool: "a"}); err != nil || string(r.Result) != `{"status":"ok"}` {
		t.Errorf("multi-turn without mocks: %+v, %v", r, err)
	}
}

func TestOfferedTools(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{Tools: []callvet.Tool{{Name: "a"}, {Name: "b"}}, Mocks: []callvet.Mock{mock("c", "", `1`)}}
	for _, tt := range []struct {
		name string
		s    *callvet.Suite
		c    *callvet.Case
		want map[string]callvet.Status
	}{
		{"all", s, &callvet.Case{}, map[string]callvet.Status{"a": "ok", "b": "ok", "c": "exec_error"}},
		{
			"restricted", s, &callvet.Case{ToolNames: []string{"b"}},
			map[string]callvet.Status{"a": "exec_error", "b": "ok"},
		},
		{"none", s, &callvet.Case{ToolNames: []string{}}, map[string]callvet.Status{"a": "exec_error"}},
		{
			"own", s, &callvet.Case{Tools: []callvet.Tool{{Name: "c"}}},
			map[string]callvet.Status{"a": "exec_error", "c": "ok"},
		},
		{
			"undeclared", &callvet.Suite{Mocks: s.Mocks}, &callvet.Case{},
			map[string]callvet.Status{"a": "exec_error", "c": "ok"},
		},
	} {
		w := world.Mocks(tt.s, tt.c, world.MockOptions{})
		for tool, want := range tt.want {
			if r, err := w.Answer(t.Context(), callvet.Call{Tool: tool}); err != nil || r.Status != want {
				t.Errorf("%s: %s answers %+v, %v; want %s", tt.name, tool, r, err, want)
			}
		}
	}
}

func TestBadMockIsTheSuitesFault(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{Tools: []callvet.Tool{{Name: "a"}}, Mocks: []callvet.Mock{mock("a", `{`, `1`)}}
	if _, err := world.Mocks(s, &callvet.Case{}, world.MockOptions{}).Answer(t.Context(),
		callvet.Call{Tool: "a", Args: json.RawMessage(`{}`)}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

func TestRealLatency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &callvet.Suite{
			Tools: []callvet.Tool{{Name: "a"}},
			Mocks: []callvet.Mock{{Tool: "a", Replies: []callvet.MockReply{{LatencyMS: 1500}}}},
		}
		w := world.Mocks(s, &callvet.Case{}, world.MockOptions{RealLatency: true})
		began := time.Now()
		if _, err := w.Answer(t.Context(), callvet.Call{Tool: "a"}); err != nil ||
			time.Since(began) != 1500*time.Millisecond {
			t.Errorf("took %v, %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Answer(ctx, callvet.Call{Tool: "a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
}

// Whatever a call adds to the arguments a mock asks for, the mock still fits; and
// the same calls give the same answers.
func TestExtraArgumentsNeverUnfit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.StringMatching(`[a-c]`), rapid.IntRange(0, 2)).Draw(t, "want")
		got := rapid.MapOf(rapid.StringMatching(`[d-f]`), rapid.IntRange(0, 2)).Draw(t, "extra")
		for k, v := range want {
			got[k] = v
		}
		w, _ := json.Marshal(want)
		g, _ := json.Marshal(got)
		s := &callvet.Suite{Tools: []callvet.Tool{{Name: "a"}}, Mocks: []callvet.Mock{mock("a", string(w), `1`)}}
		r, err := world.Mocks(s, &callvet.Case{}, world.MockOptions{}).Answer(context.Background(),
			callvet.Call{Tool: "a", Args: g})
		if err != nil || string(r.Result) != "1" {
			t.Fatalf("mock %s, call %s: %+v, %v", w, g, r, err)
		}
	})
}
