// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/callvet/callvet/value"
)

// tpe proposes candidates of a finite set with a tree-structured Parzen estimator.
//
//	scores so far ─► the best:   density l ─┐
//	               └► the others: density g ─┴► the candidate with the highest l/g that was not tried
//
// A density is a mixture of one kernel for each observation and the uniform distribution. A kernel
// is a product over the parameters: for numbers a normal distribution over their ranks, which is
// cut off at the ends; for other values a certain weight for the same value, and the rest evenly.
// Because the set is finite, all candidates are compared to find the best, without drawing. Source:
// Bergstra and others 2011; Watanabe 2023.
type tpe struct {
	points [][]int // by candidate: the position of its value in each dimension
	dims   []axis
}

// axis has the values of a parameter.
type axis struct {
	// place is the position of a number between the least, 0, and the greatest, 1; NaN for other
	// values.
	place []float64
	gap   float64 // between two adjacent numbers
}

func newTPE(points [][]json.RawMessage) *tpe {
	t := &tpe{points: make([][]int, len(points))}
	for d := range points[0] {
		var values []string
		known := map[string]int{}
		for i := range points {
			v := string(value.Canonical(points[i][d]))
			at, ok := known[v]
			if !ok {
				at = len(values)
				known[v], values = at, append(values, v)
			}
			t.points[i] = append(t.points[i], at)
		}
		t.dims = append(t.dims, axisOf(values))
	}
	return t
}

// axisOf ranks the numbers among values evenly between 0 and 1: all steps of a list that a person
// wrote, such as 256, 1024 and 4096, are assumed to be equally important.
func axisOf(values []string) axis {
	place, numbers := make([]float64, len(values)), []float64{}
	for i, v := range values {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			x = math.NaN()
		} else {
			numbers = append(numbers, x)
		}
		place[i] = x
	}
	slices.Sort(numbers)
	gap := 1 / float64(max(1, len(numbers)-1))
	for i, x := range place {
		if !math.IsNaN(x) {
			at, _ := slices.BinarySearch(numbers, x)
			place[i] = float64(at) * gap
		}
	}
	return axis{place, gap}
}

// around returns a kernel: the weights of all values around an observation at a value. They add up
// to 1.
func (d *axis) around(at int, width float64) []float64 {
	n := len(d.place)
	row, sum := make([]float64, n), 0.0
	if math.IsNaN(d.place[at]) {
		row[at], sum = 1, 1
	} else {
		// Never narrower than half of the distance to the next number, so that the neighbours of a
		// good value are tried.
		sigma := max(width, d.gap/2)
		for b, x := range d.place {
			if z := (x - d.place[at]) / sigma; !math.IsNaN(z) {
				row[b] = math.Exp(-z * z / 2)
				sum += row[b]
			}
		}
	}
	for b := range row {
		row[b] = (1-width)*row[b]/sum + width/float64(n)
	}
	return row
}

// scored is a candidate with its score.
type scored struct {
	candidate int
	score     float64
}

// The constants were chosen on test functions other than those of verify-tune. A share of the
// scores counts as good; kernels become narrower with more observations, from a width of all
// values.
const (
	goodShare = 0.15
	fullWidth = 0.2
)

// propose returns up to n candidates that were not tried, the most promising first; of equal ones,
// the earliest in order. seen are in the order of their trials. Candidates that are proposed
// together are far from each other: each counts as an observation without success when the next is
// chosen.
func (t *tpe) propose(seen []scored, order []int, n int) (next []int) {
	tried := make(map[int]bool, len(seen))
	for _, s := range seen {
		tried[s.candidate] = true
	}
	ranked := slices.Clone(seen)
	slices.SortStableFunc(ranked, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	good := int(math.Ceil(goodShare * float64(len(ranked))))
	l, others := t.density(ranked[:good]), slices.Clone(ranked[good:])
	for range n {
		g, best, top := t.density(others), -1, 0.0
		for _, c := range order {
			if tried[c] {
				continue
			}
			if ratio := l(c) / g(c); best < 0 || ratio > top {
				best, top = c, ratio
			}
		}
		if best < 0 {
			break
		}
		next, others, tried[best] = append(next, best), append(others, scored{candidate: best}), true
	}
	return next
}

// density returns the density of observations, with the uniform distribution as one more.
func (t *tpe) density(list []scored) func(candidate int) float64 {
	width := fullWidth * math.Pow(float64(max(1, len(list))), -1/float64(len(t.dims)+4))
	around, uniform := make([][][]float64, len(list)), 1.0
	for i, s := range list {
		for d, at := range t.points[s.candidate] {
			around[i] = append(around[i], t.dims[d].around(at, width))
		}
	}
	for d := range t.dims {
		uniform /= float64(len(t.dims[d].place))
	}
	return func(candidate int) float64 {
		density := uniform
		for i := range list {
			p := 1.0
			for d, at := range t.points[candidate] {
				p *= around[i][d][at]
			}
			density += p
		}
		return density / float64(len(list)+1)
	}
}

// startOf returns how many of the trials are drawn at random before scores count.
func startOf(trials int) int { return max(4, trials/4) }

// atOnce is how many candidates are proposed at once. One by one learns a little more, but a round
// then has few requests and the search takes long.
const atOnce = 4

// propose lets the most promising candidates enter.
func (s *Search) propose() {
	var seen []scored
	for e, c := range s.chosen {
		seen = append(seen, scored{c, s.score(e)})
	}
	s.enter(s.space.propose(seen, s.queue, min(atOnce, s.cfg.Trials+1-len(s.chosen)))...)
}

// score returns the mean of a candidate over all tasks. For a dropped one it is estimated: the
// leader's mean plus the difference on the tasks that both ran, because the first tasks may be
// easier than the others. One that breaks a constraint has the worst score.
func (s *Search) score(e int) float64 {
	r := s.race
	if r.all[e].broken != "" {
		return math.Inf(-1)
	}
	lead := r.Leader()
	n := r.common(e, lead)
	if r.all[e].dropped == nil || n == 0 {
		return r.mean(e, r.all[e].asked)
	}
	return r.mean(lead, r.all[lead].asked) + r.mean(e, n) - r.mean(lead, n)
}
