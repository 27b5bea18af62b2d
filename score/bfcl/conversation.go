// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bfcl

import "github.com/callvet/callvet/value"

// The error types of a conversation over several turns, in the order of the checks.
const (
	InferenceError    ErrorType = "multi_turn:inference_error"
	ForceTerminated   ErrorType = "multi_turn:force_terminated"
	EmptyTurn         ErrorType = "multi_turn:empty_turn_model_response"
	StateMismatch     ErrorType = "multi_turn:instance_state_mismatch"
	ExecutionMismatch ErrorType = "multi_turn:execution_response_mismatch"
)

// Conversation is an executed attempt at a case of several turns: the results and states of the
// model's calls and of the right calls.
type Conversation struct {
	// Failed: the attempt ended with an error of the provider.
	Failed bool
	Turns  []ConversationTurn
	// Expected is the number of turns of the ground truth.
	Expected int
}

// ConversationTurn is one turn of a Conversation.
type ConversationTurn struct {
	// Results are what the model's calls returned in this turn, in order; a call
	// that could not be decoded has none.
	Results []string
	// Truth are the results of the right calls; empty where no call is expected.
	Truth []string
	// State is the world after the turn, TruthState the world after the right calls. Where both are
	// the zero Value they are equal.
	State, TruthState value.Value
}

// ConversationVerdict is the leaderboard's judgement of a Conversation.
type ConversationVerdict struct {
	OK    bool
	Error ErrorType
	// Turn is the first one that is wrong, from 0; -1: the attempt as a whole.
	Turn int
	// Missing is the result of the right calls that the model never saw, where
	// Error is ExecutionMismatch.
	Missing string
}

// CheckConversation judges an executed attempt. A turn without an expected call is not checked,
// whatever the model did: its results count for later turns, and its state stays. Every result of
// the right calls of a turn must be among the model's results so far, as often as the right calls
// of the turn return it. States are compared with Python's ==.
func CheckConversation(c *Conversation) ConversationVerdict {
	switch {
	case c.Failed:
		return ConversationVerdict{Error: InferenceError, Turn: -1}
	case len(c.Turns) != c.Expected:
		return ConversationVerdict{Error: ForceTerminated, Turn: -1}
	}
	seen := map[string]int{}
	for i := range c.Turns {
		t := &c.Turns[i]
		for _, r := range t.Results {
			seen[r]++
		}
		if len(t.Truth) == 0 {
			continue
		}
		if len(t.Results) == 0 {
			return ConversationVerdict{Error: EmptyTurn, Turn: i}
		}
		if !equal(t.State, t.TruthState, false) {
			return ConversationVerdict{Error: StateMismatch, Turn: i}
		}
		if missing, ok := unseen(t.Truth, seen); !ok {
			return ConversationVerdict{Error: ExecutionMismatch, Turn: i, Missing: missing}
		}
	}
	return ConversationVerdict{OK: true, Turn: -1}
}

// unseen is the first of results that occurs more often than it was seen.
func unseen(results []string, seen map[string]int) (string, bool) {
	need := make(map[string]int, len(results))
	for _, r := range results {
		if need[r]++; need[r] > seen[r] {
			return r, false
		}
	}
	return "", true
}
