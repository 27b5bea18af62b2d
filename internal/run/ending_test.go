// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// TestEndings: the outcome of an attempt depends on how its answers end, one answer or several.
func TestEndings(t *testing.T) {
	t.Parallel()
	type end struct {
		Outcome callvet.Outcome
		Reason  callvet.Reason
		Fault   callvet.FaultKind
		Notes   []string
		Asked   int
	}
	answer := func(reason, text string) *callvet.Response {
		r := answer(text)
		r.FinishReason = reason
		return r
	}
	called := func(reason string) *callvet.Response {
		r := calls("weather", `{"city":"Paris"}`)
		r.FinishReason = reason
		return r
	}
	for name, tt := range map[string]struct {
		answers []*callvet.Response
		want    end
	}{
		"words": {[]*callvet.Response{answer("stop", "No.")}, end{Outcome: "abstained", Asked: 1}},
		"words, no reason": {
			[]*callvet.Response{answer("", "No.")},
			end{Outcome: "abstained", Notes: []string{"stop not recorded"}, Asked: 1},
		},
		"the token limit": {
			[]*callvet.Response{answer("MAX_TOKENS", "Let me ch")},
			end{Outcome: "unparseable", Reason: "token_limit", Asked: 1},
		},
		"the context window": {
			[]*callvet.Response{answer("model_length", "Let me ch")},
			end{Outcome: "unparseable", Reason: "context_window", Asked: 1},
		},
		"nothing": {
			[]*callvet.Response{answer("stop", " \n")},
			end{Outcome: "unparseable", Reason: "empty_answer", Asked: 1},
		},
		"a filter": {
			[]*callvet.Response{answer("content-filter", "I")},
			end{Outcome: "error", Fault: "content_filter", Asked: 1},
		},
		"a refusal": {
			[]*callvet.Response{answer("refusal", "I cannot.")},
			end{Outcome: "error", Fault: "refusal", Asked: 1},
		},
		"canceled by the provider": {
			[]*callvet.Response{answer("cancelled", "I")},
			end{Outcome: "error", Fault: "dropped", Asked: 1},
		},
		"a failure, then an answer": {
			[]*callvet.Response{answer("error", ""), answer("stop", "No.")},
			end{Outcome: "abstained", Asked: 2},
		},
		"a reason that is not known": {
			[]*callvet.Response{answer("banana", "No.")},
			end{Outcome: "error", Fault: "unknown", Asked: 1},
		},
		"a call, cut off after it": {
			[]*callvet.Response{called("length")},
			end{Outcome: "called", Notes: []string{"the answer was cut off after its calls (length)"}, Asked: 1},
		},
		"a pause, then words": {
			[]*callvet.Response{answer("pause_turn", "Searching."), answer("end_turn", "No.")},
			end{Outcome: "abstained", Asked: 2},
		},
		"a pause, then a call": {
			[]*callvet.Response{answer("pause_turn", ""), answer("pause_turn", ""), called("tool_use")},
			end{Outcome: "called", Asked: 3},
		},
		"a pause without a word": {
			[]*callvet.Response{{FinishReason: "pause_turn"}},
			end{Outcome: "error", Fault: "unknown", Asked: 1},
		},
		"pauses without end": {
			slices.Repeat([]*callvet.Response{answer("pause_turn", "Hm.")}, 20),
			end{Outcome: "error", Fault: "unknown", Asked: 11},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, s := openStore(t), suite(1)
			asked, received := 0, 0
			cfg := config(t, db, s, func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
				r := *tt.answers[asked]
				asked, received = asked+1, len(req.Turns)
				return &r, nil
			})
			cfg.Retry = run.Retry{Attempts: 2, Base: 1, Max: 1}
			if _, err := run.Run(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			trace := stored(t, db, cfg.RunID)[0].Trace
			got := end{Outcome: trace.Outcome, Reason: trace.Reason, Notes: trace.Notes, Asked: asked}
			if trace.Fault != nil {
				got.Fault = trace.Fault.Kind
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			paused := slices.ContainsFunc(tt.answers,
				func(r *callvet.Response) bool { return r.FinishReason == "pause_turn" })
			if want := 1 + asked - 1; paused && received != want {
				t.Errorf("the last request had %d turns, want %d: what came before the pause goes back", received, want)
			}
		})
	}
}
