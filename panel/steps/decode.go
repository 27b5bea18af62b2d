// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats/exact"
)

// summed is a sum that can be written and read.
type summed interface {
	AppendBinary(b []byte) []byte
	Decode(b []byte) (rest []byte, err error)
}

func (s *sliceSums) exact() []summed {
	return []summed{
		&s.keys, &s.precision, &s.recall, &s.f1, &s.micro, &s.exec, &s.queue, &s.accept, &s.calls,
		&s.unneeded, &s.spared, &s.toolTime, &s.exposed, &s.stopped,
	}
}

func (t *recordSums) exact() []summed {
	return []summed{
		&t.pass, &t.complete, &t.fault, &t.miss, &t.costs, &t.perPass, &t.tokens, &t.wall,
		&t.tokenQuantiles, &t.costQuantiles,
	}
}

// reader reads a partial result into a Sheet's own numbers. After the first error it returns zeros.
type reader struct {
	wireReader
	names                  *SliceNames
	shift                  int64 // lines before this part
	targets, tools, judges []uint32
	words                  []uint32
	slices                 []int64 // -1: not kept
	sets                   []*SliceSet
}

func (r *reader) line() int64 { return r.Int() + r.shift }

func (r *reader) exact(x summed) {
	if r.err != nil {
		return
	}
	rest, err := x.Decode(r.b)
	if err != nil {
		r.Fail()
		r.err = fmt.Errorf("%w: %w", errDamaged, err)
		return
	}
	r.b = rest
}

// header reads the part before the numbers of a partial result.
func (r *reader) header(cfg *Config) (note []byte, lost int64, sources []Source) {
	rest, ok := strings.CutPrefix(string(r.b[:min(len(r.b), len(Magic))]), Magic)
	if !ok || rest != "" {
		r.Fail()
		return nil, 0, nil
	}
	r.b = r.b[len(Magic):]
	cfg.SliceBy = r.Texts()
	cfg.Window = int(min(r.Uint(), 1<<20))
	cfg.Catalogue = r.Bool()
	cfg.Tools = r.contracts()
	cfg.Scoring = r.Text()
	note, lost = []byte(r.Text()), max(0, r.Int())
	for range r.Count() {
		sources = append(sources, Source{Name: r.Text(), Lines: r.Int(), Foreign: r.Bool()})
	}
	return note, lost, sources
}

// ReadConfig returns cfg with the settings of a partial result. The error wraps callvet.ErrInvalid.
func ReadConfig(partial []byte, cfg Config) (Config, error) {
	r := &reader{wireReader: wireReader{b: partial}}
	r.header(&cfg)
	if r.err != nil {
		return cfg, fmt.Errorf("read partial result: %w: %w", callvet.ErrInvalid, r.err)
	}
	return cfg, nil
}

// Merge appends a partial result of a later part of the same reading, and returns its note. No
// worker may be filling the Sheet. The error wraps callvet.ErrInvalid; after an error the Sheet
// must not be used.
func (s *Sheet) Merge(partial []byte) (note []byte, err error) {
	r := &reader{wireReader: wireReader{b: partial}, names: s.names, shift: s.Lines()}
	var cfg Config
	note, lost, sources := r.header(&cfg)
	if r.err == nil && (!slices.Equal(cfg.SliceBy, s.cfg.SliceBy) || cfg.Window != s.cfg.Window ||
		cfg.Catalogue != s.cfg.Catalogue || cfg.Scoring != s.cfg.Scoring || !sameContracts(cfg.Tools, s.cfg.Tools)) {
		return nil,
			fmt.Errorf(
				"merge partial results: they were made with other slices, windows, tools or scoring settings: %w",
				callvet.ErrInvalid)
	}
	r.read()
	sums := s.newSums()
	r.sums(sums)
	var parts [partitions]*partition
	for i := range parts {
		parts[i] = r.partition(s.parts[i].tasks.size)
	}
	if r.err == nil && len(r.b) > 0 {
		r.Fail()
	}
	if r.err != nil {
		return nil, fmt.Errorf("read partial result: %w: %w", callvet.ErrInvalid, r.err)
	}
	s.sums.merge(sums)
	for i := range parts {
		s.parts[i].tasks.absorb(parts[i], s.cfg.Partial, s.sums)
	}
	s.sums.settle()
	s.sources, s.lost = append(s.sources, sources...), s.lost+lost
	return note, nil
}

