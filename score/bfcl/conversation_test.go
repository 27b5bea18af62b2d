// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCheckConversation(t *testing.T) {
	t.Parallel()
	turn := func(results, truth []string, state, want string) ConversationTurn {
		return ConversationTurn{Results: results, Truth: truth, State: parse(t, state), TruthState: parse(t, want)}
	}
	type list = []string
	for name, c := range map[string]struct {
		in   Conversation
		want ConversationVerdict
	}{
		"right": {
			Conversation{
				Expected: 1,
				Turns: []ConversationTurn{turn(list{"x", "a", "b"}, list{"b", "a"}, `{"n":1,"b":[true]}`,
					`{"b":[1.0],"n":true}`)},
			},
			ConversationVerdict{OK: true, Turn: -1},
		},
		"broken off": {
			Conversation{Failed: true, Expected: 2},
			ConversationVerdict{Error: InferenceError, Turn: -1},
		},
		"too short": {
			Conversation{Expected: 2, Turns: make([]ConversationTurn, 1)},
			ConversationVerdict{Error: ForceTerminated, Turn: -1},
		},
		"no turn, no due": {Conversation{}, ConversationVerdict{OK: true, Turn: -1}},
		"no call": {
			Conversation{Expected: 1, Turns: []ConversationTurn{turn(nil, list{"a"}, `{"a":1}`, `{"a":2}`)}},
			ConversationVerdict{Error: EmptyTurn, Turn: 0},
		},
		"nothing due": {
			Conversation{
				Expected: 2,
				Turns: []ConversationTurn{
					turn(list{"a"}, nil, `{"a":1}`, `{}`),
					turn(list{"b"}, list{"a"}, `{}`, `{}`),
				},
			},
			ConversationVerdict{OK: true, Turn: -1},
		},
		"another state": {
			Conversation{Expected: 1, Turns: []ConversationTurn{turn(list{"a"}, list{"b"}, `{"a":"1"}`, `{"a":1}`)}},
			ConversationVerdict{Error: StateMismatch, Turn: 0},
		},
		"no state": {
			Conversation{
				Expected: 1,
				Turns:    []ConversationTurn{{Results: list{"a"}, Truth: list{"a"}, TruthState: parse(t, `{}`)}},
			},
			ConversationVerdict{Error: StateMismatch, Turn: 0},
		},
		"as often as due": {
			Conversation{Expected: 1, Turns: []ConversationTurn{turn(list{"a", "b"}, list{"a", "a"}, `{}`, `{}`)}},
			ConversationVerdict{Error: ExecutionMismatch, Turn: 0, Missing: "a"},
		},
		"seen before counts again": {
			Conversation{
				Expected: 2,
				Turns: []ConversationTurn{
					turn(list{"a"}, list{"a"}, `{}`, `{}`),
					turn(list{"b"}, list{"a"}, `{}`, `{}`),
				},
			},
			ConversationVerdict{OK: true, Turn: -1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, CheckConversation(&c.in)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestMoreResultsNeverHurt holds that the order of calls does not matter and
// that a further call that leaves the state alone spoils nothing.
func TestMoreResultsNeverHurt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		result := rapid.SampledFrom([]string{"a", "b", "c"})
		c := Conversation{Expected: rapid.IntRange(0, 3).Draw(t, "turns")}
		for range c.Expected {
			c.Turns = append(c.Turns,
				ConversationTurn{
					Results: rapid.SliceOfN(result, 0, 4).Draw(t, "results"),
					Truth:   rapid.SliceOfN(result, 0, 2).Draw(t, "truth"),
				})
		}
		before := CheckConversation(&c)
		for i := range c.Turns {
			r := rapid.Permutation(c.Turns[i].Results).Draw(t, "order")
			c.Turns[i].Results = slices.Concat(r, rapid.SliceOfN(result, 0, 2).Draw(t, "more"))
		}
		if after := CheckConversation(&c); before.OK && !after.OK {
			t.Fatalf("right before, then %+v", after)
		}
	})
}
