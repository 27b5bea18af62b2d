// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
)

// Scored is one step with its scores. Lines count through the sources; 0 if a source has another
// form.
type Scored struct {
	Line  int64
	Step  trace.Step
	Score callvet.StepScore
	// Args and Result are hashes, 0 if not recorded.
	Args, Result uint64
	// Content is a hash of the line; 0 if the line has no call id, so that it cannot be a copy.
	Content uint64
}

// delivery passes on the rows of blocks in the order of the blocks, whichever worker finishes
// first.
type delivery struct {
	mu      sync.Mutex
	next    int64
	waiting map[int64][]Scored
	err     error
}

// block takes the rows of a block and passes on the rows of all blocks that are next in order.
func (d *delivery) block(number int64, rows []Scored, each func([]Scored) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting == nil {
		d.waiting = map[int64][]Scored{}
	}
	d.waiting[number] = rows
	for d.err == nil {
		rows, ok := d.waiting[d.next]
		if !ok {
			break
		}
		delete(d.waiting, d.next)
		d.next++
		if len(rows) > 0 {
			d.err = each(rows)
		}
	}
	return d.err
}