// read reads the names and the sets.
func (r *reader) read() {
	n := r.names
	for _, t := range r.Texts() {
		r.targets = append(r.targets, n.Targets.Number([]byte(t)))
	}
	for _, t := range r.Texts() {
		r.tools = append(r.tools, n.Tools.Number([]byte(t)))
	}
	for _, t := range r.Texts() {
		r.judges = append(r.judges, n.Judges.Number([]byte(t)))
	}
	for _, t := range r.Texts() {
		r.words = append(r.words, n.Words.Number([]byte(t)))
	}
	for range r.Count() {
		id, ok := n.ID(TargetSlice{Target: r.Number(r.targets), Key: r.Text(), Value: r.Text()})
		if !ok {
			r.slices = append(r.slices, -1)
			continue
		}
		r.slices = append(r.slices, int64(id))
	}
	for range r.Count() {
		n.Dead[TargetKey{Target: r.Number(r.targets), Key: r.Text()}] = true
	}
	for range r.Count() {
		s := &SliceSet{Target: r.Number(r.targets), Tool: r.Number(r.tools)}
		for range r.Count() {
			if id := member(&r.wireReader, r.slices); id >= 0 {
				s.IDs = append(s.IDs, uint32(id))
			}
		}
		if len(s.IDs) > 1 {
			slices.Sort(s.IDs[1:])
		}
		r.sets = append(r.sets, n.Same(s))
	}
}

func (r *reader) sums(s *Sums) {
	r.duplicates(&s.duplicates)
	for range r.Count() {
		id := member(&r.wireReader, r.slices)
		x := &sliceSums{}
		r.slice(x)
		if id >= 0 && r.err == nil {
			s.slice(uint32(id)).merge(x)
		}
	}
	for range r.Count() {
		target := r.Number(r.targets)
		expected, called := r.Number(r.tools), r.called()
		s.confused.Add(ConfusedPair{Target: target, Expected: expected, Called: called}, r.Int())
	}
	for _, c := range []*Confusion{&s.routes, &s.chosen} {
		for range r.Count() {
			p := ConfusedPair{Target: r.Number(r.targets), Expected: r.Number(r.words), Called: r.Number(r.words)}
			c.Add(p, r.Int())
		}
	}
	for range r.Count() {
		k := [2]uint32{r.Number(r.targets), r.Number(r.words)}
		s.open[k] += r.Int()
	}
	s.signs.Read(&r.wireReader, r.shift, r.targets, r.tools)
	for range r.Count() {
		x := NewSymptomCounts()
		target := r.Number(r.targets)
		x.Read(&r.wireReader, r.shift, r.tools)
		s.symptom(target).Merge(&x)
	}
	for range r.Count() {
		s.ranking(r.Number(r.targets)).Read(&r.wireReader, r.shift)
	}
}

func (r *reader) called() uint32 {
	n := r.Uint()
	switch {
	case n == UnknownTool || n == UnreadableCall:
		return uint32(n)
	case n < uint64(len(r.tools)):
		return r.tools[n]
	}
	r.Fail()
	return 0
}

func (r *reader) slice(s *sliceSums) {
	for _, n := range []*int64{&s.tasks, &s.attempts, &s.steps, &s.incidents, &s.blocked, &s.labelled, &s.torn} {
		*n = r.Int()
	}
	for i := range s.moot {
		s.moot[i] = r.Int()
	}
	for i := range s.rates {
		r.exact(&s.rates[i])
	}
	for _, x := range s.exact() {
		r.exact(x)
	}
	if !r.Bool() {
		return
	}
	t := &recordSums{}
	s.fromRecords = t
	for _, n := range t.counts() {
		*n = r.Int()
	}
	for range r.Count() {
		r.exact(t.judge(int(r.Number(r.judges))))
	}
	n := r.Count()
	t.trials(min(n, maxTrials))
	for i := range t.at {
		r.exact(&t.at[i])
		r.exact(&t.hat[i])
	}
	for _, x := range t.exact() {
		r.exact(x)
	}
	for range r.Count() {
		k := shortTask{r.small(), r.small(), r.small()}
		k.passes = min(k.passes, k.trials)
		t.shorten(k, max(0, r.Int()))
	}
	if r.Bool() {
		t.scored = newScoredSums()
		r.scored(t.scored)
	}
}

// small reads a number of attempts at one task.
func (r *reader) small() int { return int(min(r.Uint(), 1<<30)) }

func (r *reader) scored(s *scoredSums) {
	for _, n := range s.counts() {
		*n = r.Int()
	}
	for _, x := range s.exact() {
		r.exact(x)
	}
	for range r.Count() {
		r.exact(s.mean(r.Number(r.words)))
	}
	for range r.Count() {
		s.open(r.Number(r.words), r.Int())
	}
}

