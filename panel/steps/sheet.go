// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"sync"
	"sync/atomic"

	"github.com/callvet/callvet"
)

// Sheet is the table of a reading. Several workers may fill it at once; the result does not depend
// on their number, within the limits of SliceNames.
type Sheet struct {
	cfg     Config
	names   *SliceNames
	limits  map[uint32]*callvet.RateLimit // by the tool's number
	parts   [partitions]part
	mu      sync.Mutex // of workers and given
	workers []*Worker
	given   map[int64]*Batch // by number; those that some partition has not taken yet
	sums    *Sums            // of merged parts
	sources []Source
	lost    int64 // records that could not be read
}

// Source is a file that was read.
type Source struct {
	Name  string
	Lines int64
	// Foreign files have a format other than callvet's: their lines are not records.
	Foreign bool
}

// part is a partition with the number of its next batch.
type part struct {
	tasks *partition
	next  int64
}

// New makes an empty Sheet.
func New(cfg Config) *Sheet {
	s := &Sheet{cfg: cfg.withDefaults(), given: map[int64]*Batch{}}
	s.names = NewSliceNames(s.cfg.SliceBy, s.cfg.Families)
	for _, name := range s.cfg.Targets {
		s.names.Targets.Number([]byte(name))
	}
	s.cfg.Tools = contracts(s.cfg.Tools)
	s.limits = s.rateLimits()
	s.sums = s.newSums()
	for i := range s.parts {
		s.parts[i].tasks = newPartition(max(1, s.cfg.Window/partitions))
	}
	return s
}

func (s *Sheet) newSums() *Sums {
	sums := newSums(s.names)
	sums.limits = s.limits
	return sums
}

// Worker makes a Worker that fills the Sheet.
func (s *Sheet) Worker() *Worker {
	w := &Worker{sheet: s, names: s.names, find: s.names.Finder(), sums: s.newSums()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers = append(s.workers, w)
	return w
}

// Give queues the batch of the block with that number, counted from 0 without a gap, for Take.
// Batches may come in any order. done is called when the batch may be reused.
func (s *Sheet) Give(number int64, b *Batch, done func(*Batch)) {
	b.number, b.done = number, done
	atomic.StoreInt32(&b.left, partitions)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[number] = b
}

// batch is the queued batch with that number; nil where it has not arrived.
func (s *Sheet) batch(number int64) *Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given[number]
}

// taken records that a partition took a batch.
func (s *Sheet) taken(b *Batch) {
	if atomic.AddInt32(&b.left, -1) > 0 {
		return
	}
	s.mu.Lock()
	delete(s.given, b.number)
	s.mu.Unlock()
	b.reset()
	b.done(b)
}

// Take adds queued batches to the parts numbered first, first+by and so on, each part in the order
// of the file, up to the first missing batch. A part belongs to one Worker.
func (s *Sheet) Take(w *Worker, first, by int) {
	for i := first; i < partitions; i += by {
		p := &s.parts[i]
		for b := s.batch(p.next); b != nil; b = s.batch(p.next) {
			p.next++
			p.tasks.take(&b.parts[i], s.cfg.Partial, w.sums)
			s.taken(b)
		}
	}
}

// Read notes a file of the reading, in order.
func (s *Sheet) Read(src Source) { s.sources = append(s.sources, src) }

// Lines is how many lines were read so far, by Read.
func (s *Sheet) Lines() int64 {
	var n int64
	for _, src := range s.sources {
		n += src.Lines
	}
	return n
}

// Settle adds the open tasks of the parts numbered first, first+by and so on to the sums of w. It
// is for a Sheet that is not Partial, after every batch has been applied; workers may share the
// work.
func (s *Sheet) Settle(w *Worker, first, by int) {
	for i := first; i < len(s.parts); i += by {
		s.parts[i].tasks.settle(w.sums)
		s.parts[i].tasks.empty()
	}
}

// Close ends the filling: it merges the sums of the workers. Only then may the Sheet be written,
// merged or reported.
func (s *Sheet) Close() {
	for _, w := range s.workers {
		w.sums.settle()
		s.sums.mergeRest(w.sums)
	}
	s.sums.slices = make([]*sliceSums, len(s.names.Slices))
	s.each(len(s.names.Slices), func(id int) {
		for _, w := range s.workers {
			w.sums.gather(uint32(id), &s.sums.slices[id])
		}
	})
	s.workers = nil
}

func (s *Sheet) each(n int, do func(int)) {
	if s.cfg.Parallel != nil {
		s.cfg.Parallel(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

// settled is the sum of everything, open tasks included. The Sheet is unchanged.
func (s *Sheet) settled() *Sums {
	open := 0
	for i := range s.parts {
		open += len(s.parts[i].tasks.open) + len(s.parts[i].tasks.heads)
	}
	if open == 0 {
		return s.sums
	}
	all := s.newSums()
	all.merge(s.sums)
	for i := range s.parts {
		s.parts[i].tasks.settle(all)
	}
	all.settle()
	return all
}
