// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"strings"

	"github.com/callvet/callvet"
)

func stepKeys() []string {
	return []string{
		"type", "version", "task_id", "target", "attempt", "turn_id", "call_id", "tool", "args", "args_raw", "accept_time_ms",
		"result", "error", "latency_ms", "status", "gold", "tags", "fields",
	}
}

// isTaskKey reports whether a task record has a member of that name beside
// those it shares with steps.
func isTaskKey(k []byte) bool {
	switch string(k) {
	case "model", "goal", "as_of", "outcome", "termination", "final_answer", "usage", "cost_usd", "wall_ms", "started", "steps",
		"fault", "pass", "reward", "judged", "labels", "gold", "safety", "input", "conversation", "user_calls", "foreign":
		return true
	}
	return false
}

func taskKeys() []string {
	return []string{
		"type", "version", "task_id", "target", "attempt", "tags", "fields", "model", "goal", "as_of", "outcome", "termination",
		"final_answer", "usage", "cost_usd", "wall_ms", "started", "steps", "fault", "pass", "reward", "judged", "labels", "gold",
		"safety", "input", "conversation", "user_calls", "foreign",
	}
}

// under are the names that the contract has below a member, with the member's
// own before them; nil where it says nothing of them.
func under(key []byte, task bool) []string {
	switch {
	case string(key) == "latency_ms" && !task:
		return []string{"latency_ms.queue", "latency_ms.exec"}
	case string(key) == "gold" && !task:
		return []string{"gold.needed", "gold.tool", "gold.args", "gold.result", "gold.result_check"}
	case string(key) == "gold":
		return []string{"gold.steps", "gold.postconditions", "gold.facts"}
	case string(key) == "usage" && task:
		return []string{"usage.input_tokens", "usage.output_tokens", "usage.reasoning_tokens", "usage.cached_tokens"}
	}
	return nil
}

// nearest gives the known name that key may be a slip of, or "".
func nearest(key string, task bool) string {
	if member, _, below := strings.Cut(key, "."); below {
		if names := under([]byte(member), task); names != nil {
			return callvet.Nearest(key, names)
		}
	}
	if task {
		return callvet.Nearest(key, taskKeys())
	}
	return callvet.Nearest(key, stepKeys())
}