// scoring reads the scoring of a record; nil where it has none.
func (r *reader) scoring() *scoring {
	if !r.Bool() {
		return nil
	}
	x := &scoring{outcome: position(r.Int(), len(panel.Outcomes())), why: position(r.Int(), len(panel.Reasons()))}
	x.scorerResult = &ScorerResult{class: position(r.Int(), len(panel.Classes()))}
	x.format = callvet.Format(r.Text())
	for _, to := range []*bool{&x.scored, &x.decided, &x.unreadable, &x.cached, &x.unbilled, &x.timedOut, &x.floor} {
		*to = r.Bool()
	}
	x.requests, x.first = r.Int(), r.Float()
	r.scorerResult(x.scorerResult)
	return x
}

// scorerResult reads the result of a scorer, all but the class.
func (r *reader) scorerResult(s *ScorerResult) {
	for range r.Count() {
		s.scores = append(s.scores, scoreOf{r.Number(r.words), min(max(r.Int(), 0), exact.Scale)})
	}
	for _, list := range []*[]uint32{&s.unknown, &s.open} {
		for range r.Count() {
			*list = append(*list, r.Number(r.words))
		}
	}
	for range r.Count() {
		s.signs = append(s.signs, Sign{int(min(r.Uint(), 1<<8)), r.Bool(), r.Texts()})
	}
	for _, list := range []*[][2]uint32{&s.routes, &s.tools} {
		for range r.Count() {
			*list = append(*list, [2]uint32{r.Number(r.words), r.Number(r.words)})
		}
	}
}

// position is i as a position in a list of n; -1 where it is out of range.
func position(i int64, n int) int8 {
	if i < 0 || i >= int64(n) {
		return -1
	}
	return int8(i)
}

func (r *reader) partition(size int) *partition {
	p := newPartition(size)
	p.split, p.long, p.seen = r.Int(), r.Int(), int(min(r.Uint(), uint64(size)))
	for range r.Count() {
		p.note(r.Fixed())
	}
	for range r.Count() {
		closed := r.Bool()
		o := r.task()
		o.head, o.closed = true, closed
		p.heads = append(p.heads, o)
	}
	for range r.Count() {
		var o *open
		if k := r.Uint(); k == 0 {
			o = r.task()
		} else if k <= uint64(len(p.heads)) {
			o = p.heads[k-1]
		}
		if o == nil || p.open[o.hash] != nil || len(p.open) == size {
			r.Fail()
			return p
		}
		p.open[o.hash] = o
		p.push(o)
	}
	return p
}

func (r *reader) task() *open {
	target, id := []byte(r.Text()), []byte(r.Text())
	o := newOpen(hash(hash(hashSeed, target), id), target, id, r.Number(r.targets))
	for range r.Count() {
		o.steps = append(o.steps, r.step())
	}
	for range r.Count() {
		o.records = append(o.records, r.record())
	}
	for range r.Count() {
		o.odds = append(o.odds,
			odd{line: r.line(), call: r.Text(), paths: r.Texts(), fields: r.Texts(), gold: r.Number(r.tools)})
	}
	return o
}

func (r *reader) step() step {
	s := step{
		set: member(&r.wireReader, r.sets), line: r.line(), exec: r.Float(), queue: float32(r.Float()),
		accept:  float32(r.Float()),
		attempt: uint32(r.Uint()),
		StepScore: callvet.StepScore{
			Known: uint16(r.Uint()), True: uint16(r.Uint()), Matched: uint16(r.Uint()), Emitted: uint16(r.Uint()),
			Expected: uint16(r.Uint()), Union: uint16(r.Uint()),
		},
		hashes: hashes{r.Fixed(), r.Fixed()},
	}
	if s.set == nil {
		s.set = &SliceSet{}
	}
	s.Known &= 1<<callvet.StepMetrics - 1
	s.True &= s.Known
	s.Matched = min(s.Matched, s.Emitted, s.Expected)
	s.Union = max(s.Union, s.Emitted, s.Expected)
	return s
}

func (r *reader) record() record {
	x := record{
		set: member(&r.wireReader, r.sets), line: r.line(), attempt: uint32(r.Uint()), pass: int8(r.Int()),
		fault: r.Bool(), notRun: r.Bool(), skipped: r.Bool(), gold: r.Bool(), exposed: r.Bool(), corrects: r.Bool(),
		steps: uint32(r.Uint()), incidents: uint32(r.Uint()), blocked: uint32(r.Uint()),
		input: r.Int(), output: r.Int(), reasoning: r.Int(), cost: r.Int(), wall: r.Float(), content: r.Fixed(),
	}
	if x.set == nil {
		x.set = &SliceSet{}
	}
	x.pass = min(max(x.pass, -1), 1)
	for range r.Count() {
		x.judged = append(x.judged, judged{r.Number(r.judges), r.Bool()})
	}
	for range r.Count() {
		x.needed = append(x.needed, r.Number(r.tools))
	}
	x.scoring = r.scoring()
	return x
}
