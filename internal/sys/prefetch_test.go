// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestPrefetch(t *testing.T) {
	t.Parallel()
	const size = 16
	for _, n := range []int{0, 1, size, 5*size + 1} {
		if d := cmp.Diff(slices.Collect(count(n)), slices.Collect(Prefetch(count(n), size))); d != "" {
			t.Errorf("%d items:\n%s", n, d)
		}
	}
	for v := range Prefetch(count(100*size), size) {
		if v == 10 {
			break // the producer must end too
		}
	}
	p := caught(t, func() {
		for range Prefetch(func(yield func(int) bool) {
			yield(1)
			boom("in the producer")
		}, size) {
		}
	})
	if p.Error() != "in the producer" {
		t.Error(p)
	}
}
