// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"
)

// tpe proposes candidates by a tree-structured Parzen estimator over a finite set.
//
//	scores so far ─► best quarter: density l ─┐
//	               └► the others:   density g ─┴► the candidate with the highest l/g that was not tried
//
// A density is a mixture of one kernel for each observation and the uniform distribution. A kernel is a product
// over the parameters: for numbers a normal distribution over their ranks, which is cut off at the ends; for other
// values the same value with a certain weight, and the rest evenly. Because the set is finite, the best candidate is
// found by looking at all, and not among draws. Source: Bergstra and others 2011; Watanabe 2023.
type tpe struct {
	points [][]int      // by candidate: the position of its value in each dimension
	dims   []dimensions // of the values
}

// dimensions are the values of a parameter. place is where a number stands between the least, 0, and the
// greatest, 1; NaN for what is no number.
type dimensions struct{ place []float64 }

func newTPE(points [][]json.RawMessage) *tpe {
	t := &tpe{points: make([][]int, len(points))}
	for d := range points[0] {
		var values []string
		for i := range points {
			v := string(bytes.TrimSpace(canonical(points[i][d])))
			at := slices.Index(values, v)
			if at < 0 {
				at, values = len(values), append(values, v)
			}
			t.points[i] = append(t.points[i], at)
		}
		t.dims = append(t.dims, dimensions{places(values)})
	}
	return t
}

// places ranks the numbers among values evenly between 0 and 1: steps of a list that a person wrote, such as 256,
// 1024 and 4096, are thought to matter alike.
func places(values []string) []float64 {
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
	for i, x := range place {
		if !math.IsNaN(x) {
			at, _ := slices.BinarySearch(numbers, x)
			place[i] = float64(at) / float64(max(1, len(numbers)-1))
		}
	}
	return place
}

// kernel[a][b] is the weight of value b around an observation at value a; each row adds up to 1.
func (d *dimensions) kernel(width float64) [][]float64 {
	n := len(d.place)
	rows := make([][]float64, n)
	if n == 1 {
		return [][]float64{{1}}
	}
	numbers := 0
	for _, x := range d.place {
		if !math.IsNaN(x) {
			numbers++
		}
	}
	// A number has its neighbours as far as the width reaches; but never less than half of the way to the next.
	normal := distuv.Normal{Sigma: max(width, 0.5/float64(max(1, numbers-1)))}
	for a := range rows {
		rows[a] = make([]float64, n)
		number := !math.IsNaN(d.place[a])
		sum := 0.0
		for b := range rows[a] {
			if number && !math.IsNaN(d.place[b]) {
				rows[a][b] = normal.Prob(d.place[b] - d.place[a])
				sum += rows[a][b]
			} else if !number && a == b {
				rows[a][b], sum = 1, 1
			}
		}
		for b := range rows[a] {
			rows[a][b] = (1-width)*rows[a][b]/sum + width/float64(n)
		}
	}
	return rows
}

// scored is a candidate with its score.
type scored struct {
	candidate int
	score     float64
}

// propose returns up to n candidates that were not tried, the most promising first. Of equal ones, the earliest in
// order comes first. seen are in the order in which they were tried.
func (t *tpe) propose(seen []scored, order []int, n int) []int {
	tried := make(map[int]bool, len(seen))
	for _, s := range seen {
		tried[s.candidate] = true
	}
	ranked := slices.Clone(seen)
	slices.SortStableFunc(ranked, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	good := max(1, (len(ranked)+3)/4)
	of := func(list []scored) func(candidate int) float64 {
		width := 0.3 * math.Pow(float64(max(1, len(list))), -1/float64(len(t.dims)+4))
		kernels, uniform := make([][][]float64, len(t.dims)), 1.0
		for d := range t.dims {
			kernels[d] = t.dims[d].kernel(width)
			uniform /= float64(len(t.dims[d].place))
		}
		return func(candidate int) float64 {
			density := uniform
			for _, s := range list {
				p := 1.0
				for d, at := range t.points[s.candidate] {
					p *= kernels[d][at][t.points[candidate][d]]
				}
				density += p
			}
			return density / float64(len(list)+1)
		}
	}
	l, g := of(ranked[:good]), of(ranked[good:])
	var list []scored
	for _, c := range order {
		if !tried[c] {
			list = append(list, scored{c, l(c) / g(c)})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	next := make([]int, 0, n)
	for _, s := range list[:min(n, len(list))] {
		next = append(next, s.candidate)
	}
	return next
}

// startOf is how many of the trials are drawn at random before scores count.
func startOf(trials int) int { return max(4, trials/5) }

// atOnce is how many candidates are proposed at once: one by one learns the most, but a round then asks little and
// the search takes long.
const atOnce = 2

// propose lets the most promising candidates enter.
func (s *Search) propose() {
	var seen []scored
	for e, c := range s.chosen {
		seen = append(seen, scored{c, s.score(e)})
	}
	s.enter(s.space.propose(seen, s.queue, min(atOnce, s.cfg.Trials+1-len(s.chosen)))...)
}

// score is the mean of a candidate over all tasks. For one that was dropped it is estimated: the leader's mean plus
// the difference on the tasks that both were asked, as the first tasks may be easier than the others. One that
// breaks a constraint is the worst.
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
