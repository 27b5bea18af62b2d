// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"container/list"
	"errors"
	"hash/maphash"
	"io"
	"iter"
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Window is the default number of open attempts of a Grouper.
const Window = 4096

// maxOpen bounds the records of all open attempts, in bytes: they stay in memory until their
// attempt is returned, which then needs about five times as much. A real attempt has kilobytes.
const maxOpen = 64 << 20

// Grouper joins the lines of each attempt. Lines of different attempts may be mixed, as long as no
// more than its window of attempts are open at once.
//
// An attempt is complete when its task record follows its steps, or when all steps that the
// record announced are there. If the window is full or the open attempts exceed maxOpen, the
// attempt without new lines for longest is returned incomplete. The end of the file completes
// all. A step after its attempt was returned starts a new attempt and is counted in Split; a task
// record is then late.
type Grouper struct {
	// Hold keeps complete attempts open until the window is full, so that a later record of one can
	// correct or contradict it.
	Hold bool

	window int
	open   map[attemptID]*list.Element
	order  *list.List // of *gathering, the longest silent first
	done   map[uint64]given
	ring   []uint64
	seed   maphash.Seed
	bytes  int // of the records of open attempts
	// Split is how many attempts were returned in more than one piece; only the last 16 windows of
	// attempts are remembered.
	Split int64
	// Merged is how many task records were copies of an earlier one, Copies how many steps were
	// copies of an earlier step of their call.
	Merged, Copies int64
	// Conflicts is how many attempts had task records that contradict each other, Contradicted
	// how many had contradicting steps of one call.
	Conflicts, Contradicted int64
	// Unknown is how many attempts have unknown calls although their record does not report this.
	Unknown int64
	// Retyped is how many values under fields were numbers or booleans, which an attempt keeps as
	// text; Dropped is how many were lists or objects, which it drops.
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
	// contents are hashes of the task records; records decides which of them counts.
	contents []uint64
	records  callvet.Deliveries
	lines    []uint64 // hashes of the steps that name their call
	broken   bool     // a step of it could not be read
}

// given are hashes of the lines of a returned attempt: of its last task record (0 for none), and
// of its steps with the id of a call.
type given struct {
	record uint64
	lines  []uint64
}

// NewGrouper keeps at most window attempts open; 0 means Window.
func NewGrouper(window int) *Grouper {
	if window <= 0 {
		window = Window
	}
	return &Grouper{
		window: window, open: map[attemptID]*list.Element{}, order: list.New(),
		done: map[uint64]given{}, seed: maphash.MakeSeed(),
	}
}

// Add adds a record and returns the attempt that it completed or pushed out of the window; ok is
// false when there is none.
func (g *Grouper) Add(v *View) (a Attempt, ok bool) {
	el, a, ok := g.gather(attemptID{string(v.TaskID), string(v.Target), v.Attempt})
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
		if len(v.CallID) > 0 {
			at.lines = append(at.lines, g.line(v))
		}
	}
	switch {
	case ok:
	case !g.Hold && at.complete():
		return g.close(el)
	case g.bytes > maxOpen:
		return g.close(g.order.Front())
	}
	return a, ok
}

// gather returns the open attempt, a new one where it is not open; a is the attempt that this
// pushed out of the window.
func (g *Grouper) gather(id attemptID) (el *list.Element, a Attempt, ok bool) {
	if el = g.open[id]; el != nil {
		g.order.MoveToBack(el)
		return el, a, false
	}
	if len(g.open) >= g.window {
		a, ok = g.close(g.order.Front())
	}
	el = g.order.PushBack(&gathering{id: id})
	g.open[id] = el
	g.reopened(id)
	return el, a, ok
}

// Broken records that a step of an attempt is unreadable: without a readable line of the call the
// attempt's calls are unknown. It is used as Scanner.Broken.
func (g *Grouper) Broken(task, target string, number int) {
	id := attemptID{task, target, number}
	if el := g.open[id]; el != nil {
		el.Value.(*gathering).broken = true
		return
	}
	if len(g.open) < g.window {
		el, _, _ := g.gather(id)
		el.Value.(*gathering).broken = true
	}
}

// Copy reports whether v has the text of an earlier record of the same attempt, and counts it: it
// must not be added. Steps without the id of a call are never copies.
func (g *Grouper) Copy(v *View) bool {
	if !v.IsTask && len(v.CallID) == 0 {
		return false
	}
	id := attemptID{string(v.TaskID), string(v.Target), v.Attempt}
	was := g.done[g.hash(id)]
	at := &gathering{}
	if el := g.open[id]; el != nil {
		at = el.Value.(*gathering)
	}
	if v.IsTask {
		content := v.Record.Hash()
		copied := was.record == content || slices.Contains(at.contents, content)
		g.Merged += int64(one(copied))
		return copied
	}
	line := g.line(v)
	copied := slices.Contains(was.lines, line) || slices.Contains(at.lines, line)
	g.Copies += int64(one(copied))
	return copied
}

// Late reports whether v is a task record that differs from the record of its returned attempt,
// and counts it as a conflict: it must not be added.
func (g *Grouper) Late(v *View) bool {
	id := attemptID{string(v.TaskID), string(v.Target), v.Attempt}
	late := v.IsTask && g.open[id] == nil && g.done[g.hash(id)].record != 0
	g.Conflicts += int64(one(late))
	return late
}

