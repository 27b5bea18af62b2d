// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import "github.com/callvet/callvet"

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

// nearest gives the known name that key may be a slip of, or "".
func nearest(key string, task bool) string {
	if task {
		return callvet.Nearest(key, taskKeys())
	}
	return callvet.Nearest(key, stepKeys())
}
