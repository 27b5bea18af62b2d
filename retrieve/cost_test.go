// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/callvet/callvet/retrieve"
)

// TestCost prints what an index costs: building, memory, and the median question. It
// runs when asked for, since it takes a quiet machine: CALLVET_COST=1.
func TestCost(t *testing.T) {
	if os.Getenv("CALLVET_COST") == "" {
		t.Skip("set CALLVET_COST=1 to measure")
	}
	lexical := retrieve.Default()
	lexical.Offline, lexical.VectorWeight = 0, 0
	words := lexical
	words.Forms.Inflection, words.Forms.Compound, words.Forms.Misspelling = 0, 0, 0
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		es, questions := retrieveCatalog(n)
		for _, p := range []struct {
			name    string
			options retrieve.Options
		}{{"words", words}, {"words and forms", lexical}, {"default", retrieve.Default()}} {
			measureCost(t, n, p.name, p.options, es, questions)
		}
	}
}

func measureCost(t *testing.T, n int, name string, o retrieve.Options, es []retrieve.Entry, questions []string) {
	before := heap()
	start := time.Now()
	x := newIndex(t, o, es)
	built := time.Since(start)
	memory := heap() - before
	var times []time.Duration
	for range 3 {
		for _, q := range questions {
			start := time.Now()
			search(t, x, q, 10)
			times = append(times, time.Since(start))
		}
	}
	slices.Sort(times)
	fmt.Printf("%7d tools  %-16s p50 %-10v p90 %-10v built in %-8v %4d MB\n", n, name,
		times[len(times)/2].Round(100*time.Nanosecond), times[len(times)*9/10].Round(100*time.Nanosecond),
		built.Round(time.Millisecond), memory>>20)
	runtime.KeepAlive(x)
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