// line is a hash of a step's line.
func (g *Grouper) line(v *View) uint64 { return maphash.Bytes(g.seed, v.Raw) }

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// End returns an open attempt, complete or not; ok is false when it is not open.
func (g *Grouper) End(task, target string, number int) (a Attempt, ok bool) {
	el := g.open[attemptID{task, target, number}]
	if el == nil {
		return Attempt{}, false
	}
	return g.close(el)
}

// changed counts the values under fields that are not kept unchanged.
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

// recordSize is the approximate memory of a record in addition to its text.
const recordSize = 256

func (at *gathering) complete() bool {
	switch {
	case at.task == nil:
		return false
	case at.task.Steps != nil:
		return len(at.steps) >= *at.task.Steps
	case len(at.task.Conversation) > 0 &&
		!slices.ContainsFunc(at.task.Conversation, func(m Message) bool { return len(m.CallIDs) > 0 }):
		return true // the conversation is complete and has no call
	}
	return len(at.steps) > 0
}

// close returns an open attempt; ok is false where it has no record.
func (g *Grouper) close(el *list.Element) (a Attempt, ok bool) {
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
	was := given{lines: at.lines}
	if n := len(at.contents); n > 0 {
		was.record = at.contents[n-1]
	}
	g.done[h] = was
	if at.task == nil && len(at.steps) == 0 {
		return a, false
	}
	steps, order, contradict := g.calls(at.steps)
	a = join(steps, at.task)
	for i, n := range a.Order {
		if n >= 0 && order != nil {
			a.Order[i] = order[n]
		}
	}
	a.Trace.Note(at.made.Note())
	switch {
	case at.records.Conflict(): // nothing shows which of them is right
		g.Conflicts++
		a.unknown(contradicted)
	case contradict:
		g.Contradicted++
		a.unknown(contradictedCall)
	case !at.broken:
	case len(a.Trace.Calls()) > 0:
		a.Trace.Note(brokenStep)
	case a.Trace.Fault == nil && at.task.Outcome == "":
		a.unknown(brokenStep)
	}
	if f := a.Trace.Fault; f != nil && (at.task == nil || at.task.Fault == nil) {
		g.Unknown++
	}
	return a, true
}

// unknown marks the calls of the attempt as unknown.
func (a *Attempt) unknown(why string) {
	a.Pass, a.Reward, a.Trace.Fault = nil, nil, Unknown(why)
	a.Trace.Classify("")
}

// callID separates the calls of an attempt: providers reuse ids in later turns.
type callID struct {
	turn int
	id   string
}

// repeated are the steps of calls with several steps.
func repeated(all []Step) map[callID][]int {
	last := make(map[callID]int, len(all))
	var of map[callID][]int
	for i := range all {
		key := callID{all[i].TurnID, all[i].CallID}
		if key.id == "" {
			continue
		}
		before, again := last[key]
		last[key] = i
		if !again {
			continue
		}
		if of == nil {
			of = map[callID][]int{}
		}
		if of[key] == nil {
			of[key] = []int{before}
		}
		of[key] = append(of[key], i)
	}
	return of
}

// calls are the steps that count, and their places among all; nil where all do. Equal lines of
// one call count once, and a line that corrects replaces the earlier lines of its call. Lines
// that contradict each other do not count.
func (g *Grouper) calls(all []Step) (steps []Step, order []int, contradict bool) {
	of := repeated(all)
	if of == nil {
		return all, nil, false
	}
	drop := map[int]bool{}
	for _, lines := range of {
		var d callvet.Deliveries
		for n, i := range lines {
			same := slices.IndexFunc(lines[:n], func(o int) bool { return all[o].equal(&all[i]) })
			if same < 0 {
				same = n
			}
			d.Add(uint64(same), all[i].Corrects)
			drop[i] = true
		}
		g.Copies += int64(d.Merged)
		if contradict = contradict || d.Conflict(); !d.Conflict() {
			delete(drop, lines[d.Counts])
		}
	}
	for i := range all {
		if !drop[i] {
			steps, order = append(steps, all[i]), append(order, i)
		}
	}
	return steps, order, contradict
}

// equal reports whether two steps are equal, apart from Corrects.
func (s *Step) equal(o *Step) bool {
	a, b := *s, *o
	a.Corrects, b.Corrects = false, false
	return reflect.DeepEqual(a, b)
}

// The reasons for unknown calls: several records, or an invalid step.
const (
	contradicted = "two task records of this attempt contradict each other: " +
		"number attempts, or write corrects: true in the one that counts"
	contradictedCall = "two steps of one call contradict each other: " +
		"give each call its own call_id, or write corrects: true in the one that counts"
	brokenStep = "a line of its steps could not be read"
)

func (g *Grouper) hash(id attemptID) uint64 { return maphash.Comparable(g.seed, id) }

func (g *Grouper) reopened(id attemptID) {
	if _, seen := g.done[g.hash(id)]; seen {
		g.Split++
	}
}

// Rest yields the attempts that are still open, the longest silent first.
func (g *Grouper) Rest() iter.Seq[Attempt] {
	return func(yield func(Attempt) bool) {
		for el := g.order.Front(); el != nil; el = g.order.Front() {
			if a, ok := g.close(el); ok && !yield(a) {
				return
			}
		}
	}
}

// Attempts reads a trace file as attempts.
func (r *Reader) Attempts(g *Grouper) iter.Seq2[Attempt, error] {
	return func(yield func(Attempt, error) bool) {
		r.scan.Broken = g.Broken
		for {
			v, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(Attempt{}, err)
				return
			}
			if g.Copy(v) || g.Late(v) {
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
