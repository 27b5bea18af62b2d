// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/callvet/callvet/panel/findings"
	"github.com/callvet/callvet/panel/slicing"
)

// Magic is the first line of a partial result.
const Magic = "callvet partial result 3\n"

// writer appends what a reader reads.
type writer struct {
	b    []byte
	sets map[*slicing.Set]uint64
	list []*slicing.Set
}

func (w *writer) uint(n uint64)   { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) int(n int64)     { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) text(s string)   { w.uint(uint64(len(s))); w.b = append(w.b, s...) }
func (w *writer) float(f float64) { w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(f)) }
func (w *writer) fixed(n uint64)  { w.b = binary.LittleEndian.AppendUint64(w.b, n) }
func (w *writer) bool(v bool)     { w.b = append(w.b, byte(one(v))) }

func (w *writer) texts(list []string) {
	w.uint(uint64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

func (w *writer) set(s *slicing.Set) {
	n, ok := w.sets[s]
	if !ok {
		n = uint64(len(w.list))
		w.sets[s], w.list = n, append(w.list, s)
	}
	w.uint(n)
}

// AppendPartial appends the Sheet as a partial result, which Merge reads; note is
// given back as it is. The Sheet must be closed.
func (s *Sheet) AppendPartial(b []byte, note []byte) []byte {
	w := &writer{b: append(b, Magic...), sets: map[*slicing.Set]uint64{}}
	w.texts(s.cfg.SliceBy)
	w.uint(uint64(s.cfg.Window))
	w.bool(s.cfg.Catalogue)
	w.text(string(note))
	w.uint(uint64(len(s.sources)))
	for _, src := range s.sources {
		w.text(src.Name)
		w.int(src.Lines)
		w.bool(src.Foreign)
	}
	w.names(s.names)
	body := &writer{sets: w.sets}
	s.sums.ungroup()
	body.sums(s.sums)
	for i := range s.parts {
		body.partition(s.parts[i].tasks)
	}
	w.uint(uint64(len(body.list)))
	for _, set := range body.list {
		w.uint(uint64(set.Target))
		w.uint(uint64(set.Tool))
		w.uint(uint64(len(set.IDs)))
		for _, id := range set.IDs {
			w.uint(uint64(id))
		}
	}
	return append(w.b, body.b...)
}

func (w *writer) names(n *slicing.Names) {
	w.texts(n.Targets.All)
	w.texts(n.Tools.All)
	w.texts(n.Judges.All)
	w.uint(uint64(len(n.Slices)))
	for _, s := range n.Slices {
		w.uint(uint64(s.Target))
		w.text(s.Key)
		w.text(s.Value)
	}
	w.uint(uint64(len(n.Dead)))
	for k := range n.Dead {
		w.uint(uint64(k.Target))
		w.text(k.Key)
	}
}

func (w *writer) sums(s *Sums) {
	n := 0
	for _, x := range s.slices {
		n += one(x != nil)
	}
	w.uint(uint64(n))
	for id, x := range s.slices {
		if x != nil {
			w.uint(uint64(id))
			w.slice(x)
		}
	}
	w.uint(uint64(len(s.confused)))
	for k, n := range s.confused {
		w.uint(uint64(k[0]))
		w.uint(uint64(k[1]))
		w.uint(uint64(k[2]))
		w.int(n)
	}
	w.symptoms(&s.symptoms)
	for _, list := range [][]ranked{s.ranking.strongest, s.ranking.weakest} {
		w.uint(uint64(len(list)))
		for _, r := range list {
			w.int(r.good)
			w.int(r.of)
			w.int(r.calls)
			w.int(r.line)
			w.text(r.target)
			w.text(r.task)
		}
	}
}

func (w *writer) slice(s *sliceSums) {
	s.enter()
	for _, n := range []int64{s.tasks, s.attempts, s.steps, s.incidents, s.blocked} {
		w.int(n)
	}
	for i := range s.rates {
		w.b = s.rates[i].AppendBinary(w.b)
	}
	for _, x := range s.exact() {
		w.b = x.AppendBinary(w.b)
	}
	w.bool(s.told != nil)
	if s.told != nil {
		w.told(s.told)
	}
}

func (w *writer) told(t *toldSums) {
	for _, n := range t.counts() {
		w.int(*n)
	}
	w.uint(uint64(len(t.judged)))
	for i := range t.judged {
		w.uint(uint64(i))
		w.b = t.judged[i].AppendBinary(w.b)
	}
	w.uint(uint64(len(t.at)))
	for i := range t.at {
		w.b = t.hat[i].AppendBinary(t.at[i].AppendBinary(w.b))
	}
	for _, x := range t.exact() {
		w.b = x.AppendBinary(w.b)
	}
}

func (w *writer) symptoms(s *findings.Counts) {
	w.int(s.Failing)
	w.int(s.Steps)
	for i := range s.Of {
		x := &s.Of[i]
		for _, n := range []int64{x.Count, x.Of, x.Timeouts, x.Unnamed} {
			w.int(n)
		}
		w.uint(uint64(len(x.Tools)))
		for _, k := range slices.Sorted(maps.Keys(x.Tools)) {
			w.uint(uint64(k))
			w.int(x.Tools[k])
		}
		w.uint(uint64(len(x.Paths)))
		for _, k := range slices.Sorted(maps.Keys(x.Paths)) {
			w.text(k)
			w.int(x.Paths[k])
		}
		w.uint(uint64(len(x.First)))
		for _, f := range x.First {
			w.int(f.Line)
			w.text(f.Target)
			w.text(f.Task)
			w.text(f.Call)
			w.int(int64(f.Attempt))
			w.uint(uint64(f.Tool))
		}
	}
}

func (w *writer) partition(p *partition) {
	w.int(p.split)
	w.int(p.long)
	w.uint(uint64(p.seen))
	used := 0
	for _, h := range p.recent {
		used += one(h != 0)
	}
	w.uint(uint64(used))
	for _, h := range p.recent {
		if h != 0 {
			w.fixed(h)
		}
	}
	w.uint(uint64(len(p.heads)))
	at := map[*task]int{}
	for i, t := range p.heads {
		at[t] = i
		w.bool(t.closed)
		w.task(t)
	}
	w.uint(uint64(p.open.used))
	for t := p.old; t != nil; t = t.next {
		if t.head {
			w.uint(uint64(at[t]) + 1)
			continue
		}
		w.uint(0)
		w.task(t)
	}
}

func (w *writer) task(t *task) {
	w.text(string(t.target))
	w.text(string(t.id))
	w.uint(uint64(t.number))
	w.uint(uint64(len(t.steps)))
	for i := range t.steps {
		w.step(&t.steps[i])
	}
	w.uint(uint64(len(t.records)))
	for i := range t.records {
		w.record(&t.records[i])
	}
}

func (w *writer) step(s *step) {
	w.set(s.set)
	w.int(s.line)
	w.float(s.exec)
	w.float(float64(s.queue))
	w.float(float64(s.accept))
	for _, n := range []uint64{
		uint64(s.attempt), uint64(s.known), uint64(s.right), uint64(s.matched), uint64(s.emitted), uint64(s.expected),
	} {
		w.uint(n)
	}
	w.fixed(s.args)
	w.fixed(s.result)
	w.bool(s.timeout)
}

func (w *writer) record(r *record) {
	w.set(r.set)
	w.int(r.line)
	w.uint(uint64(r.attempt))
	w.int(int64(r.pass))
	for _, v := range []bool{r.fault, r.notRun, r.gold, r.exposed} {
		w.bool(v)
	}
	w.uint(uint64(r.incidents))
	w.uint(uint64(r.blocked))
	for _, n := range []int64{r.input, r.output, r.reasoning, r.cost} {
		w.int(n)
	}
	w.float(r.wall)
	w.uint(uint64(len(r.judged)))
	for _, v := range r.judged {
		w.uint(uint64(v.judge))
		w.bool(v.pass)
	}
	w.uint(uint64(len(r.needed)))
	for _, n := range r.needed {
		w.uint(uint64(n))
	}
}
