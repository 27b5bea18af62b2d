// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"bytes"

	"github.com/callvet/callvet/panel/tally"
)

// maxSteps bounds what is kept of one task, steps and records each: one with more
// counts as several.
const maxSteps = 1 << 16

// task is what is folded of a task.
type task struct {
	steps      []step
	records    []record
	odds       []odd // in the order of the steps
	id, target []byte
}

// open is an open task: a line of the processor's cache, as many are.
type open struct {
	steps []step
	// box is where the steps and the name are, those of nearly all tasks: they come in one
	// piece. The others have their own; a task has a rest then, or where it has records.
	box        *tally.Box[step]
	rest       *rest
	text       uint32 // where in that of the box the name begins
	target, id uint32 // how long they are
	number     uint32 // of the target
	// head tells that the task was among the first window of tasks of a part, so
	// that the part before it may hold its beginning: it is not folded.
	head, closed bool
}

type rest struct {
	steps   []step
	records []record
	odds    []odd
	text    []byte
}

// partition holds those open tasks that share a window.
type partition struct {
	size   int // of the window
	window tally.Window
	tasks  tally.Slab[open] // by their numbers in the window
	spare  []*rest
	heads  []uint32
	seen   int    // distinct tasks, up to size
	warmed uint64 // so that looking is not in vain
	split  int64
	long   int64             // tasks with more than maxSteps steps
	boxes  tally.Boxes[step] // which others use: apart from what is read for each task
}

// name gives the target of a task and its id, one after the other.
func (t *open) name() []byte {
	if t.box != nil {
		return t.box.Text[t.text:][:t.target+t.id]
	}
	return t.rest.text
}

// task gives what is known of an open task.
func (t *open) task() task {
	name := t.name()
	o := task{steps: t.steps, target: name[:t.target], id: name[t.target:]}
	if t.rest != nil {
		o.records, o.odds = t.rest.records, t.rest.odds
	}
	return o
}

func (t *open) fold(into *Sums) {
	o := t.task()
	into.fold(&o)
}

// take adds the lines of a batch that are in one of its boxes, and folds the tasks they push out of
// the window. The box is kept as it is for as long as anything in it is needed, unless it is roomy.
func (p *partition) take(in *tally.Box[step], pieces []piece, b *Batch, keep bool, into *Sums) {
	p.warm(pieces)
	in.Hold()
	roomy := in.Roomy(len(pieces))
	for i := range pieces {
		c := &pieces[i]
		name, steps := in.Text[c.text:][:c.target+c.id], in.Things[c.from:c.to:c.to]
		n := p.touch(c.hash, name[:c.target], name[c.target:])
		if n == 0 {
			n = p.begin(c.hash, keep)
			in.Hold()
			t := p.tasks.At(n)
			t.box, t.text, t.target, t.id, t.number = in, c.text, c.target, c.id, c.targetNumber
			if !roomy && len(steps) <= tally.MaxFew { // else it would keep a large box
				t.steps, steps = steps, nil
			}
		}
		t := p.tasks.At(n)
		if len(steps) > 0 || c.rfrom < c.rto || c.ofrom < c.oto {
			p.more(t, steps, b.records[c.rfrom:c.rto], b.odds[c.ofrom:c.oto], roomy)
		}
		if len(t.steps) >= maxSteps || t.rest != nil && len(t.rest.records) >= maxSteps {
			p.long++
			t.fold(into)
			if t.steps = nil; t.rest != nil {
				t.rest.empty()
			}
		}
		p.shrink(into)
	}
	p.boxes.GiveUp(in)
}

// more adds lines to a task. One that goes on for long leaves its box, or it would keep it.
func (p *partition) more(t *open, steps []step, records []record, odds []odd, leave bool) {
	if t.rest == nil {
		t.rest = &rest{}
		if n := len(p.spare); n > 0 {
			t.rest, p.spare = p.spare[n-1], p.spare[:n-1]
		}
	}
	r := t.rest
	if t.box != nil && (leave || len(steps) > 0 || len(r.records) > 0) {
		r.text, r.steps = append(r.text[:0], t.name()...), append(r.steps[:0], t.steps...)
		p.boxes.GiveUp(t.box)
		t.box, t.steps = nil, r.steps
	}
	if len(steps) > 0 {
		r.steps = append(r.steps, steps...)
		t.steps = r.steps
	}
	r.records, r.odds = append(r.records, records...), append(r.odds, odds...)
}

