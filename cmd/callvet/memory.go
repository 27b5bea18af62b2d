// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// goPercent is Go's default without $GOGC. Each command restores it, because another may follow in
// the same process. The previous setting is not restored: it may be that of a concurrent command.
const goPercent = 100

// heapSize is the size of a command's heap before a collection: to floor bytes, or by percent of
// the live data where that is more. A small heap is collected too often otherwise: that frees
// little and takes a twentieth of the time of a command (measured).
type heapSize struct {
	floor   uint64
	percent int
}

// scoreHeap is a little above the live data of a long file, with its open tasks. Beyond it the live
// data hardly changes, and little is allocated.
func scoreHeap() heapSize { return heapSize{36 << 20, 20} }

// runHeap is for a run, which keeps little and allocates much. With 200 % a run of 5,000 cases
// takes almost 64 MB (measured).
func runHeap() heapSize { return heapSize{32 << 20, 175} }

// growHeap lets the heap grow to a size, unless $GOGC is set; Go reads $GOMEMLIMIT itself. The
// result ends it.
func (a *cli) growHeap(to heapSize) (end func()) {
	if a.getenv("GOGC") != "" {
		return func() {}
	}
	h := &heap{size: to}
	h.growFrom(4 << 20)
	return h.end
}

// heap are a command's settings of the collector.
type heap struct {
	size  heapSize
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
	debug.SetGCPercent(h.size.growth(alive))
	mark := new([64]byte) // that the next collection frees
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
func (s heapSize) growth(alive uint64) int {
	return max(s.percent, int(s.floor*100/max(alive, 1<<20))-100)
}
