// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// TestQueue: everybody gets all things in their order, in whichever they come.
func TestQueue(t *testing.T) {
	t.Parallel()
	const things, takers = 2000, 3
	var q Queue[int]
	var left [things]atomic.Int32
	order := rand.New(rand.NewPCG(1, 1)).Perm(things)
	var all sync.WaitGroup
	for taker := range takers {
		all.Go(func() {
			for i, n := range order {
				if i%takers == taker {
					left[n].Store(takers)
					q.Put(int64(n), &n)
				}
			}
			var got []*int
			for next := 0; next < things; {
				for _, n := range q.From(int64(next), got[:0]) {
					if *n != next {
						t.Errorf("%d came instead of %d", *n, next)
						return
					}
					next++
					if left[*n].Add(-1) == 0 {
						q.Drop(int64(*n))
					}
				}
			}
		})
	}
	all.Wait()
	if len(q.things) > 0 || q.first != things {
		t.Errorf("%d are left from %d on", len(q.things), q.first)
	}
}
