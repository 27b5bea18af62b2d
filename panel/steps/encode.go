// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"maps"
	"slices"
)

// Magic is the first line of a partial result.
const Magic = "callvet partial result 14\n"

// writer appends what a reader reads.
type writer struct {
	wireWriter
	sets map[*SliceSet]uint64
	list []*SliceSet
}

func (w *writer) set(s *SliceSet) {
	n, ok := w.sets[s]
	if !ok {
		n = uint64(len(w.list))
		w.sets[s], w.list = n, append(w.list, s)
	}
	w.Uint(n)
}

// AppendPartial appends the Sheet as a partial result, which Merge reads; Merge returns note
// unchanged. The Sheet must be closed.
func (s *Sheet) AppendPartial(b []byte, note []byte) []byte {
	w := &writer{wireWriter: wireWriter{b: append(b, Magic...)}, sets: map[*SliceSet]uint64{}}
	w.Texts(s.cfg.SliceBy)
	w.Uint(uint64(s.cfg.Window))
	w.Bool(s.cfg.Catalogue)
	w.contracts(s.cfg.Tools)
	w.Text(s.cfg.Scoring)
	w.Text(string(note))
	w.Int(s.lost)
	w.Uint(uint64(len(s.sources)))
	for _, src := range s.sources {
		w.Text(src.Name)
		w.Int(src.Lines)
		w.Bool(src.Foreign)
	}
	w.names(s.names)
	body := &writer{sets: w.sets}
	body.sums(s.sums)
	for i := range s.parts {
		body.partition(s.parts[i].tasks)
	}
	w.Uint(uint64(len(body.list)))
	for _, set := range body.list {
		w.Uint(uint64(set.Target))
		w.Uint(uint64(set.Tool))
		w.Uint(uint64(len(set.IDs)))
		for _, id := range set.IDs {
			w.Uint(uint64(id))
		}
	}
	return append(w.b, body.b...)
}

func (w *writer) names(n *SliceNames) {
	w.Texts(n.Targets.All)
	w.Texts(n.Tools.All)
	w.Texts(n.Judges.All)
	w.Texts(n.Words.All)
	w.Uint(uint64(len(n.Slices)))
	for _, s := range n.Slices {
		w.Uint(uint64(s.Target))
		w.Text(s.Key)
		w.Text(s.Value)
	}
	w.Uint(uint64(len(n.Dead)))
	for k := range n.Dead {
		w.Uint(uint64(k.Target))
		w.Text(k.Key)
	}
}

func (w *writer) sums(s *Sums) {
	w.duplicates(&s.duplicates)
	n := 0
	for _, x := range s.slices {
		n += one(x != nil)
	}
	w.Uint(uint64(n))
	for id, x := range s.slices {
		if x != nil {
			w.Uint(uint64(id))
			w.slice(x)
		}
	}
	for _, c := range []*Confusion{&s.confused, &s.routes, &s.chosen} {
		w.Uint(uint64(len(c.Pairs())))
		for k, n := range c.Pairs() {
			w.Uint(uint64(k.Target))
			w.Uint(uint64(k.Expected))
			w.Uint(uint64(k.Called))
			w.Int(n)
		}
	}
	w.Uint(uint64(len(s.open)))
	for k, n := range s.open {
		w.Uint(uint64(k[0]))
		w.Uint(uint64(k[1]))
		w.Int(n)
	}
	s.signs.Write(&w.wireWriter)
	byTarget(w, s.symptoms, (*SymptomCounts).Write)
	byTarget(w, s.rankings, (*Ranking).Write)
}

// byTarget writes the existing entries of a list by target.
func byTarget[T any](w *writer, list []*T, write func(*T, SymptomWriter)) {
	some := slices.DeleteFunc(slices.Clone(list), func(x *T) bool { return x == nil })
	w.Uint(uint64(len(some)))
	for target, x := range list {
		if x != nil {
			w.Uint(uint64(target))
			write(x, &w.wireWriter)
		}
	}
}

func (w *writer) slice(s *sliceSums) {
	for _, n := range []int64{s.tasks, s.attempts, s.steps, s.incidents, s.blocked, s.labelled, s.torn} {
		w.Int(n)
	}
	for _, n := range s.moot {
		w.Int(n)
	}
	for i := range s.rates {
		w.b = s.rates[i].AppendBinary(w.b)
	}
	for _, x := range s.exact() {
		w.b = x.AppendBinary(w.b)
	}
	w.Bool(s.fromRecords != nil)
	if s.fromRecords != nil {
		w.fromRecords(s.fromRecords)
	}
}

func (w *writer) fromRecords(t *recordSums) {
	for _, n := range t.counts() {
		w.Int(*n)
	}
	w.Uint(uint64(len(t.judged)))
	for i := range t.judged {
		w.Uint(uint64(i))
		w.b = t.judged[i].AppendBinary(w.b)
	}
	w.Uint(uint64(len(t.at)))
	for i := range t.at {
		w.b = t.hat[i].AppendBinary(t.at[i].AppendBinary(w.b))
	}
	for _, x := range t.exact() {
		w.b = x.AppendBinary(w.b)
	}
	w.Uint(uint64(len(t.short)))
	for _, k := range slices.SortedFunc(maps.Keys(t.short), compareShort) {
		for _, n := range []int{k.passes, k.trials, k.lost} {
			w.Uint(uint64(n))
		}
		w.Int(t.short[k])
	}
	w.Bool(t.scored != nil)
	if t.scored != nil {
		w.scored(t.scored)
	}
}

