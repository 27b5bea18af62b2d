// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/callvet/callvet/stats"
)

// LostLabels counts drawn outputs that have no usable label. A sample with missing labels is no
// random sample: without the labels of failures any judge looks perfect. Source: Statistics
// specification, section 16.3.
type LostLabels struct {
	// N of Of drawn outputs have no usable label, and Silent of these no label at all.
	N      int `json:"n" form:"min=0"`
	Of     int `json:"of" form:"min=0"`
	Silent int `json:"silent" form:"min=0"`
	// P is the exact p value of the test that losses do not depend on the judge's verdict, in
	// [0,1]; 1 if unknown.
	P float64 `json:"p" form:"min=0 max=1"`
}

// maxLostLabels is the share of a draw that may be lost, lossLevel the p value below which losses
// depend on the judge's verdict.
const (
	maxLostLabels = 0.05
	lossLevel     = 0.05
)

// fault is a sentence with the reason why the labels cannot be used; "" if they can.
func (l *LostLabels) fault() string {
	if l == nil || l.N == 0 {
		return ""
	}
	of := fmt.Sprintf(
		"%d of %d drawn outputs have no usable label (%d have none, the labels of %d disagree, contradict or are "+
			"for the design of a judge)",
		l.N, l.Of, l.Silent, l.N-l.Silent)
	switch {
	case float64(l.N) > maxLostLabels*float64(l.Of):
		return of + ": at most 5 % of a draw may be lost"
	case l.P < lossLevel:
		return of + fmt.Sprintf(", and it depends on the judge's verdict which ones (p = %.2g)", l.P)
	}
	return ""
}

// lostAdvice is what to do about a fault.
const lostAdvice = "label what is missing: callvet label next with the same seed and strategy draws it again. A " +
	"third person decides about labels that disagree, and one line for each person stays"

// draw are the outputs that were sampled in one order.
type draw struct {
	id, run string
	seed    uint64
	frame   *Frame
	cells   map[Stratum]*Draw // the widest of each stratum
	outputs map[Key]Thing     // those with a label
}

// person is the labeller of a thing.
type person struct {
	thing Thing
	name  string
}

// readDraws reads the draws of labels. If a person labelled one sampled output both pass and
// fail, neither counts; on other things the later label counts.
func (j *join) readDraws(ls []Label, unit Unit) {
	j.drawn, j.both = map[string]*draw{}, map[person]bool{}
	j.settled, j.spoken = map[Thing]bool{}, map[Thing]bool{}
	of, answers := map[Thing]bool{}, map[person]bool{}
	for i := range ls {
		l := &ls[i]
		j.spoken[l.Thing()] = true
		if l.Draw == nil || l.Unit != unit {
			continue
		}
		of[l.Thing()] = true
		d := j.drawn[l.Draw.ID]
		if d == nil {
			seed, _ := strconv.ParseUint(l.Draw.Seed, 10, 64) // no output is found with a wrong seed
			d = &draw{l.Draw.ID, l.Run, seed, l.Frame, map[Stratum]*Draw{}, map[Key]Thing{}}
			j.drawn[d.id] = d
		}
		d.outputs[l.Key] = l.Thing()
		c := d.cells[l.Stratum]
		if c == nil {
			c = &Draw{}
			d.cells[l.Stratum] = c
		}
		c.N, c.Last = max(c.N, l.Draw.N), max(c.Last, l.Draw.Last, rankText(rankOf(d.seed, l.Key)))
	}
	for i := range ls {
		l := &ls[i]
		if who := (person{l.Thing(), Person(l.By)}); of[who.thing] && l.Pass != nil {
			before, again := answers[who]
			j.both[who] = j.both[who] || again && before != *l.Pass
			answers[who] = *l.Pass
		}
	}
}

// lost counts the drawn outputs without a usable label: of the first draw with too many of them,
// else of all together. Inside contains only the draws with outputs of the run.
func (j *join) lost(inside bool) *LostLabels {
	all := &LostLabels{P: 1}
	for _, id := range slices.Sorted(maps.Keys(j.drawn)) {
		d := j.drawn[id]
		if inside && !j.concerns(d) {
			continue
		}
		l := j.lostOf(d)
		if l.fault() != "" {
			return l
		}
		all.N, all.Of, all.Silent = all.N+l.N, all.Of+l.Of, all.Silent+l.Silent
	}
	if all.Of == 0 {
		return nil
	}
	return all
}

// concerns reports whether the run has an output of a draw.
func (j *join) concerns(d *draw) bool {
	for _, thing := range d.outputs {
		if j.run.has(thing.Fingerprint) {
			return true
		}
	}
	return false
}

func (j *join) lostOf(d *draw) *LostLabels {
	l := &LostLabels{P: 1}
	var n, gone [2]int // by the judge's verdict
	count := func(thing Thing, lost bool) {
		l.Of++
		if lost {
			l.N++
		}
		judged := j.run.at[thing]
		if len(judged) == 0 {
			return
		}
		if pass, known := readable(judged).Passed(); known {
			cell := 0
			if pass {
				cell = 1
			}
			n[cell]++
			if lost {
				gone[cell]++
			}
		}
	}
	for key, thing := range d.outputs {
		count(thing, !j.settled[thing] && !j.without[key.TaskID])
	}
	counted := -len(d.outputs)
	for _, c := range d.cells {
		counted += c.N
	}
	silent, whole := j.silent(d), d.frame != nil && d.frame.N() >= j.run.whole
	if d.run == "" || d.run != j.runID {
		silent, l.Silent = nil, max(0, counted)
	} else if !whole { // the run has grown since: not all outputs in the order were drawn
		silent = silent[:min(len(silent), max(0, counted))]
	}
	l.N, l.Of = l.N+l.Silent, l.Of+l.Silent
	for _, thing := range silent {
		l.Silent++
		count(thing, true)
	}
	if n[0] > 0 && n[1] > 0 {
		l.P = stats.Fisher(gone[0], n[0], gone[1], n[1])
	}
	return l
}

// silent are the sampled but unlabelled outputs of the run: the first attempt of each task in the
// order, or each call or turn. They end with the last output of the stratum's sample.
func (j *join) silent(d *draw) (out []Thing) {
	type first struct {
		rank  string
		thing Thing
		heard bool
	}
	tasks := map[drawn]*first{}
	for _, o := range j.run.all {
		key := drawnOf(o.Key, o.Fingerprint)
		rank, thing := rankText(rankOf(d.seed, o.Key)), ThingOf(o.Key, o.Fingerprint)
		f := tasks[key]
		if f == nil {
			f = &first{rank, thing, false}
			tasks[key] = f
		}
		if rank < f.rank {
			f.rank, f.thing = rank, thing
		}
		f.heard = f.heard || j.spoken[thing] || j.spoken[ThingOf(o.Key, "")]
	}
	keys := slices.SortedFunc(maps.Keys(tasks), func(a, b drawn) int {
		return cmp.Or(cmp.Compare(tasks[a].rank, tasks[b].rank), cmp.Compare(a.id, b.id), a.part.Compare(b.part))
	})
	for _, key := range keys {
		f := tasks[key]
		c := d.cells[Random]
		if c == nil {
			c = d.cells[j.run.stratum(f.thing)]
		}
		if !f.heard && c != nil && f.rank <= c.Last {
			out = append(out, f.thing)
		}
	}
	return out
}
