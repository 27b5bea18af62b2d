// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
)

// stored is an attempt with two rounds of calls, of which one was denied.
func stored() *callvet.Trace {
	say := func(calls ...callvet.Call) callvet.Turn {
		return callvet.Turn{Role: callvet.RoleAssistant, Calls: calls}
	}
	got := func(id string) callvet.Turn { return callvet.Turn{Role: callvet.RoleTool, CallID: id, Content: "1"} }
	return &callvet.Trace{
		CaseID: "a", Target: "m", Model: "m-1", FinishReason: "stop",
		Started: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), WallMS: 12.5, FirstTokenMS: 3,
		Usage: callvet.Usage{InputTokens: 7, Known: true}, End: callvet.EndAnswered, Outcome: callvet.OutcomeCalled,
		Turns: []callvet.Turn{
			say(callvet.Call{
				ID: "1", Tool: "get_refund_policy", Args: json.RawMessage(`{"days": 5.0}`),
				Status: callvet.StatusOK, Result: json.RawMessage(`{"n": 1}`), ExecMS: 24, Env: callvet.EnvMock,
			}),
			got("1"),
			say(
				callvet.Call{
					ID: "2", Tool: "create_refund", Args: json.RawMessage(`{}`), Error: "not allowed",
					Env: callvet.EnvGuard,
				},
				callvet.Call{
					ID: "3", Tool: "create_refund", Args: json.RawMessage(`{}`),
					Status: callvet.StatusRejected, Error: "id is missing",
				},
				callvet.Call{
					ID: "4", Tool: "create_refund", Args: json.RawMessage(`{"id":1}`),
					Status: callvet.StatusExecErr, Error: "down", Env: callvet.EnvFault,
				},
				callvet.Call{ID: "5", Tool: "create_refund", ArgsRaw: `{`},
			), got("2"), got("3"), got("4"),
			{Role: callvet.RoleAssistant, Content: "done"},
		},
	}
}

// TestOfTrace: calls that were answered are recordings of the attempt; denied, rejected and
// unreadable ones are none.
func TestOfTrace(t *testing.T) {
	t.Parallel()
	of := talk("a")
	of.Repeat = 1
	var got []string
	for _, r := range world.OfTrace(stored(), of, false) {
		got = append(got, r.Tool+"@"+r.ToolVersion+" "+string(r.Args)+" "+string(r.Status)+" "+string(r.Result)+r.Error+
			" "+r.Target)
		if r.Repeat != 2 || r.Call != 1 {
			t.Errorf("%+v", r)
		}
	}
	if d := cmp.Diff([]string{
		`get_refund_policy@v3 {"days":5} ok {"n":1} a/b`,
		`create_refund@v1 {"id":1} exec_error down a/b`,
	}, got); d != "" {
		t.Error(d)
	}
	if n := len(world.OfTrace(stored(), of, true)); n != 3 {
		t.Errorf("%d with the denied one", n)
	}
}

// next is a model that is asked where stored answers end.
type next struct{}

func (next) Generate(context.Context, *callvet.Request) (*callvet.Response, error) {
	return &callvet.Response{Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Content: "asked"}}}, nil
}

