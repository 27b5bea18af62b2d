// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
)

func TestTurnLoop(t *testing.T) {
	t.Parallel()
	complete := answer("done")
	complete.Complete = true
	complete.Turns = append(calls("a", `{}`).Turns, callvet.Turn{Role: callvet.RoleTool, Content: "1"},
		answer("done").Turns[0])
	unreadable := answer("<call>{")
	unreadable.Unreadable = true
	two := &callvet.Response{Turns: []callvet.Turn{{
		Role:  callvet.RoleAssistant,
		Calls: []callvet.Call{{ID: "1", Tool: "a", Args: json.RawMessage(`{"x":1}`)}, {ID: "2", Tool: "b"}},
	}}}
	malformed := &callvet.Response{Turns: []callvet.Turn{{
		Role:  callvet.RoleAssistant,
		Calls: []callvet.Call{{ID: "1", Tool: "a", ArgsRaw: "{"}},
	}}}
	mocks := []callvet.Mock{
		{Tool: "a", Replies: []callvet.MockReply{{Result: json.RawMessage(`"sunny"`), LatencyMS: 5}}},
		{Tool: "b", Replies: []callvet.MockReply{{Error: "down"}}},
		{Tool: "c", Replies: []callvet.MockReply{{Result: json.RawMessage(`{"id": 7}`)}}},
	}
	multi := &callvet.MultiTurn{MaxRounds: 3}
	pause := answer("Hm.")
	pause.FinishReason = "pause_turn"
	for _, tt := range []struct {
		name    string
		c       callvet.Case
		answers []*callvet.Response
		end     callvet.End
		outcome callvet.Outcome
		results []string // contents of tool turns
		states  string   // statuses of calls
	}{
		{
			"single turn",
			callvet.Case{Mocks: mocks},
			[]*callvet.Response{two},
			callvet.EndCalled,
			callvet.OutcomeCalled, nil, ",",
		},
		{
			"single turn, results asserted",
			callvet.Case{Mocks: mocks, Expect: callvet.Expect{NoToolErrors: true}},
			[]*callvet.Response{two},
			callvet.EndCalled, callvet.OutcomeCalled,
			[]string{"sunny", `{"error":"down","status":"exec_error"}`},
			"ok,exec_error",
		},
		{
			"single turn, a result checked",
			callvet.Case{
				Mocks: mocks,
				Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{
					Tools:       []string{"c"},
					ResultCheck: "id == 7",
				}}}}},
			},
			[]*callvet.Response{calls("c", `{}`)},
			callvet.EndCalled, callvet.OutcomeCalled,
			[]string{`{"id": 7}`},
			"ok",
		},
		{
			"single turn, results asserted, no mocks",
			callvet.Case{Expect: callvet.Expect{NoToolErrors: true}},
			[]*callvet.Response{two},
			callvet.EndCalled, callvet.OutcomeCalled, nil, ",",
		},
		{
			"answer",
			callvet.Case{},
			[]*callvet.Response{answer("no")},
			callvet.EndAnswered,
			callvet.OutcomeAbstained, nil, "",
		},
		{
			"unreadable",
			callvet.Case{},
			[]*callvet.Response{unreadable},
			callvet.EndUnfinished,
			callvet.OutcomeUnparseable, nil, "",
		},
		{
			"agent",
			callvet.Case{MultiTurn: multi},
			[]*callvet.Response{complete},
			callvet.EndAnswered,
			callvet.OutcomeCalled,
			[]string{"1"},
			"",
		},
		{
			"chain",
			callvet.Case{MultiTurn: multi, Mocks: mocks},
			[]*callvet.Response{calls("a", `{}`), two, calls("goal", `{}`)},
			callvet.EndReached, callvet.OutcomeCalled,
			[]string{"sunny", "sunny", `{"error":"down","status":"exec_error"}`, `{"status":"ok"}`},
			"ok,ok,exec_error,ok",
		},
		{
			"too many rounds",
			callvet.Case{MultiTurn: multi, Mocks: mocks},
			[]*callvet.Response{calls("c", `{}`), calls("c", `{}`), calls("c", `{}`)},
			callvet.EndMaxRounds, callvet.OutcomeCalled,
			[]string{`{"id": 7}`, `{"id": 7}`, `{"id": 7}`},
			"ok,ok,ok",
		},
		{
			"pauses are no rounds",
			callvet.Case{MultiTurn: &callvet.MultiTurn{MaxRounds: 2}, Mocks: mocks},
			[]*callvet.Response{pause, calls("c", `{}`), pause, calls("c", `{}`)},
			callvet.EndMaxRounds, callvet.OutcomeCalled,
			[]string{`{"id": 7}`, `{"id": 7}`},
			"ok,ok",
		},
		{
			"gives up",
			callvet.Case{MultiTurn: multi},
			[]*callvet.Response{calls("a", `{}`), answer("sorry")},
			callvet.EndAnswered, callvet.OutcomeCalled,
			[]string{`{"status":"ok"}`},
			"ok",
		},
		{
			"response asserted",
			callvet.Case{Mocks: mocks, Expect: callvet.Expect{ResponseNonEmpty: true}},
			[]*callvet.Response{calls("goal", `{}`), answer("7 degrees")},
			callvet.EndAnswered, callvet.OutcomeCalled,
			[]string{`{"status":"ok"}`},
			"ok",
		},
		{
			"response asserted, no mocks",
			callvet.Case{Expect: callvet.Expect{ResponseNonEmpty: true}},
			[]*callvet.Response{calls("a", `{}`)},
			callvet.EndUnanswered, callvet.OutcomeCalled, nil, "",
		},
		{
			"rejected by contract",
			callvet.Case{MultiTurn: multi, Mocks: mocks},
			[]*callvet.Response{calls("a", `{"bad":1}`), answer("sorry")},
			callvet.EndAnswered, callvet.OutcomeCalled,
			[]string{`{"error":"the arguments break the tool's contract","violations":[{"path":"/bad","keyword":"type","message":"no"}]}`},
			"rejected_by_contract",
		},
		{
			"malformed",
			callvet.Case{MultiTurn: multi, Mocks: mocks},
			[]*callvet.Response{malformed, answer("sorry")},
			callvet.EndAnswered, callvet.OutcomeUnparseable,
			[]string{`{"error":"the arguments are not JSON"}`},
			"rejected_by_contract",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &callvet.Suite{
				SystemPrompt: "suite",
				Tools:        []callvet.Tool{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "goal"}},
				Cases:        []callvet.Case{tt.c},
			}
			s.Cases[0].ID, s.Cases[0].Context, s.Cases[0].Input = "x", "context", suite(1).Cases[0].Input
			round := 0
			cfg, j := onPaper(s, 1, func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
				if round == len(tt.answers) {
					t.Error("asked once more than expected")
					return answer(""), nil
				}
				if req.System != "suite\n\ncontext" || req.ToolChoice != "auto" || len(req.Tools.Tools) != 4 {
					t.Errorf("request %+v", req)
				}
				if n := len(req.Turns); round > 0 && tt.answers[round-1] != pause &&
					req.Turns[n-1].Role != callvet.RoleTool {
					t.Errorf("round %d ends with a turn of %s", round, req.Turns[n-1].Role)
				}
				round++
				r := *tt.answers[round-1]
				r.Turns = clone(t, r.Turns)
				return &r, nil
			})
			cfg.Worlds = func(c *callvet.Case, _ string,
				_ int,
			) callvet.World {
				return world.Mocks(s, c, world.MockOptions{})
			}
			cfg.Compile = func(*callvet.Case) run.Compiled {
				return compiled{
					check: func(call *callvet.Call) []callvet.Violation {
						if strings.Contains(string(call.Args), "bad") {
							return []callvet.Violation{{Path: "/bad", Keyword: "type", Message: "no"}}
						}
						return nil
					},
					reached: func(calls []callvet.Call) bool {
						return len(calls) > 0 &&
							calls[len(calls)-1].Tool == "goal"
					},
				}
			}
			mustRun(t, cfg)
			tr := j.cells[0].Trace
			var reported, states []string
			for _, turn := range tr.Turns {
				if turn.Role == callvet.RoleTool {
					reported = append(reported, turn.Content)
				}
			}
			for _, c := range tr.Calls() {
				states = append(states, string(c.Status))
			}
			if d := cmp.Diff(tt.results, reported); d != "" || tr.End != tt.end || tr.Outcome != tt.outcome ||
				strings.Join(states, ",") != tt.states {
				t.Errorf("end %s, outcome %s, statuses %v, got %s", tr.End, tr.Outcome, states, d)
			}
			if tr.Attempts != len(tt.answers) {
				t.Errorf("%d requests, want %d", tr.Attempts, len(tt.answers))
			}
		})
	}
}

