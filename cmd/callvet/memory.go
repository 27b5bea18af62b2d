// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import "github.com/callvet/callvet/internal/sys"

// scoreHeap is a little above the live data of a long file, with its open tasks. Beyond it the live
// data hardly changes, and little is allocated.
func scoreHeap() sys.HeapSize { return sys.HeapSize{Floor: 36 << 20, Percent: 20} }

// runHeap is for a run, which keeps little and allocates much. With 200 % a run of 5,000 cases
// takes almost 64 MB (measured).
func runHeap() sys.HeapSize { return sys.HeapSize{Floor: 32 << 20, Percent: 175} }

// growHeap lets the heap grow to a size, unless $GOGC is set. The result ends it.
func (a *cli) growHeap(to sys.HeapSize) (end func()) {
	if a.getenv("GOGC") != "" {
		return func() {}
	}
	return to.Grow()
}