// TestAgain: answers are given in their order, with the times of the attempt once; a fork asks
// from its step on, and what is not stored did not run.
func TestAgain(t *testing.T) {
	t.Parallel()
	find := func(_ context.Context, id string, _ int) (world.Past, error) {
		if id != "a" {
			return world.Past{}, callvet.ErrNotFound
		}
		return world.Past{Trace: stored(), Input: 1}, nil
	}
	answered := func(m *world.Again, answers int) string {
		turns := []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}}
		for range answers {
			turns = append(turns, callvet.Turn{Role: callvet.RoleAssistant}, callvet.Turn{Role: callvet.RoleTool})
		}
		resp, err := m.Generate(t.Context(), &callvet.Request{CaseID: "a", Turns: turns})
		if err != nil {
			return err.Error()
		}
		for _, c := range resp.Turns[0].Calls {
			if c.Status != "" || c.Result != nil || c.Env != "" {
				t.Errorf("a call is answered before it is made: %+v", c)
			}
		}
		b, err := json.Marshal(map[string]any{
			"calls": len(resp.Turns[0].Calls), "text": resp.Turns[0].Content,
			"ms": resp.Wall.Seconds() * 1000, "in": resp.Usage.InputTokens, "started": !resp.Started.IsZero(),
			"why": resp.FinishReason,
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	whole, fork := &world.Again{Find: find}, &world.Again{Find: find, Steps: 1, Next: next{}}
	for _, tt := range []struct {
		m       *world.Again
		answers int
		want    string
	}{
		{whole, 0, `{"calls":1,"in":7,"ms":12.5,"started":true,"text":"","why":""}`},
		{whole, 1, `{"calls":4,"in":0,"ms":0,"started":false,"text":"","why":""}`},
		{whole, 2, `{"calls":0,"in":0,"ms":0,"started":false,"text":"done","why":"stop"}`},
		{whole, 3, "no_output: the stored attempt ended after 3 answers"},
		{fork, 0, `{"calls":1,"in":0,"ms":0,"started":false,"text":"","why":""}`},
		{fork, 1, `{"calls":0,"in":0,"ms":0,"started":false,"text":"asked","why":""}`},
	} {
		if got := answered(tt.m, tt.answers); got != tt.want {
			t.Errorf("after %d answers: %s, want %s", tt.answers, got, tt.want)
		}
	}
	var f *callvet.Fault
	if _, err := whole.Generate(t.Context(), &callvet.Request{CaseID: "b"}); !errors.As(err, &f) ||
		f.Kind != callvet.FaultMissing {
		t.Errorf("%v", err)
	}
}

// TestMocksOfGold: expected calls without a mock get one, with a result made of the check.
func TestMocksOfGold(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{Mocks: []callvet.Mock{mock("has", "", `1`)}}
	expect := func(tool, args, check string) callvet.ExpectedCall {
		return callvet.ExpectedCall{Tools: []string{tool}, Args: json.RawMessage(args), ResultCheck: check}
	}
	c := &callvet.Case{Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{
		expect("has", `{}`, ""), expect("any*", `{}`, ""),
		expect("a", `{"x":1}`, `window_days == 30 && note == 'it is'`), expect("a", `{"x":2}`, "window_days > 3"),
		expect("a", `{"x":1}`, ""), expect("b", `{}`, ""),
	}}}}}
	mocks, made, plain := world.MocksOfGold(s, c)
	if made != 1 || plain != 3 {
		t.Errorf("%d made of a check, %d not", made, plain)
	}
	want := []callvet.Mock{
		{
			Tool: "a", Args: json.RawMessage(`{"x":1}`),
			Replies: []callvet.MockReply{{Result: json.RawMessage(`{"window_days":30,"note":"it is"}`)}},
		},
		{
			Tool: "a", Args: json.RawMessage(`{"x":2}`),
			Replies: []callvet.MockReply{{Result: json.RawMessage(`{"status":"ok"}`)}},
		},
		{
			Tool: "b", Args: json.RawMessage(`{}`),
			Replies: []callvet.MockReply{{Result: json.RawMessage(`{"status":"ok"}`)}},
		},
	}
	if d := cmp.Diff(want, mocks); d != "" {
		t.Error(d)
	}
}

// TestMocksOf: mocks answer as the recordings of an attempt do.
func TestMocksOf(t *testing.T) {
	t.Parallel()
	got := world.MocksOf(world.OfTrace(stored(), talk("a"), true))
	want := []callvet.Mock{
		{
			Tool: "get_refund_policy", Args: json.RawMessage(`{"days":5}`),
			Replies: []callvet.MockReply{{Result: json.RawMessage(`{"n":1}`), LatencyMS: 24}},
		},
		{Tool: "create_refund", Args: json.RawMessage(`{"id":1}`), Replies: []callvet.MockReply{{Error: "down"}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
