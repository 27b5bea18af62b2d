// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import "iter"

// Prefetch yields the items of seq. It produces them on a goroutine of its own, a few batches ahead,
// so that producer and consumer work at the same time. A batch has size items: a handover for each
// small item would cost more than it gains. The goroutine ends with the loop over it, and its panic
// comes out there.
func Prefetch[T any](seq iter.Seq[T], size int) iter.Seq[T] {
	return func(yield func(T) bool) {
		batches, stop := make(chan []T, 2), make(chan struct{})
		var g Group
		g.Go(func() { produce(seq, size, batches, stop) })
		defer func() {
			close(stop)
			for range batches { // until the producer has closed it
			}
			g.Wait()
		}()
		for batch := range batches {
			for _, v := range batch {
				if !yield(v) {
					return
				}
			}
		}
	}
}

func produce[T any](seq iter.Seq[T], size int, batches chan<- []T, stop <-chan struct{}) {
	defer close(batches)
	batch := make([]T, 0, size)
	hand := func() bool {
		select {
		case batches <- batch:
			batch = make([]T, 0, size)
			return true
		case <-stop:
			return false
		}
	}
	for v := range seq {
		if batch = append(batch, v); len(batch) == size && !hand() {
			return
		}
	}
	if len(batch) > 0 {
		hand()
	}
}
