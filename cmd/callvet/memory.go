// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// gcPercent is how far the heap of a run may grow before it is collected. A run
// keeps little and allocates much: with Go's 100 % a tenth more of its time goes
// into collecting; with 200 % a run of 5,000 cases comes near 64 MB (measured).
const gcPercent = 175

// goPercent is Go's own, where $GOGC says nothing: each command ends with it, since
// another may follow in the same process. What was set before would not do: it may be
// that of a command that runs beside this one.
const goPercent = 100

// tuneMemory sets gcPercent unless $GOGC says otherwise; Go reads $GOMEMLIMIT itself.
// The result ends it.
func (a *cli) tuneMemory() (end func()) {
	if a.getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(goPercent) }
}

// heapFloor is up to where the heap of a scoring grows before it is collected: a little
// beyond what is alive of a long file, with its open tasks. Collecting on the way there,
// and when the panels are told, would be in vain: it finds little that is gone and takes a
// twentieth of the time (measured). Beyond it the heap grows by scorePercent: what is alive
// hardly changes, and little is allocated.
const (
	heapFloor    = 36 << 20
	scorePercent = 20
)

// growHeap lets the heap grow to heapFloor, unless $GOGC says otherwise. The result
// ends it.
func (a *cli) growHeap() (end func()) {
	if a.getenv("GOGC") != "" {
		return func() {}
	}
	h := &heap{}
	h.growFrom(4 << 20)
	return h.end
}

// heap is what a command has set of collecting.
type heap struct {
	mu    sync.Mutex
	ended bool
}

// growFrom sets the next collection by what is alive, and again after it.
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

// growth is by how many percent what is alive may grow; a negative number would
// end all collecting.
func growth(alive uint64) int {
	return max(scorePercent, int(heapFloor*100/max(alive, 1<<20))-100)
}
