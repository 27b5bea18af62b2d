// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// gcPercent is the heap growth of a run before a collection. A run keeps little and allocates much.
// With Go's 100 % it spends a tenth more of its time on collections. With 200 % a run of 5,000
// cases comes near 64 MB (measured).
const gcPercent = 175

// goPercent is Go's default without $GOGC. Each command restores it, because another may follow in
// the same process. The previous setting is not restored: it may be that of a concurrent command.
const goPercent = 100

// tuneMemory sets gcPercent unless $GOGC is set; Go reads $GOMEMLIMIT itself. The result ends it.
func (a *cli) tuneMemory() (end func()) {
	if a.getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(goPercent) }
}

// heapFloor is the heap of a scoring before the first collection: a little above the live data of a
// long file, with its open tasks. Earlier collections, and those while panels are printed, would
// free little and take a twentieth of the time (measured). Beyond it the heap grows by
// scorePercent: the live data hardly changes, and little is allocated.
const (
	heapFloor    = 36 << 20
	scorePercent = 20
)

// growHeap lets the heap grow to heapFloor, unless $GOGC is set. The result ends it.
func (a *cli) growHeap() (end func()) {
	if a.getenv("GOGC") != "" {
		return func() {}
	}
	h := &heap{}
	h.growFrom(4 << 20)
	return h.end
}

// heap are a command's settings of the collector.
type heap struct {
	mu    sync.Mutex
	ended bool
}

// growFrom sets the next collection by the live data, and again after it.
func (h *heap) growFrom(alive uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	debug.SetGCPercent(growth(alive))
	mark := new([64]byte) // that is gone with the next collection
	runtime.AddCleanup(mark, func(h *heap) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		h.growFrom(live[0].Value.Uint64())
	}, h)
}

func (h *heap) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	debug.SetGCPercent(goPercent)
}

// growth is the permitted growth of the live data in percent; a negative number would disable the
// collector.
func growth(alive uint64) int {
	return max(scorePercent, int(heapFloor*100/max(alive, 1<<20))-100)
}
