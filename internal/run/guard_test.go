// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// ruled denies calls by their arguments, hides a number from the world, and flags results.
type ruled struct{ talks []int }

func (g *ruled) Before(_ context.Context, talk []callvet.Turn,
	call callvet.Call,
) (callvet.Call, *callvet.Reply, []callvet.Ruling) {
	g.talks = append(g.talks, len(talk))
	if strings.Contains(string(call.Args), "deny") {
		return call, &callvet.Reply{
			Error: "not on the list", Status: callvet.StatusOK,
			Result: json.RawMessage(`1`),
		}, []callvet.Ruling{{Rule: "tool_not_allowed", Action: callvet.RulingDeny}}
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
	return callvet.Reply{
		Result: call.Args, Env: callvet.EnvMock,
		Guard: []callvet.Ruling{{Rule: "own", Action: callvet.RulingFlag}},
	}, nil
}

// recorder keeps the names of the calls that the guard sees.
type recorder struct {
	ruled
	names []string
}

func (h *recorder) Before(_ context.Context, talk []callvet.Turn,
	call callvet.Call,
) (callvet.Call, *callvet.Reply, []callvet.Ruling) {
	for _, turn := range talk {
		for _, c := range turn.Calls {
			h.names = append(h.names, c.Tool)
		}
	}
	return call, nil, nil
}

// TestGuardSeesNamesThatCount: in the messages of the case, in earlier turns and in the call.
func TestGuardSeesNamesThatCount(t *testing.T) {
	t.Parallel()
	s := suite(1)
	s.Cases[0].MultiTurn = &callvet.MultiTurn{}
	s.Cases[0].Input = append(s.Cases[0].Input,
		callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: "mcp__weather"}}})
	round := 0
	cfg, j := onPaper(s, 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		if round++; round > 2 {
			return answer("done"), nil
		}
		return calls("mcp__weather", `{"q":"x"}`), nil
	})
	naming := callvet.NewNaming(&callvet.ToolNames{StripPrefixes: []string{"mcp__"}}, false, nil)
	cfg.Compile = func(*callvet.Case) run.Compiled { return compiled{naming: naming} }
	guard := &recorder{}
	cfg.Worlds = func(*callvet.Case, string, int) callvet.World { return &echo{} }
	cfg.Guards = func(*callvet.Case) run.Guard { return guard }
	mustRun(t, cfg)
	if d := cmp.Diff([]string{"weather", "weather", "weather", "weather", "weather"}, guard.names); d != "" {
		t.Error(d)
	}
	for _, c := range j.cells[0].Trace.Calls() {
		if c.Tool != "mcp__weather" {
			t.Errorf("the trace has %s", c.Tool)
		}
	}
}

// TestCutCallReachesNoWorld: a call that was cut off before its first argument is not made.
func TestCutCallReachesNoWorld(t *testing.T) {
	t.Parallel()
	s := suite(1)
	s.Cases[0].MultiTurn = &callvet.MultiTurn{}
	cfg, j := onPaper(s, 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		r := calls("weather", `{}`)
		r.FinishReason = "max_tokens"
		return r, nil
	})
	world := &echo{}
	cfg.Worlds = func(_ *callvet.Case, _ string, _ int) callvet.World { return world }
	mustRun(t, cfg)
	tr := &j.cells[0].Trace
	if world.calls != 0 || tr.Outcome != callvet.OutcomeUnparseable || tr.Reason != callvet.ReasonCutCall {
		t.Errorf("%d calls were answered, the attempt is %s for %q", world.calls, tr.Outcome, tr.Reason)
	}
}

