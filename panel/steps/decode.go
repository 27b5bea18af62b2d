// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/findings"
	"github.com/callvet/callvet/panel/slicing"
)

// errPartial tells that bytes are not a whole partial result.
var errPartial = errors.New("the partial result is damaged")

// summed is a sum that can be written and read.
type summed interface {
	AppendBinary(b []byte) []byte
	Decode(b []byte) (rest []byte, err error)
}

func (s *sliceSums) exact() []summed {
	return []summed{&s.precision, &s.recall, &s.f1, &s.micro, s.exec.Quantiles(), s.queue.Quantiles(), s.accept.Quantiles(), &s.calls, &s.unneeded, s.toolTime.Quantiles(), &s.exposed, &s.stopped}
}

func (t *toldSums) exact() []summed {
	return []summed{&t.pass, &t.fault, &t.miss, &t.costs, &t.perPass, &t.tokens, &t.wall, &t.tokenQuantiles, &t.costQuantiles}
}

// reader reads a partial result into a Sheet's own numbers. After the first
// error it gives zeros.
type reader struct {
	b                      []byte
	err                    error
	names                  *slicing.Names
	shift                  int64 // lines before this part
	targets, tools, judges []uint32
	slices                 []int64 // -1: not kept
	sets                   []*slicing.Set
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errPartial
	}
	r.b = nil
}

func (r *reader) uint() uint64 {
	n, k := binary.Uvarint(r.b)
	if k <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[k:]
	return n
}

func (r *reader) int() int64 {
	n, k := binary.Varint(r.b)
	if k <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[k:]
	return n
}

// count reads the length of a list, each member of which takes a byte at least.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) texts() []string {
	out := make([]string, 0, 8)
	for range r.count() {
		out = append(out, r.text())
	}
	return out
}

func (r *reader) fixed() uint64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	n := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return n
}

func (r *reader) float() float64 { return math.Float64frombits(r.fixed()) }

func (r *reader) bool() bool {
	if len(r.b) == 0 {
		r.fail()
		return false
	}
	v := r.b[0] == 1
	r.b = r.b[1:]
	return v
}

func (r *reader) line() int64 { return r.int() + r.shift }

func number[T any](r *reader, list []T) (x T) {
	n := r.uint()
	if n >= uint64(len(list)) {
		r.fail()
		return x
	}
	return list[n]
}

func (r *reader) exact(x summed) {
	if r.err != nil {
		return
	}
	rest, err := x.Decode(r.b)
	if err != nil {
		r.fail()
		r.err = fmt.Errorf("%w: %w", errPartial, err)
		return
	}
	r.b = rest
}

// header is what stands before the numbers of a partial result.
func (r *reader) header(cfg *Config) (note []byte, sources []Source) {
	rest, ok := strings.CutPrefix(string(r.b[:min(len(r.b), len(Magic))]), Magic)
	if !ok || rest != "" {
		r.fail()
		return nil, nil
	}
	r.b = r.b[len(Magic):]
	cfg.SliceBy = r.texts()
	cfg.Window = int(min(r.uint(), 1<<20))
	cfg.Catalogue = r.bool()
	note = []byte(r.text())
	for range r.count() {
		sources = append(sources, Source{Name: r.text(), Lines: r.int(), Foreign: r.bool()})
	}
	return note, sources
}

// ReadConfig gives cfg with the settings that a partial result was made with.
// The error wraps callvet.ErrInvalid.
func ReadConfig(partial []byte, cfg Config) (Config, error) {
	r := &reader{b: partial}
	r.header(&cfg)
	if r.err != nil {
		return cfg, fmt.Errorf("read partial result: %w: %w", callvet.ErrInvalid, r.err)
	}
	return cfg, nil
}

// Merge appends a partial result of a later part of the same reading, and gives
// the note that was put into it. Nobody may be filling the Sheet. The error wraps
// callvet.ErrInvalid; after it the Sheet is of no use.
func (s *Sheet) Merge(partial []byte) (note []byte, err error) {
	r := &reader{b: partial, names: s.names, shift: s.Lines()}
	var cfg Config
	note, sources := r.header(&cfg)
	if r.err == nil && (!slices.Equal(cfg.SliceBy, s.cfg.SliceBy) || cfg.Window != s.cfg.Window || cfg.Catalogue != s.cfg.Catalogue) {
		return nil, fmt.Errorf("merge partial results: they were made with other slices, windows or tools: %w", callvet.ErrInvalid)
	}
	r.read()
	sums := newSums(s.names)
	r.sums(sums)
	var parts [partitions]*partition
	for i := range parts {
		parts[i] = r.partition(s.parts[i].tasks.window)
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail()
	}
	if r.err != nil {
		return nil, fmt.Errorf("read partial result: %w: %w", callvet.ErrInvalid, r.err)
	}
	s.sums.merge(sums)
	for i := range parts {
		s.parts[i].tasks.absorb(parts[i], s.cfg.Partial, s.sums)
	}
	s.sources = append(s.sources, sources...)
	return note, nil
}

