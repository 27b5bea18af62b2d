// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import "sync"

// Queue has numbered things, from 0 without a gap, that come in any order and of which several
// take all, each in their order. The zero value is empty. All may use it at once.
type Queue[T any] struct {
	mu     sync.Mutex
	first  int64 // number
	things []*T  // nil: has not come
}

// Put adds a thing.
func (q *Queue[T]) Put(number int64, x *T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for int64(len(q.things)) <= number-q.first {
		q.things = append(q.things, nil)
	}
	q.things[number-q.first] = x
}

// From appends those from a number on, up to the first that has not come.
func (q *Queue[T]) From(number int64, to []*T) []*T {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := number - q.first; i < int64(len(q.things)) && q.things[i] != nil; i++ {
		to = append(to, q.things[i])
	}
	return to
}

// Drop forgets the thing of a number, which all have taken, and those before it.
func (q *Queue[T]) Drop(number int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := number + 1 - q.first; n > 0 {
		left := copy(q.things, q.things[n:])
		clear(q.things[left:])
		q.things, q.first = q.things[:left], number+1
	}
}