// TestGuardStandsBeforeTheWorld: a denied call reaches no world and has no status, whatever the
// guard's reply contains; the world gets the call that the guard returns, and the trace has the
// call that was emitted.
func TestGuardStandsBeforeTheWorld(t *testing.T) {
	t.Parallel()
	s := suite(1)
	s.Cases[0].MultiTurn = &callvet.MultiTurn{}
	round := 0
	cfg, j := onPaper(s, 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		round++
		return map[int]*callvet.Response{
			1: calls("weather", `{"q":"deny"}`), 2: calls("weather", `{"q":"secret"}`),
			3: calls("weather", `{"q":"x"}`), 4: answer("done"),
		}[round], nil
	})
	world, guard := &echo{}, &ruled{}
	cfg.Worlds = func(_ *callvet.Case, _ string, _ int) callvet.World { return world }
	cfg.Guards = func(*callvet.Case) run.Guard { return guard }
	mustRun(t, cfg)
	flag := callvet.Ruling{Rule: "own", Action: callvet.RulingFlag}
	var got []callvet.Call
	for _, c := range j.cells[0].Trace.Calls() {
		c.ID = ""
		got = append(got, c)
	}
	if d := cmp.Diff([]callvet.Call{
		{
			Tool: "weather", Args: json.RawMessage(`{"q":"deny"}`), Error: "not on the list", Env: callvet.EnvGuard,
			Guard: []callvet.Ruling{{Rule: "tool_not_allowed", Action: callvet.RulingDeny}},
		},
		{
			Tool: "weather", Args: json.RawMessage(`{"q":"secret"}`), Status: callvet.StatusOK,
			Result: json.RawMessage(`"checked"`), Env: callvet.EnvMock,
			Guard: []callvet.Ruling{
				{Rule: "pii_in_arguments", Action: callvet.RulingRedact},
				flag,
				{Rule: "result_size", Action: callvet.RulingFlag},
			},
		},
		{
			Tool: "weather", Args: json.RawMessage(`{"q":"x"}`), Status: callvet.StatusOK,
			Result: json.RawMessage(`{"q":"x"}`), Env: callvet.EnvMock, Guard: []callvet.Ruling{flag},
		},
	}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{2, 4, 6}, guard.talks); d != "" || world.calls != 2 {
		t.Errorf("the world was asked %d times, the guard saw turns %s", world.calls, d)
	}
	if reported := j.cells[0].Trace.Turns[1].Content; reported != `{"error":"not on the list","status":"denied"}` {
		t.Errorf("the target got %s", reported)
	}
}

// slow answers when its time is over, or refuses at once if err is set.
type slow struct{ err error }

func (s slow) Answer(ctx context.Context, _ callvet.Call) (callvet.Reply, error) {
	if s.err != nil {
		return callvet.Reply{}, s.err
	}
	<-ctx.Done()
	return callvet.Reply{Env: callvet.Live("http", "https://tool.test")}, ctx.Err()
}

// hurried lets every call pass, with a short timeout, and records the replies.
type hurried struct {
	wait     time.Duration
	received []callvet.Status
}

func (h *hurried) Before(_ context.Context, _ []callvet.Turn,
	call callvet.Call,
) (callvet.Call, *callvet.Reply, []callvet.Ruling) {
	call.QueueMS = 7
	return call, nil, nil
}

func (h *hurried) Timeout() time.Duration { return h.wait }

func (h *hurried) After(_ context.Context, _ callvet.Call, r callvet.Reply) (callvet.Reply, []callvet.Ruling) {
	h.received = append(h.received, r.Status)
	return r, nil
}

// TestGuardBoundsCalls: a world that does not answer in time is a timeout of the tool, a refused
// call is a denied call, and only other errors end the attempt. The guard learns of all three.
func TestGuardBoundsCalls(t *testing.T) {
	t.Parallel()
	refused := &callvet.DeniedError{Ruling: callvet.Ruling{
		Rule: "private_address", Action: callvet.RulingDeny,
		Detail: "10.0.0.1",
	}}
	for name, c := range map[string]struct {
		world    slow
		want     callvet.Call
		outcome  callvet.Outcome
		received []callvet.Status
	}{
		"in vain": {slow{}, callvet.Call{
			Status: callvet.StatusTimeout, Error: "no answer within 0.001 s", ExecMS: 1,
			Env: "live http https://tool.test",
		}, callvet.OutcomeCalled, []callvet.Status{callvet.StatusTimeout}},
		"refused": {
			slow{fmt.Errorf("post: %w", refused)},
			callvet.Call{
				Error: "private_address: 10.0.0.1", Env: callvet.EnvGuard,
				Guard: []callvet.Ruling{refused.Ruling},
			},
			callvet.OutcomeCalled,
			[]callvet.Status{""},
		},
		"a defect": {
			slow{errors.New("the server is gone")},
			callvet.Call{},
			callvet.OutcomeError,
			[]callvet.Status{callvet.StatusExecErr},
		},
	} {
		s := suite(1)
		s.Cases[0].MultiTurn = &callvet.MultiTurn{}
		first := true
		cfg, j := onPaper(s, 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			if first {
				first = false
				return calls("weather", `{"q":"x"}`), nil
			}
			return answer("done"), nil
		})
		guard := &hurried{wait: time.Millisecond}
		cfg.Worlds = func(_ *callvet.Case, _ string, _ int) callvet.World { return c.world }
		cfg.Guards = func(*callvet.Case) run.Guard { return guard }
		mustRun(t, cfg)
		trace := &j.cells[0].Trace
		got := trace.Calls()[0]
		c.want.ID, c.want.Tool, c.want.Args, c.want.QueueMS = got.ID, "weather", json.RawMessage(`{"q":"x"}`), 7
		if d := cmp.Diff(c.want, got); d != "" || trace.Outcome != c.outcome {
			t.Errorf("%s: %s, %s", name, trace.Outcome, d)
		}
		if d := cmp.Diff(c.received, guard.received); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
