// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"bytes"

	"github.com/callvet/callvet/panel/tally"
)

// maxSteps bounds what is kept of one task, steps and records each: one with more
// counts as several.
const maxSteps = 1 << 16

// task is an open task. What every task needs when it is closed comes first.
type task struct {
	hash       uint64
	prev, next *task // by silence
	steps      []step
	records    []record
	box        *tally.Box[step] // that steps are in; nil: they are the task's own
	// head tells that the task was among the first window of tasks of a part, so
	// that the part before it may hold its beginning: it is not folded.
	head, closed bool
	number       uint32 // of the target
	id, target   []byte
	own          []step // memory for steps
}

// partition holds those open tasks that share a window.
type partition struct {
	window int
	open   tally.Table[task]
	old    *task // the longest silent
	young  *task
	free   []*task
	shelf  tally.Shelf[step]
	heads  []*task
	seen   int          // distinct tasks, up to window
	recent tally.Recent // tasks closed last
	warmed uint64       // so that looking is not in vain
	split  int64
	long   int64 // tasks with more than maxSteps steps
}

func newPartition(window int) *partition {
	return &partition{window: window, open: tally.NewTable[task](window), recent: tally.NewRecent(max(4*window, 1024))}
}

// take adds a piece of a batch, and folds the tasks it pushes out of the window.
func (p *partition) take(b *Batch, c *piece, keep bool, into *Sums) {
	t := p.touch(c.hash, c.target, c.id, c.targetNumber, keep)
	p.add(t, b.steps[c.from:c.to], b.records[c.rfrom:c.rto])
	if max(len(t.steps), len(t.records)) >= maxSteps {
		p.long++
		into.fold(t)
		p.strip(t)
	}
	p.shrink(into)
}

// add adds lines to a task. Nearly all tasks come in one piece: these are shelved, so that they lie as
// they will be folded, one after the other. One that goes on for long does not, or it would keep a box.
func (p *partition) add(t *task, steps []step, records []record) {
	switch n := len(steps); {
	case n == 0 && len(t.records) == 0:
	case n > 0 && len(t.steps) == 0 && n <= tally.MaxRun:
		t.steps, t.box = p.shelf.Put(steps)
	default:
		if t.box != nil {
			t.own = append(t.own[:0], t.steps...)
			p.shelf.GiveUp(t.box)
			t.steps, t.box = t.own, nil
		}
		t.own = append(t.steps, steps...)
		t.steps = t.own
	}
	t.records = append(t.records, records...)
}

// strip takes the lines of a task.
func (p *partition) strip(t *task) {
	if t.box != nil {
		p.shelf.GiveUp(t.box)
		t.box = nil
	}
	clear(t.records)
	t.steps, t.records = t.own[:0], t.records[:0]
}

// warm looks at what the next pieces will need. Each of them is far from the
// others in memory: looked at one after the other, they are waited for together.
func (p *partition) warm(pieces []piece) {
	sum, t := uint64(0), p.old
	for i := range pieces {
		h := pieces[i].hash
		sum += p.open.Look(h) + p.recent.At(h)
		if p.open.Len() < p.window || t == nil { // nothing will be folded
			continue
		}
		for i := range t.steps[:min(len(t.steps), tally.MaxRun)] {
			sum += uint64(t.steps[i].known)
		}
		sum += p.open.Look(t.hash)
		t = t.next
	}
	p.warmed = sum
}

// shrink closes what is beyond the window.
func (p *partition) shrink(into *Sums) {
	for p.open.Len() > p.window {
		p.shut(p.old, into)
	}
}

// find gives an open task. Of two with one hash, as one in 2^64 has, the older one is closed early.
func (p *partition) find(h uint64, target, id []byte) *task {
	t := p.open.Get(h)
	if t == nil || !bytes.Equal(t.id, id) || !bytes.Equal(t.target, target) {
		return nil
	}
	return t
}

// touch gives a task that lines come of: an open one, or a new one.
func (p *partition) touch(h uint64, target, id []byte, number uint32, keep bool) *task {
	t := p.find(h, target, id)
	if t == nil {
		return p.begin(h, target, id, number, keep)
	}
	if p.young != t {
		p.unlink(t)
		p.push(t)
	}
	return t
}

func (p *partition) begin(h uint64, target, id []byte, number uint32, keep bool) *task {
	var t *task
	if n := len(p.free); n > 0 {
		t, p.free = p.free[n-1], p.free[:n-1]
	} else {
		t = &task{}
	}
	t.hash, t.number = h, number
	t.target, t.id = append(t.target[:0], target...), append(t.id[:0], id...)
	if p.recent.At(h) == h {
		p.split++
	} else if p.seen < p.window {
		p.seen++
		if keep {
			t.head = true
			p.heads = append(p.heads, t)
		}
	}
	p.open.Put(t.hash, t)
	p.push(t)
	return t
}

func (p *partition) push(t *task) {
	t.prev, t.next = p.young, nil
	if p.young != nil {
		p.young.next = t
	} else {
		p.old = t
	}
	p.young = t
}

func (p *partition) unlink(t *task) {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		p.old = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		p.young = t.prev
	}
	t.prev, t.next = nil, nil
}

// shut closes an open task: it is folded, unless it may belong to the part before.
func (p *partition) shut(t *task, into *Sums) {
	p.unlink(t)
	p.open.Remove(t.hash)
	p.recent.Note(t.hash) // so that it is noticed when it comes back
	if t.head {
		t.closed = true
		return
	}
	into.fold(t)
	p.recycle(t)
}

func (p *partition) recycle(t *task) {
	p.strip(t)
	t.head, t.closed = false, false
	if cap(t.own) <= 256 && len(p.free) < 64 {
		p.free = append(p.free, t)
	}
}

// settle folds all there is.
func (p *partition) settle(into *Sums) {
	for _, t := range p.heads {
		if t.closed {
			into.fold(t)
		}
	}
	for t := p.old; t != nil; t = t.next {
		into.fold(t)
	}
}

// empty forgets the open tasks.
func (p *partition) empty() {
	p.open, p.old, p.young, p.heads, p.shelf = tally.NewTable[task](0), nil, nil, nil, tally.Shelf[step]{}
}

// absorb appends a later part of the same file. o is used up.
func (p *partition) absorb(o *partition, keep bool, into *Sums) {
	for _, h := range o.heads { // in the order in which they came: each pushed another out
		p.add(p.touch(h.hash, h.target, h.id, h.number, keep), h.steps, h.records)
		p.shrink(into)
	}
	for _, h := range o.heads {
		if t := p.find(h.hash, h.target, h.id); t != nil && h.closed {
			p.shut(t, into)
		}
	}
	for t := o.old; t != nil; {
		next := t.next
		if p.find(t.hash, t.target, t.id) != nil { // a head, taken above
			p.touch(t.hash, t.target, t.id, t.number, keep)
		} else {
			p.open.Put(t.hash, t)
			p.push(t)
		}
		t = next
	}
	for _, h := range o.recent.All() {
		p.recent.Note(h)
	}
	p.split, p.long = p.split+o.split, p.long+o.long
	if o.seen >= o.window { // else all of its tasks were heads, and are counted
		p.seen = p.window
	}
	p.shrink(into)
}
