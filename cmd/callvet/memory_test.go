// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// TestGrowHeap: a small heap is not collected before it comes near the floor, also after
// collections. It is not parallel: other tests would change the live heap.
func TestGrowHeap(t *testing.T) {
	a := &cli{getenv: func(string) string { return "" }}
	end := a.growHeap(scoreHeap())
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	for range 3 {
		runtime.GC()
		metrics.Read(goal)
		if g := goal[0].Value.Uint64(); g < scoreHeap().Floor/2 {
			t.Errorf("the heap is collected at %d bytes", g)
		}
	}
	end()
	runtime.GC() // what was set for it is gone with it, and sets nothing again
	if p := percent(); p != 100 {
		t.Errorf("the heap grows by %d %% after it", p)
	}
}

// percent is the current limit for the growth of the heap of this process.
func percent() int {
	p := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(p)
	return int(p[0].Value.Uint64())
}

// TestCommandsSetBack: the settings of a command do not apply to the next one of the process. It is
// not parallel, as others set the same.
func TestCommandsSetBack(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"t.jsonl": `{"task_id":"a","tool":"t","args":{},"status":"ok","gold":{"tool":"t"}}` + "\n",
		"s.yaml":  "callvet: 1\nname: s\ntools:\n  - name: t\n    description: d\ncases:\n  - id: a\n    prompt: t please\n    expect:\n      calls:\n        - tool: t\n",
	})
	for _, args := range [][]string{
		{"score", "t.jsonl"},
		{"score", "none.jsonl"},
		{"run", "s.yaml", "-m", "offline/lexical"},
	} {
		code := exitOK
		if args[1] == "none.jsonl" {
			code = exitUsage
		}
		runApp(t, dir, nil, code, args...)
		runtime.GC()
		if p := percent(); p != 100 {
			t.Errorf("after %v the heap grows by %d %%", args, p)
		}
	}
}
