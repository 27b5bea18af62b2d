// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// ruled denies calls whose arguments say so, hides a number from the world, and flags results.
type ruled struct{ talks []int }

func (g *ruled) Before(_ context.Context, talk []callvet.Turn, call callvet.Call) (callvet.Call, *callvet.Reply, []callvet.Ruling) {
	g.talks = append(g.talks, len(talk))
	if strings.Contains(string(call.Args), "deny") {
		return call, &callvet.Reply{Error: "not on the list", Status: callvet.StatusOK, Result: json.RawMessage(`1`)}, []callvet.Ruling{{Rule: "tool_not_allowed", Action: callvet.RulingDeny}}
	}
	if strings.Contains(string(call.Args), "secret") {
		call.Args = json.RawMessage(`{"q":"hidden"}`)
		return call, nil, []callvet.Ruling{{Rule: "pii_in_arguments", Action: callvet.RulingRedact}}
	}
	return call, nil, nil
}

func (*ruled) After(_ context.Context, _ callvet.Call, r callvet.Reply) (callvet.Reply, []callvet.Ruling) {
	if strings.Contains(string(r.Result), "hidden") {
		r.Result = json.RawMessage(`"checked"`)
		return r, []callvet.Ruling{{Rule: "result_size", Action: callvet.RulingFlag}}
	}
	return r, nil
}

func (*ruled) Timeout() time.Duration { return time.Hour }

// echo answers with the arguments that it got.
type echo struct{ calls int }

func (e *echo) Answer(_ context.Context, call callvet.Call) (callvet.Reply, error) {
	e.calls++
	return callvet.Reply{Result: call.Args, Env: callvet.EnvMock, Guard: []callvet.Ruling{{Rule: "own", Action: callvet.RulingFlag}}}, nil
}

// TestGuardStandsBeforeTheWorld: a denied call reaches no world and has no status, whatever the
// guard's reply says; the world gets what the guard lets pass, and the trace has what was emitted.
func TestGuardStandsBeforeTheWorld(t *testing.T) {
	t.Parallel()
	s := suite(1)
	s.Cases[0].MultiTurn = &callvet.MultiTurn{}
	round := 0
	cfg, j := onPaper(s, 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		round++
		return map[int]*callvet.Response{1: calls("weather", `{"q":"deny"}`), 2: calls("weather", `{"q":"secret"}`), 3: calls("weather", `{"q":"x"}`), 4: says("done")}[round], nil
	})
	world, guard := &echo{}, &ruled{}
	cfg.Worlds = func(*callvet.Case) callvet.World { return world }
	cfg.Guards = func(*callvet.Case) run.Guard { return guard }
	mustRun(t, cfg)
	flag := callvet.Ruling{Rule: "own", Action: callvet.RulingFlag}
	var got []callvet.Call
	for _, c := range j.cells[0].Trace.Calls() {
		c.ID = ""
		got = append(got, c)
	}
	if d := cmp.Diff([]callvet.Call{
		{Tool: "weather", Args: json.RawMessage(`{"q":"deny"}`), Error: "not on the list", Env: callvet.EnvGuard, Guard: []callvet.Ruling{{Rule: "tool_not_allowed", Action: callvet.RulingDeny}}},
		{Tool: "weather", Args: json.RawMessage(`{"q":"secret"}`), Status: callvet.StatusOK, Result: json.RawMessage(`"checked"`), Env: callvet.EnvMock, Guard: []callvet.Ruling{{Rule: "pii_in_arguments", Action: callvet.RulingRedact}, flag, {Rule: "result_size", Action: callvet.RulingFlag}}},
		{Tool: "weather", Args: json.RawMessage(`{"q":"x"}`), Status: callvet.StatusOK, Result: json.RawMessage(`{"q":"x"}`), Env: callvet.EnvMock, Guard: []callvet.Ruling{flag}},
	}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{2, 4, 6}, guard.talks); d != "" || world.calls != 2 {
		t.Errorf("the world was asked %d times, the guard saw turns %s", world.calls, d)
	}
	if told := j.cells[0].Trace.Turns[1].Content; told != `{"error":"not on the list","status":"denied"}` {
		t.Errorf("the target was told %s", told)
	}
}