// clone copies turns, because the loop writes into those it gets.
func clone(t *testing.T, turns []callvet.Turn) []callvet.Turn {
	t.Helper()
	b, err := json.Marshal(turns)
	if err != nil {
		t.Fatal(err)
	}
	var out []callvet.Turn
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

type brokenWorld struct{}

func (brokenWorld) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	return callvet.Reply{}, errors.New("recording is gone")
}

func TestBrokenWorldIsAnError(t *testing.T) {
	t.Parallel()
	s := suite(1)
	s.Cases[0].MultiTurn = &callvet.MultiTurn{}
	cfg, j := onPaper(s, 1,
		func(context.Context, *callvet.Request) (*callvet.Response, error) { return calls("weather", `{}`), nil })
	cfg.Worlds = func(_ *callvet.Case, _ string, _ int) callvet.World { return brokenWorld{} }
	mustRun(t, cfg)
	if f := j.cells[0].Trace.Fault; f == nil || f.Kind != callvet.FaultTool ||
		j.cells[0].Trace.Outcome != callvet.OutcomeError {
		t.Errorf("%+v", j.cells[0].Trace)
	}
}

func TestSentRequests(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{
		SystemPrompt: "suite", Defaults: callvet.Defaults{ToolChoice: "none"},
		Tools: []callvet.Tool{{Name: "a"}, {Name: "b"}},
		Cases: []callvet.Case{
			{ID: "plain"},
			{ID: "context", Context: "c"},
			{ID: "choice", ToolChoice: "required"},
			{ID: "some", ToolNames: []string{"b"}},
			{ID: "no tools", ToolNames: []string{}},
			{ID: "own", Tools: []callvet.Tool{{Name: "z"}}},
		},
	}
	got := map[string]string{}
	m := func(target string) modelFunc {
		return func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
			var names []string
			for _, tool := range req.Tools.Tools {
				names = append(names, tool.Name)
			}
			got[target+" "+req.CaseID] = req.System + "|" + req.ToolChoice + "|" + strings.Join(names, ",")
			return answer(""), nil
		}
	}
	cfg, _ := onPaper(s, 1, m("m"))
	own := target("own", "p", m("own"))
	own.SystemPrompt, own.ToolChoice = "mine", "auto"
	alone := target("alone", "p", m("alone"))
	alone.SystemPrompt, alone.ReplaceSystem = "mine", true
	plain := target("no prompt", "p", m("no prompt"))
	plain.ReplaceSystem = true // there is nothing to put in the suite's place
	cfg.Targets = append(cfg.Targets, own, alone, plain)
	mustRun(t, cfg)
	want := map[string]string{
		"m plain": "suite|none|a,b", "m context": "suite\n\nc|none|a,b", "m choice": "suite|required|a,b",
		"m some": "suite|none|b", "m no tools": "suite|none|", "m own": "suite|none|z",
		"own plain": "mine\n\nsuite|auto|a,b", "own context": "mine\n\nsuite\n\nc|auto|a,b",
		"own choice": "mine\n\nsuite|required|a,b",
		"own some":   "mine\n\nsuite|auto|b", "own no tools": "mine\n\nsuite|auto|", "own own": "mine\n\nsuite|auto|z",
		"alone plain": "mine|none|a,b", "alone context": "mine\n\nc|none|a,b", "alone choice": "mine|required|a,b",
		"alone some": "mine|none|b", "alone no tools": "mine|none|", "alone own": "mine|none|z",
	}
	for _, id := range []string{"plain", "context", "choice", "some", "no tools", "own"} {
		want["no prompt "+id] = want["m "+id]
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestForcedCallsLetItAnswer(t *testing.T) {
	t.Parallel()
	s := suite(1)
	s.Cases[0].ToolChoice, s.Cases[0].Expect.ResponseNonEmpty = "required", true
	var choices []string
	cfg, _ := onPaper(s, 1, func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
		choices = append(choices, req.ToolChoice)
		if len(choices) == 1 {
			return calls("weather", `{}`), nil
		}
		return answer("7 degrees"), nil
	})
	cfg.Worlds = func(_ *callvet.Case, _ string, _ int) callvet.World { return constant{} }
	cfg.Timeout = time.Minute
	if sum := mustRun(t, cfg); sum.Requests != 2 {
		t.Errorf("%+v", sum)
	}
	if d := cmp.Diff([]string{"required", "auto"}, choices); d != "" {
		t.Error(d)
	}
}

// TestOneTargetAfterTheOther: the targets of a provider do not overlap, unless asked for.
func TestOneTargetAfterTheOther(t *testing.T) {
	t.Parallel()
	for _, interleave := range []bool{false, true} {
		var mu sync.Mutex
		var asked []string
		m := func(name string) modelFunc {
			return func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, name)
				return answer(req.CaseID), nil
			}
		}
		cfg, j := onPaper(suite(20), 1, m("a"))
		cfg.Targets[0].Provider = "one"
		cfg.Targets = append(cfg.Targets, target("b", "one", m("b")), target("c", "one", m("c")))
		cfg.Interleave = interleave
		cfg.Limits = map[string]run.Limits{"": {Concurrency: 3}}
		mustRun(t, cfg)
		if len(j.cells) != 60 || len(asked) != 60 {
			t.Fatalf("%d cells, %d requests", len(j.cells), len(asked))
		}
		changes := len(slices.Compact(slices.Clone(asked))) - 1
		if !interleave && changes != 2 || interleave && changes < 10 {
			t.Errorf("interleave %v: %d changes of target in %v", interleave, changes, asked)
		}
	}
}