func (w *writer) scored(s *scoredSums) {
	for _, n := range s.counts() {
		w.Int(*n)
	}
	for _, x := range s.exact() {
		w.b = x.AppendBinary(w.b)
	}
	w.Uint(uint64(len(s.means)))
	for i := range s.means {
		w.Uint(uint64(i))
		w.b = s.means[i].AppendBinary(w.b)
	}
	w.Uint(uint64(len(s.unknown)))
	for i, n := range s.unknown {
		w.Uint(uint64(i))
		w.Int(n)
	}
}

func (w *writer) scoring(x *scoring) {
	w.Bool(x != nil)
	if x == nil {
		return
	}
	w.Int(int64(x.outcome))
	w.Int(int64(x.why))
	w.Int(int64(x.scorerResult.class))
	w.Text(string(x.format))
	for _, v := range []bool{x.scored, x.decided, x.unreadable, x.cached, x.unbilled, x.timedOut, x.floor} {
		w.Bool(v)
	}
	w.Int(x.requests)
	w.Float(x.first)
	w.Uint(uint64(len(x.scorerResult.scores)))
	for _, s := range x.scorerResult.scores {
		w.Uint(uint64(s.name))
		w.Int(s.value)
	}
	for _, list := range [][]uint32{x.scorerResult.unknown, x.scorerResult.open} {
		w.Uint(uint64(len(list)))
		for _, n := range list {
			w.Uint(uint64(n))
		}
	}
	w.Uint(uint64(len(x.scorerResult.signs)))
	for _, s := range x.scorerResult.signs {
		w.Uint(uint64(s.Issue))
		w.Bool(s.Shown)
		w.Texts(s.Why)
	}
	for _, list := range [][][2]uint32{x.scorerResult.routes, x.scorerResult.tools} {
		w.Uint(uint64(len(list)))
		for _, p := range list {
			w.Uint(uint64(p[0]))
			w.Uint(uint64(p[1]))
		}
	}
}

func (w *writer) partition(p *partition) {
	w.Int(p.split)
	w.Int(p.long)
	w.Uint(uint64(p.seen))
	noted := slices.Collect(p.noted)
	w.Uint(uint64(len(noted)))
	for _, h := range noted {
		w.Fixed(h)
	}
	w.Uint(uint64(len(p.heads)))
	at := map[*open]int{}
	for i, o := range p.heads {
		at[o] = i
		w.Bool(o.closed)
		w.task(o)
	}
	w.Uint(uint64(len(p.open)))
	for o := range p.silent() {
		if o.head {
			w.Uint(uint64(at[o]) + 1)
			continue
		}
		w.Uint(0)
		w.task(o)
	}
}

func (w *writer) task(t *open) {
	w.Text(string(t.target))
	w.Text(string(t.id))
	w.Uint(uint64(t.number))
	w.Uint(uint64(len(t.steps)))
	for i := range t.steps {
		w.step(&t.steps[i])
	}
	w.Uint(uint64(len(t.records)))
	for i := range t.records {
		w.record(&t.records[i])
	}
	w.Uint(uint64(len(t.odds)))
	for i := range t.odds {
		o := &t.odds[i]
		w.Int(o.line)
		w.Text(o.call)
		w.Texts(o.paths)
		w.Texts(o.fields)
		w.Uint(uint64(o.gold))
	}
}

func (w *writer) step(s *step) {
	w.set(s.set)
	w.Int(s.line)
	w.Float(s.exec)
	w.Float(float64(s.queue))
	w.Float(float64(s.accept))
	for _, n := range []uint64{
		uint64(s.attempt), uint64(s.Known), uint64(s.True), uint64(s.Matched), uint64(s.Emitted), uint64(s.Expected),
		uint64(s.Union),
	} {
		w.Uint(n)
	}
	w.Fixed(s.hashes[0])
	w.Fixed(s.hashes[1])
}

func (w *writer) record(r *record) {
	w.set(r.set)
	w.Int(r.line)
	w.Uint(uint64(r.attempt))
	w.Int(int64(r.pass))
	for _, v := range []bool{r.fault, r.notRun, r.skipped, r.gold, r.exposed, r.corrects} {
		w.Bool(v)
	}
	w.Uint(uint64(r.steps))
	w.Uint(uint64(r.incidents))
	w.Uint(uint64(r.blocked))
	for _, n := range []int64{r.input, r.output, r.reasoning, r.cost} {
		w.Int(n)
	}
	w.Float(r.wall)
	w.Fixed(r.content)
	w.Uint(uint64(len(r.judged)))
	for _, v := range r.judged {
		w.Uint(uint64(v.judge))
		w.Bool(v.pass)
	}
	w.Uint(uint64(len(r.needed)))
	for _, n := range r.needed {
		w.Uint(uint64(n))
	}
	w.scoring(r.scoring)
}
