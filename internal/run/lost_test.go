// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// TestLostCall: an answer with the finish reason "calls" but without calls is an error, never an
// answer without a call.
func TestLostCall(t *testing.T) {
	t.Parallel()
	got := map[string]callvet.Outcome{}
	want := map[string]callvet.Outcome{
		"stop": callvet.OutcomeAbstained, "": callvet.OutcomeAbstained, "TOOL_CALLS_DISABLED": callvet.OutcomeError,
		"tool_calls": callvet.OutcomeError, "tool_use": callvet.OutcomeError, "tool-calls": callvet.OutcomeError,
		"function_call": callvet.OutcomeError, "TOOL_CALL": callvet.OutcomeError,
	}
	for reason := range want {
		db, s := openStore(t), suite(1)
		cfg := config(t, db, s, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			r := answer("I will.")
			r.FinishReason, r.Exchanges = reason, []callvet.Exchange{{HTTP: 200, Response: "kept"}}
			return r, nil
		})
		if _, err := run.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		c := stored(t, db, cfg.RunID)[0]
		got[reason] = c.Trace.Outcome
		if len(c.Trace.Exchanges) == 0 || c.Trace.Exchanges[0].Response != "kept" {
			t.Errorf("%s: what was received is not kept: %+v", reason, c.Trace.Exchanges)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, r := range []*callvet.Response{
		{FinishReason: "tool_calls", Unreadable: true},
		{FinishReason: "tool_calls", Turns: []callvet.Turn{{Calls: []callvet.Call{{Tool: "f"}}}, {Content: "done"}}},
	} {
		if r.LostCall() {
			t.Errorf("%+v has lost no call", r)
		}
	}
}

// TestUnreportedCalls: an answer in a form that has no place for calls is an error where a case
// asserts something of calls, and judged where it does not.
func TestUnreportedCalls(t *testing.T) {
	t.Parallel()
	type attempt struct {
		Untold, Calls bool
		Expect        string
	}
	about := map[string]callvet.Expect{
		"a call":  {Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"f"}}}}}},
		"no call": {ToolsCalled: []string{}},
		"a text":  {ResponseContains: []string{"will"}},
	}
	got, want := map[attempt]callvet.Outcome{}, map[attempt]callvet.Outcome{}
	for expect, e := range about {
		for _, unreported := range []bool{false, true} {
			for _, calls := range []bool{false, true} {
				a := attempt{unreported, calls, expect}
				db, s := openStore(t), suite(1)
				s.Cases[0].Expect = e
				cfg := config(t, db, s, func(context.Context, *callvet.Request) (*callvet.Response, error) {
					r := answer("I will.")
					r.CallsUnknown, r.Complete, r.Exchanges = unreported, true,
						[]callvet.Exchange{{HTTP: 200, Response: "kept"}}
					if calls {
						r.Turns = append([]callvet.Turn{{
							Role:  callvet.RoleAssistant,
							Calls: []callvet.Call{{Tool: "f", Args: []byte("{}")}},
						}}, r.Turns...)
					}
					return r, nil
				})
				if _, err := run.Run(t.Context(), cfg); err != nil {
					t.Fatal(err)
				}
				c := stored(t, db, cfg.RunID)[0]
				got[a] = c.Trace.Outcome
				switch {
				case calls:
					want[a] = callvet.OutcomeCalled
				case unreported && expect != "a text":
					want[a] = callvet.OutcomeError
				default:
					want[a] = callvet.OutcomeAbstained
				}
				if len(c.Trace.Exchanges) == 0 || c.Trace.Exchanges[0].Response != "kept" {
					t.Errorf("%+v: what was received is not kept: %+v", a, c.Trace.Exchanges)
				}
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