// empty forgets the lines.
func (r *rest) empty() {
	clear(r.records)
	clear(r.odds)
	r.steps, r.records, r.odds = r.steps[:0], r.records[:0], r.odds[:0]
}

// warm looks at what the next pieces will need. Each of them is far from the
// others in memory: looked at one after the other, they are waited for together.
func (p *partition) warm(pieces []piece) {
	sum, n := uint64(0), p.window.Oldest()
	for i := range pieces {
		sum += p.window.Look(pieces[i].hash)
		if p.window.Len() < p.size || n == 0 { // nothing will be folded
			continue
		}
		t := p.tasks.At(n)
		for i := range t.steps[:min(len(t.steps), tally.MaxFew)] {
			sum += uint64(t.steps[i].known)
		}
		sum += p.window.Look(p.window.Hash(n))
		n = p.window.Next(n)
	}
	p.warmed = sum
}

// shrink closes what is beyond the window.
func (p *partition) shrink(into *Sums) {
	for p.window.Len() > p.size {
		p.shut(p.window.Oldest(), into)
	}
}

// touch gives the number of an open task that is heard of; 0 for none.
func (p *partition) touch(h uint64, target, id []byte) uint32 {
	n := p.window.Get(h)
	if n == 0 {
		return 0
	}
	t := p.tasks.At(n)
	if name := t.name(); int(t.target) != len(target) || !bytes.Equal(name[:t.target], target) || !bytes.Equal(name[t.target:], id) {
		return 0 // as one in 2^64 is
	}
	p.window.Hear(n)
	return n
}

// begin opens a new task, which is to be told.
func (p *partition) begin(h uint64, keep bool) uint32 {
	n := p.window.Number(h)
	t := p.tasks.Room(n)
	if p.window.Closed(h) {
		p.split++
	} else if p.seen < p.size {
		p.seen++
		if keep {
			t.head = true
			p.heads = append(p.heads, n)
		}
	}
	p.window.Open(n)
	return n
}

// shut closes an open task: it is folded, unless it may belong to the part before.
func (p *partition) shut(n uint32, into *Sums) {
	p.window.Close(n) // so that it is noticed when it comes back
	t := p.tasks.At(n)
	if t.head {
		t.closed = true
		return
	}
	t.fold(into)
	if t.box != nil {
		p.boxes.GiveUp(t.box)
	}
	if r := t.rest; r != nil && len(p.spare) < 64 && cap(r.steps) <= 256 {
		r.empty()
		p.spare = append(p.spare, r)
	}
	*t = open{}
	p.window.Free(n)
}

// settle folds all there is.
func (p *partition) settle(into *Sums) {
	for _, n := range p.heads {
		if p.tasks.At(n).closed {
			p.tasks.At(n).fold(into)
		}
	}
	for n := p.window.Oldest(); n != 0; n = p.window.Next(n) {
		p.tasks.At(n).fold(into)
	}
}

// empty forgets the open tasks.
func (p *partition) empty() {
	p.window.Empty()
	p.tasks, p.heads = tally.Slab[open]{}, nil
}

// absorb appends a later part of the same file. o is used up.
func (p *partition) absorb(o *partition, keep bool, into *Sums) {
	for _, m := range o.heads { // in the order in which they came: each pushed another out
		from := o.tasks.At(m)
		h, own := o.window.Hash(m), from.task()
		n := p.touch(h, own.target, own.id)
		if n == 0 {
			n = p.begin(h, keep)
			t := p.tasks.At(n)
			t.target, t.id, t.number, t.rest = from.target, from.id, from.number, &rest{text: from.name()}
		}
		p.more(p.tasks.At(n), own.steps, own.records, own.odds, true)
		p.shrink(into)
	}
	for _, m := range o.heads {
		own := o.tasks.At(m).task()
		if n := p.touch(o.window.Hash(m), own.target, own.id); n != 0 && o.tasks.At(m).closed { // the others are heard again
			p.shut(n, into)
		}
	}
	for m := o.window.Oldest(); m != 0; m = o.window.Next(m) {
		h, own := o.window.Hash(m), o.tasks.At(m).task()
		if p.touch(h, own.target, own.id) == 0 { // else a head, taken above
			n := p.window.Number(h)
			*p.tasks.Room(n) = *o.tasks.At(m)
			p.window.Open(n)
		}
	}
	for h := range o.window.Noted {
		p.window.Note(h)
	}
	p.split, p.long = p.split+o.split, p.long+o.long
	if o.seen >= o.size { // else all of its tasks were heads, and are counted
		p.seen = p.size
	}
	p.shrink(into)
}
