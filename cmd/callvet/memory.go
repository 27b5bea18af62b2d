// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// gcPercent is how far the heap of a run may grow before it is collected. A run
// keeps little and allocates much: with Go's 100 % a tenth more of its time goes
// into collecting; with 200 % a run of 5,000 cases comes near 64 MB (measured).
const gcPercent = 175

// tuneMemory sets gcPercent unless $GOGC says otherwise; Go reads $GOMEMLIMIT itself.
func (a *app) tuneMemory() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// heapFloor is up to where the heap of a scoring grows before it is collected: about as
// far as all that a million lines allocate, and little beyond what a longer file, with its
// open tasks, takes it to anyway. Collecting on the way there, and when the panels are
// told, would be in vain: it finds little that is gone and takes a twentieth of the
// time (measured). Beyond it the heap grows by scorePercent: what is alive hardly
// changes, and little is allocated.
const (
	heapFloor    = 48 << 20
	scorePercent = 20
)

// growHeap lets the heap grow to heapFloor while ctx lasts, unless $GOGC says otherwise.
func (a *app) growHeap(ctx context.Context) {
	if a.getenv("GOGC") == "" {
		growFrom(ctx, 4<<20)
	}
}

// growFrom sets the next collection by what is alive, and again after it.
func growFrom(ctx context.Context, alive uint64) {
	debug.SetGCPercent(growth(alive))
	mark := new([64]byte) // that is gone with the next collection
	runtime.AddCleanup(mark, func(int) {
		if ctx.Err() != nil {
			return
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		growFrom(ctx, live[0].Value.Uint64())
	}, 0)
}

// growth is by how many percent what is alive may grow; a negative number would
// end all collecting.
func growth(alive uint64) int {
	return max(scorePercent, int(heapFloor*100/max(alive, 1<<20))-100)
}
