// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

// openTasks finds open tasks by their hash: a table with linear probing, whose
// place for a hash is nearly always in one line of the processor's cache.
type openTasks struct {
	slots []openTask
	used  int
}

type openTask struct {
	hash uint64
	task *task // nil: free
}

func newOpenTasks(window int) openTasks {
	size := 16
	for size < 2*(window+1) {
		size *= 2
	}
	return openTasks{slots: make([]openTask, size)}
}

func (o *openTasks) mask() uint64 { return uint64(len(o.slots) - 1) }

// home is where a hash is looked for first. Its low bits chose the partition.
func (o *openTasks) home(h uint64) uint64 { return h >> 20 & o.mask() }

// place is where a hash is, or the free slot where it would be.
func (o *openTasks) place(h uint64) uint64 {
	i := o.home(h)
	for o.slots[i].task != nil && o.slots[i].hash != h {
		i = (i + 1) & o.mask()
	}
	return i
}

func (o *openTasks) get(h uint64) *task { return o.slots[o.place(h)].task }

// put enters a task; one of the same hash is replaced.
func (o *openTasks) put(t *task) {
	i := o.place(t.hash)
	if o.slots[i].task == nil {
		o.used++
	}
	o.slots[i] = openTask{t.hash, t}
	if 4*o.used <= 3*len(o.slots) {
		return
	}
	old := o.slots
	o.slots = make([]openTask, 2*len(old))
	for _, s := range old {
		if s.task != nil {
			o.slots[o.place(s.hash)] = s
		}
	}
}

// remove takes the task of a hash out, and moves those after it that it was in the
// way of.
func (o *openTasks) remove(h uint64) {
	i := o.place(h)
	if o.slots[i].task == nil {
		return
	}
	o.used--
	for j := (i + 1) & o.mask(); o.slots[j].task != nil; j = (j + 1) & o.mask() {
		if home := o.home(o.slots[j].hash); (j-home)&o.mask() >= (j-i)&o.mask() {
			o.slots[i] = o.slots[j]
			i = j
		}
	}
	o.slots[i] = openTask{}
}
