// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import "strings"

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

// nearest gives the known name at most two edits away, or "".
func nearest(key string, task bool) string {
	names := stepKeys()
	if task {
		names = taskKeys()
	}
	best, at := "", 3
	for _, n := range names {
		if d := edits(strings.ToLower(key), n); d < at {
			best, at = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
