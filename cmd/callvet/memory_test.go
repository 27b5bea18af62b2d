// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"runtime"
	"runtime/metrics"
	"testing"
)

// TestGrowHeap: a small heap is not collected before it comes near the floor, also
// after collections. It is not parallel: others would change what is alive.
func TestGrowHeap(t *testing.T) {
	ctx, done := context.WithCancel(t.Context())
	defer done()
	a := &app{getenv: func(string) string { return "" }}
	a.growHeap(ctx)
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	for range 3 {
		runtime.GC()
		metrics.Read(goal)
		if g := goal[0].Value.Uint64(); g < heapFloor/2 {
			t.Errorf("the heap is collected at %d bytes", g)
		}
	}
}

// TestGrowth: the heap is collected whatever is alive.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for alive, want := range map[uint64]int{0: 4700, 24 << 20: 100, 48 << 20: scorePercent, 100 << 20: scorePercent, 8 << 30: scorePercent} {
		if got := growth(alive); got != want {
			t.Errorf("with %d bytes alive it may grow by %d %%", alive, got)
		}
	}
}
