// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"container/list"
	"errors"
	"hash/maphash"
	"io"
	"iter"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Window is how many attempts a Grouper keeps open when not told otherwise.
const Window = 4096

// maxOpen is how many bytes the records of all open attempts may have: they are in memory
// until their attempt is given, and take some five times that when it is. A real attempt has
// kilobytes.
const maxOpen = 64 << 20

// Grouper puts the lines of each attempt together. Lines of different attempts
// may be mixed, as long as no more than its window of attempts are open at once.
//
// An attempt is complete when its task record comes after its steps (or has
// told how many there are and they came); when the window is full, the attempt
// that was silent longest is given as it is; the end of the file completes all.
// So is the longest silent one when the open attempts have very many bytes.
// A step that comes after its attempt was given starts it anew and is counted
// in Split.
type Grouper struct {
	window int
	open   map[attemptID]*list.Element
	order  *list.List        // of *gathering, the longest silent first
	done   map[uint64]uint64 // the content of the last task record; 0: none came
	ring   []uint64
	seed   maphash.Seed
	bytes  int // of the records of open attempts
	// Split is how many attempts were given in more than one piece, as far as
	// the last 16 windows of attempts tell.
	Split int64
	// Merged is how many task records were copies of an earlier one.
	Merged int64
	// Conflicts is how many attempts were given with task records that contradict each other.
	Conflicts int64
	// Retyped is how many values under fields were numbers or booleans, of which an attempt
	// keeps the text; Dropped is how many were lists or objects, of which it keeps nothing.
	Retyped, Dropped int64
}

type attemptID struct {
	task, target string
	attempt      int
}

type gathering struct {
	id    attemptID
	steps []Step
	task  *Task
	bytes int
	made  value.Repairs // in the records
	// contents are hashes of the task records that came; records decides which of them counts.
	contents []uint64
	records  callvet.Deliveries
}

// NewGrouper keeps at most window attempts open; 0 means Window.
func NewGrouper(window int) *Grouper {
	if window <= 0 {
		window = Window
	}
	return &Grouper{
		window: window, open: map[attemptID]*list.Element{}, order: list.New(),
		done: map[uint64]uint64{}, seed: maphash.MakeSeed(),
	}
}

// Add takes a record and gives the attempt it completed or pushed out of the
// window; ok is false when there is none.
func (g *Grouper) Add(v *View) (a Attempt, ok bool) {
	id := attemptID{string(v.TaskID), string(v.Target), v.Attempt}
	el := g.open[id]
	if el == nil {
		if len(g.open) >= g.window {
			a, ok = g.close(g.order.Front()), true
		}
		el = g.order.PushBack(&gathering{id: id})
		g.open[id] = el
		g.reopened(id)
	} else {
		g.order.MoveToBack(el)
	}
	at := el.Value.(*gathering)
	at.bytes, g.bytes = at.bytes+len(v.Raw)+recordSize, g.bytes+len(v.Raw)+recordSize
	at.made |= v.Made
	g.changed(v.Fields)
	if v.IsTask {
		t := v.Task()
		at.records.Add(v.Record.Hash(), t.Corrects)
		at.contents = append(at.contents, v.Record.Hash())
		at.task = &t
	} else {
		at.steps = append(at.steps, v.Step())
	}
	switch {
	case ok:
	case at.complete():
		return g.close(el), true
	case g.bytes > maxOpen:
		return g.close(g.order.Front()), true
	}
	return a, ok
}

// Copy reports whether v is a task record with the text of an earlier one of the same attempt, and
// counts it: it is not to be added.
func (g *Grouper) Copy(v *View) bool {
	if !v.IsTask {
		return false
	}
	id, content := attemptID{string(v.TaskID), string(v.Target), v.Attempt}, v.Record.Hash()
	copied := g.done[g.hash(id)] == content
	if el := g.open[id]; el != nil {
		copied = copied || slices.Contains(el.Value.(*gathering).contents, content)
	}
	if copied {
		g.Merged++
	}
	return copied
}

// End gives an open attempt as it is; ok is false when it is not open.
func (g *Grouper) End(task, target string, number int) (a Attempt, ok bool) {
	el := g.open[attemptID{task, target, number}]
	if el == nil {
		return Attempt{}, false
	}
	return g.close(el), true
}

// changed counts the values under fields that are not kept as they are.
func (g *Grouper) changed(fields value.Value) {
	for e, ok := fields.First(); ok; e, ok = fields.Next(e) {
		switch e.Kind() {
		case value.Number, value.Bool:
			g.Retyped++
		case value.Array, value.Object:
			g.Dropped++
		default: // text, or null, which is nothing
		}
	}
}

// recordSize is about what a record takes beside its text.
const recordSize = 256

func (at *gathering) complete() bool {
	switch {
	case at.task == nil:
		return false
	case at.task.Steps != nil:
		return len(at.steps) >= *at.task.Steps
	case len(at.task.Conversation) > 0 && !slices.ContainsFunc(at.task.Conversation, func(m Message) bool { return len(m.CallIDs) > 0 }):
		return true // the whole conversation is told, and there is no call in it
	}
	return len(at.steps) > 0
}

func (g *Grouper) close(el *list.Element) Attempt {
	at := g.order.Remove(el).(*gathering)
	delete(g.open, at.id)
	g.bytes -= at.bytes
	h := g.hash(at.id)
	if _, seen := g.done[h]; !seen {
		g.ring = append(g.ring, h)
		if len(g.ring) > 16*g.window {
			delete(g.done, g.ring[0])
			g.ring = g.ring[1:]
		}
	}
	g.done[h] = 0
	if n := len(at.contents); n > 0 {
		g.done[h] = at.contents[n-1]
	}
	a := join(at.steps, at.task)
	a.Trace.Note(at.made.Note())
	if at.records.Conflict() { // nothing shows which of them is right
		g.Conflicts++
		a.Pass, a.Reward, a.Trace.Fault = nil, nil, Unknown(contradicted)
		a.Trace.Classify("")
	}
	return a
}

// contradicted is why nothing is known of an attempt with several task records.
const contradicted = "two task records of this attempt contradict each other: " +
	"number attempts, or write corrects: true in the one that counts"

func (g *Grouper) hash(id attemptID) uint64 { return maphash.Comparable(g.seed, id) }

func (g *Grouper) reopened(id attemptID) {
	if _, seen := g.done[g.hash(id)]; seen {
		g.Split++
	}
}

// Rest gives what is still open, the longest silent first.
func (g *Grouper) Rest() iter.Seq[Attempt] {
	return func(yield func(Attempt) bool) {
		for el := g.order.Front(); el != nil; el = g.order.Front() {
			if !yield(g.close(el)) {
				return
			}
		}
	}
}

// Attempts reads a trace file as attempts.
func (r *Reader) Attempts(g *Grouper) iter.Seq2[Attempt, error] {
	return func(yield func(Attempt, error) bool) {
		for {
			v, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(Attempt{}, err)
				return
			}
			if g.Copy(v) {
				continue
			}
			if a, ok := g.Add(v); ok && !yield(a, nil) {
				return
			}
		}
		for a := range g.Rest() {
			if !yield(a, nil) {
				return
			}
		}
	}
}