// read reads the names and the sets.
func (r *reader) read() {
	n := r.names
	for _, t := range r.texts() {
		r.targets = append(r.targets, n.Targets.Number([]byte(t)))
	}
	for _, t := range r.texts() {
		r.tools = append(r.tools, n.Tools.Number([]byte(t)))
	}
	for _, t := range r.texts() {
		r.judges = append(r.judges, n.Judges.Number([]byte(t)))
	}
	for range r.count() {
		id, ok := n.ID(slicing.Slice{Target: number(r, r.targets), Key: r.text(), Value: r.text()})
		if !ok {
			r.slices = append(r.slices, -1)
			continue
		}
		r.slices = append(r.slices, int64(id))
	}
	for range r.count() {
		n.Dead[slicing.TargetKey{Target: number(r, r.targets), Key: r.text()}] = true
	}
	for range r.count() {
		s := &slicing.Set{Target: number(r, r.targets), Tool: number(r, r.tools)}
		for range r.count() {
			if id := number(r, r.slices); id >= 0 {
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
	for range r.count() {
		id := number(r, r.slices)
		x := &sliceSums{}
		r.slice(x)
		if id >= 0 && r.err == nil {
			s.slice(uint32(id)).merge(x)
		}
	}
	for range r.count() {
		target := number(r, r.targets)
		expected, called := number(r, r.tools), r.called()
		s.confused[[3]uint32{target, expected, called}] += r.int()
	}
	r.symptoms(&s.symptoms)
	for _, top := range []bool{true, false} {
		for range r.count() {
			at := ranked{good: r.int(), of: r.int(), calls: r.int(), line: r.line(), target: r.text(), task: r.text()}
			s.ranking.keep(at, top, !top)
		}
	}
}

func (r *reader) called() uint32 {
	n := r.uint()
	switch {
	case n == unknownTool:
		return unknownTool
	case n < uint64(len(r.tools)):
		return r.tools[n]
	}
	r.fail()
	return 0
}

func (r *reader) slice(s *sliceSums) {
	for _, n := range []*int64{&s.tasks, &s.attempts, &s.steps, &s.incidents, &s.blocked} {
		*n = r.int()
	}
	for i := range s.rates {
		r.exact(&s.rates[i])
	}
	for _, x := range s.exact() {
		r.exact(x)
	}
	if !r.bool() {
		return
	}
	t := &toldSums{}
	s.told = t
	for _, n := range t.counts() {
		*n = r.int()
	}
	for range r.count() {
		r.exact(t.judge(int(number(r, r.judges))))
	}
	n := r.count()
	t.trials(min(n, maxTrials))
	for i := range t.at {
		r.exact(&t.at[i])
		r.exact(&t.hat[i])
	}
	for _, x := range t.exact() {
		r.exact(x)
	}
}

func (r *reader) symptoms(s *findings.Counts) {
	s.Failing, s.Steps = r.int(), r.int()
	for i := range s.Of {
		x := &s.Of[i]
		for _, n := range []*int64{&x.Count, &x.Of, &x.Timeouts, &x.Unnamed} {
			*n = r.int()
		}
		for range r.count() {
			x.Tools[number(r, r.tools)] += r.int()
		}
		for range r.count() {
			x.Paths[r.text()] += r.int()
		}
		for range r.count() {
			x.Keep(findings.Sighting{
				Line: r.line(), Target: r.text(), Task: r.text(), Call: r.text(), Attempt: int(r.int()), Tool: number(r, r.tools),
			})
		}
	}
}

func (r *reader) partition(window int) *partition {
	p := newPartition(window)
	p.split, p.long, p.seen = r.int(), r.int(), int(min(r.uint(), uint64(window)))
	for range r.count() {
		if h := r.fixed(); h != 0 {
			p.remember(h)
		}
	}
	for range r.count() {
		closed := r.bool()
		t := r.task()
		t.head, t.closed = true, closed
		p.heads = append(p.heads, t)
	}
	for range r.count() {
		t := (*task)(nil)
		if n := r.uint(); n == 0 {
			t = r.task()
		} else if n <= uint64(len(p.heads)) {
			t = p.heads[n-1]
		}
		if t == nil || p.open.get(t.hash) != nil {
			r.fail()
			return p
		}
		p.open.put(t)
		p.push(t)
	}
	return p
}

func (r *reader) task() *task {
	t := &task{target: []byte(r.text()), id: []byte(r.text()), number: number(r, r.targets)}
	t.hash = hashTask(t.id, t.target)
	for range r.count() {
		t.steps = append(t.steps, r.step())
	}
	for range r.count() {
		t.records = append(t.records, r.record())
	}
	return t
}

func (r *reader) step() step {
	s := step{
		set: number(r, r.sets), line: r.line(), exec: r.float(), queue: float32(r.float()), accept: float32(r.float()),
		attempt: uint32(r.uint()), known: uint16(r.uint()), right: uint16(r.uint()),
		matched: uint16(r.uint()), emitted: uint16(r.uint()), expected: uint16(r.uint()),
		args: r.fixed(), result: r.fixed(), timeout: r.bool(),
	}
	if s.set == nil {
		s.set = &slicing.Set{}
	}
	s.known &= 1<<callvet.StepMetrics - 1
	s.right &= s.known
	s.matched = min(s.matched, s.emitted, s.expected)
	return s
}

func (r *reader) record() record {
	x := record{
		set: number(r, r.sets), line: r.line(), attempt: uint32(r.uint()), pass: int8(r.int()),
		fault: r.bool(), notRun: r.bool(), gold: r.bool(), exposed: r.bool(), incidents: uint32(r.uint()), blocked: uint32(r.uint()),
		input: r.int(), output: r.int(), reasoning: r.int(), cost: r.int(), wall: r.float(),
	}
	if x.set == nil {
		x.set = &slicing.Set{}
	}
	x.pass = min(max(x.pass, -1), 1)
	for range r.count() {
		x.judged = append(x.judged, judged{number(r, r.judges), r.bool()})
	}
	for range r.count() {
		x.needed = append(x.needed, number(r, r.tools))
	}
	return x
}
