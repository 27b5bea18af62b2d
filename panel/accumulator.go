// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// Accumulator sums up the attempts of a run. It keeps sums per target, slice
// and metric, one latency per attempt, and the sums of those cases of which
// not all repeats have arrived; never a trace. It is not safe for concurrent use.
type Accumulator struct {
	cfg     Config
	slicing *slicing
	tools   map[string]struct{}
	// contracts are those of the suite's tools.
	contracts contracts
	names     []string       // metrics by position
	index     map[string]int // and back
	targets   []targetSums
	pairs     []sample // scratch of one attempt
	open      []int    // metrics that it could have a value of
	dups      int
}

// targetSums is what is kept of one target.
type targetSums struct {
	overall   sums
	slices    []sums
	open      map[int]*caseSums
	seen      []uint64 // one bit per case and repeat
	free      caseSums
	unbilled  bool // asking the target costs nothing
	wall      []stats.Observation
	firstTok  []stats.Observation
	confusion map[[2]string]int
	routes    map[[2]string]int
	symptoms  symptoms
	failing   int
	// unevaluated counts assertions by name and reason.
	unevaluated map[[2]string]int
}

// caseSums are the sums of one case while its repeats arrive.
type caseSums struct {
	cells, passes, scored int
	metrics               []moment
	unknown               []int // by metric, values that it could have
	cost, tokens, perPass pair  // perPass is over attempts with a known price
	counts                counts
}

// New prepares the sums for a run over cases, in the order of the suite. It
// reads them once and keeps none of their text.
func New(cfg Config, cases iter.Seq[*callvet.Case]) *Accumulator {
	cfg = cfg.withDefaults()
	a := &Accumulator{cfg: cfg, slicing: newSlicing(cfg, cases), index: map[string]int{}, tools: map[string]struct{}{}, contracts: contractsOf(cfg.Tools)}
	for i := range cfg.Tools {
		a.tools[strings.ToLower(cfg.Tools[i].Name)] = struct{}{}
	}
	for i := range builtin {
		a.metric(builtin[i].name)
	}
	a.targets = make([]targetSums, len(cfg.Targets))
	for i := range a.targets {
		t := &cfg.Targets[i]
		a.targets[i] = targetSums{
			unbilled: t.Free || t.Floor || t.Recorded, // runs of earlier versions do not say Free
			slices:   make([]sums, len(a.slicing.ids)), open: map[int]*caseSums{}, confusion: map[[2]string]int{}, routes: map[[2]string]int{}, unevaluated: map[[2]string]int{},
		}
	}
	return a
}

// metric gives the position of a metric by name, a new one when it is new.
func (a *Accumulator) metric(name string) int {
	i, ok := a.index[name]
	if !ok {
		i = len(a.names)
		a.names, a.index[name] = append(a.names, name), i
	}
	return i
}

// Add takes one attempt at c, which is the case at position cell.Case. An
// attempt of a target that the run does not have is ignored; one that was given
// before is counted as a duplicate and ignored.
func (a *Accumulator) Add(c *callvet.Case, cell *callvet.Cell) {
	if cell.Target < 0 || cell.Target >= len(a.targets) || cell.Case < 0 || cell.Repeat < 0 {
		return
	}
	t := &a.targets[cell.Target]
	if !t.mark(cell.Case*a.cfg.Repeats + cell.Repeat) {
		a.dups++
		return
	}
	cs := t.open[cell.Case]
	if cs == nil {
		cs = &t.free
		if a.cfg.Repeats > 1 {
			cs = &caseSums{}
			t.open[cell.Case] = cs
		}
		cs.reset()
	}
	a.observe(t, cs, c, cell)
	if cs.cells >= a.cfg.Repeats {
		a.close(t, cell.Case, cs)
		delete(t.open, cell.Case)
	}
}

// mark sets a bit and reports whether it was not set.
func (t *targetSums) mark(i int) bool {
	w, b := i/64, uint64(1)<<(i%64)
	for w >= len(t.seen) {
		t.seen = append(t.seen, make([]uint64, w+1-len(t.seen)+64)...)
	}
	if t.seen[w]&b != 0 {
		return false
	}
	t.seen[w] |= b
	return true
}

func (cs *caseSums) reset() {
	m, u := cs.metrics, cs.unknown
	clear(m)
	clear(u)
	*cs = caseSums{metrics: m[:0], unknown: u[:0]}
}

// close adds a finished case to the table of all cases and to its slices.
func (a *Accumulator) close(t *targetSums, index int, cs *caseSums) {
	t.overall.add(cs, a.cfg.Repeats)
	for _, s := range a.slicing.slicesOf(index) {
		t.slices[s].add(cs, a.cfg.Repeats)
	}
}

// Panels gives the tables for what was added so far. Cases whose repeats have
// not all arrived count with those that have; more may be added afterwards.
func (a *Accumulator) Panels() *Panels {
	p := &Panels{Confidence: a.cfg.Confidence, Repeats: a.cfg.Repeats, Duplicates: a.dups}
	for i := range a.targets {
		p.Targets = append(p.Targets, a.targetPanel(i))
	}
	p.Findings = a.findings()
	if a.dups > 0 {
		p.Warnings = append(p.Warnings, plural(a.dups, "attempt was", "attempts were")+" given twice and counted once")
	}
	return p
}

// kinds sorts what was not evaluated: the most frequent first, then by name.
func kinds(m map[[2]string]int) []UnevaluatedKind {
	var out []UnevaluatedKind
	for k, n := range m {
		out = append(out, UnevaluatedKind{k[0], k[1], n})
	}
	slices.SortFunc(out, func(a, b UnevaluatedKind) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

func (a *Accumulator) targetPanel(i int) TargetPanel {
	t := &a.targets[i]
	if len(t.open) > 0 {
		t = t.settled(a)
	}
	target := &a.cfg.Targets[i]
	tp := TargetPanel{Target: i, Name: target.Name, Floor: target.Floor, Confusion: confusionRows(t.confusion), Routes: confusionRows(t.routes), NotEvaluated: kinds(t.unevaluated)}
	tp.Overall = a.slice(&t.overall, sliceID{}, rho(target), t.wall, t.firstTok)
	for s, id := range a.slicing.ids {
		if t.slices[s].cells == 0 {
			continue
		}
		in := func(all []stats.Observation) []stats.Observation {
			var part []stats.Observation
			for _, o := range all {
				if a.slicing.has(int(o.Cluster), uint16(s)) {
					part = append(part, o)
				}
			}
			return part
		}
		tp.Slices = append(tp.Slices, a.slice(&t.slices[s], id, rho(target), in(t.wall), in(t.firstTok)))
	}
	return tp
}

// settled is a copy with the open cases closed, in a fixed order so that the
// sums do not depend on the map.
func (t *targetSums) settled(a *Accumulator) *targetSums {
	c := *t
	c.overall = t.overall.clone()
	c.slices = make([]sums, len(t.slices))
	for i := range t.slices {
		c.slices[i] = t.slices[i].clone()
	}
	for _, k := range slices.Sorted(maps.Keys(t.open)) {
		a.close(&c, k, t.open[k])
	}
	return &c
}
