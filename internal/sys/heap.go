// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// goPercent is Go's default without $GOGC. The end of Grow restores it, because another command may
// follow in the same process. The previous setting is not restored: it may be that of a concurrent
// command.
const goPercent = 100

// HeapSize is the size of a command's heap before a collection: to Floor bytes, or by Percent of
// the live data where that is more. A small heap is collected too often otherwise: that frees
// little and takes a twentieth of the time of a command (measured).
type HeapSize struct {
	Floor   uint64
	Percent int
}

// Grow lets the heap of the process grow to the size. The result ends it. The caller checks $GOGC;
// Go itself reads $GOMEMLIMIT.
func (s HeapSize) Grow() (end func()) {
	h := &heap{size: s}
	h.growFrom(4 << 20)
	return h.end
}

// heap are the settings of the collector for one command.
type heap struct {
	size  HeapSize
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
	mark := new([64]byte) // the next collection frees it
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
func (s HeapSize) growth(alive uint64) int {
	return max(s.Percent, int(s.Floor*100/max(alive, 1<<20))-100)
}
