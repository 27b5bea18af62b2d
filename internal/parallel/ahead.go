// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package parallel

import "iter"

// Ahead yields what seq yields and produces it on a goroutine of its own, a few batches ahead, so that those who make
// the items and those who use them work at the same time. A batch has so many items: a handover for each small one
// would cost more than it gains. The goroutine has ended when the loop over it has; its panic comes out there.
func Ahead[T any](seq iter.Seq[T], size int) iter.Seq[T] {
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
