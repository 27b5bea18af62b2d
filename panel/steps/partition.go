// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"bytes"
	"iter"
)

// maxSteps bounds the steps and the records that are kept of one task: a task with more counts as
// several.
const maxSteps = 1 << 16

// task has the lines of a task that are folded.
type task struct {
	steps      []step
	records    []record
	odds       []odd // in the order of the steps
	id, target []byte
}

// open is an open task.
type open struct {
	task
	hash   uint64
	number uint32 // of the target
	// head: the task was among the first window of tasks of a part, so that the part before it may
	// contain its beginning. It is not folded.
	head, closed bool
	// The open tasks of a partition by the time since their last line; prev has the older last
	// line.
	prev, next *open
}

func newOpen(h uint64, target, id []byte, number uint32) *open {
	return &open{hash: h, task: task{target: bytes.Clone(target), id: bytes.Clone(id)}, number: number}
}

func (o *open) fold(into *Sums) {
	t := o.task
	into.fold(&t)
}

// empty forgets the lines.
func (o *open) empty() {
	clear(o.records)
	clear(o.odds)
	o.steps, o.records, o.odds = o.steps[:0], o.records[:0], o.odds[:0]
}

// partition holds open tasks that share a window. A task is closed when as many others as the
// window holds had lines since its last one.
type partition struct {
	size           int // of the window
	open           map[uint64]*open
	oldest, newest *open
	// closed is a cache of hashes of closed tasks; a newer hash replaces an older one in the same
	// slot.
	closed []uint64
	spare  []*open // that were folded
	heads  []*open
	seen   int // distinct tasks, up to size
	split  int64
	long   int64 // tasks with more than maxSteps steps
}

func newPartition(size int) *partition {
	return &partition{size: size, open: map[uint64]*open{}, closed: make([]uint64, max(4*size, 1024))}
}

// place is the slot of a hash in closed. The low bits have chosen the partition.
func (p *partition) place(h uint64) *uint64 { return &p.closed[(h>>8)%uint64(len(p.closed))] }

// note records that a task was closed; 0 is no hash.
func (p *partition) note(h uint64) {
	if h != 0 {
		*p.place(h) = h
	}
}

// noted yields the recorded hashes.
func (p *partition) noted(yield func(h uint64) bool) {
	for _, h := range p.closed {
		if h != 0 && !yield(h) {
			return
		}
	}
}

// silent yields the open tasks, the oldest last line first. The yielded one may be unlinked.
func (p *partition) silent() iter.Seq[*open] {
	return func(yield func(*open) bool) {
		for o := p.oldest; o != nil; {
			next := o.next
			if !yield(o) {
				return
			}
			o = next
		}
	}
}

// take adds the lines of a batch, and folds the tasks that leave the window.
func (p *partition) take(in *lines, keep bool, into *Sums) {
	for i := range in.pieces {
		c := &in.pieces[i]
		name := in.text[c.text:][:c.target+c.id]
		target, id := name[:c.target], name[c.target:]
		o := p.touch(c.hash, target, id)
		if o == nil {
			o = p.begin(c.hash, target, id, c.number, keep)
		}
		o.steps = append(o.steps, in.steps[c.from:c.to]...)
		o.records = append(o.records, in.records[c.rfrom:c.rto]...)
		o.odds = append(o.odds, in.odds[c.ofrom:c.oto]...)
		if len(o.steps) >= maxSteps || len(o.records) >= maxSteps {
			p.long++
			o.fold(into)
			o.empty()
		}
		p.shrink(into)
	}
}

// shrink closes the tasks beyond the window.
func (p *partition) shrink(into *Sums) {
	for len(p.open) > p.size {
		p.shut(p.oldest, into)
	}
}

// touch returns an open task and makes it the one with the newest line; nil where it is not open.
func (p *partition) touch(h uint64, target, id []byte) *open {
	o := p.open[h]
	if o == nil || !bytes.Equal(o.target, target) || !bytes.Equal(o.id, id) { // a hash collision
		return nil
	}
	if o != p.newest {
		p.unlink(o)
		p.push(o)
	}
	return o
}

// begin opens a new task.
func (p *partition) begin(h uint64, target, id []byte, number uint32, keep bool) *open {
	var o *open
	if n := len(p.spare); n > 0 {
		o, p.spare = p.spare[n-1], p.spare[:n-1]
		o.hash, o.number, o.target, o.id = h, number, append(o.target[:0], target...), append(o.id[:0], id...)
	} else {
		o = newOpen(h, target, id, number)
	}
	if *p.place(h) == h {
		p.split++
	} else if p.seen < p.size {
		p.seen++
		if keep {
			o.head = true
			p.heads = append(p.heads, o)
		}
	}
	p.open[h] = o
	p.push(o)
	return o
}

// shut closes an open task: it is folded, unless it may belong to the part before.
func (p *partition) shut(o *open, into *Sums) {
	delete(p.open, o.hash)
	p.unlink(o)
	p.note(o.hash) // so that later lines of the task are noticed
	if o.head {
		o.closed = true
		return
	}
	o.fold(into)
	if len(p.spare) < 64 && cap(o.steps) <= 256 {
		o.empty()
		p.spare = append(p.spare, o)
	}
}

// push makes a task the one with the newest line.
func (p *partition) push(o *open) {
	o.prev, o.next = p.newest, nil
	if p.newest != nil {
		p.newest.next = o
	} else {
		p.oldest = o
	}
	p.newest = o
}

func (p *partition) unlink(o *open) {
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		p.oldest = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		p.newest = o.prev
	}
	o.prev, o.next = nil, nil
}

// settle folds all open tasks.
func (p *partition) settle(into *Sums) {
	for _, o := range p.heads {
		if o.closed {
			o.fold(into)
		}
	}
	for o := range p.silent() {
		o.fold(into)
	}
}

// empty forgets the open tasks.
func (p *partition) empty() {
	clear(p.open)
	p.oldest, p.newest, p.heads, p.spare = nil, nil, nil, nil
}

// absorb appends a later part of the same file; later must not be used afterwards.
func (p *partition) absorb(later *partition, keep bool, into *Sums) {
	for _, from := range later.heads { // in the order of arrival: each pushed another task out
		o := p.touch(from.hash, from.target, from.id)
		if o == nil {
			o = p.begin(from.hash, from.target, from.id, from.number, keep)
		}
		o.steps, o.records, o.odds = append(o.steps, from.steps...), append(o.records, from.records...),
			append(o.odds, from.odds...)
		p.shrink(into)
	}
	for _, from := range later.heads {
		if o := p.touch(from.hash, from.target, from.id); o != nil && from.closed { // the others have lines later
			p.shut(o, into)
		}
	}
	for o := range later.silent() {
		if p.touch(o.hash, o.target, o.id) == nil { // else a head, taken above
			later.unlink(o)
			p.open[o.hash] = o
			p.push(o)
		}
	}
	for h := range later.noted {
		p.note(h)
	}
	p.split, p.long = p.split+later.split, p.long+later.long
	if later.seen >= later.size { // else all of its tasks were heads, and are counted
		p.seen = p.size
	}
	p.shrink(into)
}
