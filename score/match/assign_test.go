// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// question is one expected call with one actual one. Names that differ are no answer.
type question struct {
	named, required bool
	near, score     float64
}

// plan is a whole problem: questions by expected × actual call.
type plan struct {
	n, m  int
	pairs []question
	order Sequence
}

// sums of an assignment, in the order of the rule's comparison: names, arguments that come near,
// their scores, required calls answered.
type sums [4]float64

func (p *plan) sums(of []int) (s sums) {
	for i, j := range of {
		if j < 0 {
			continue
		}
		q := p.pairs[i*p.m+j]
		s[0]++
		s[1] += q.near
		s[2] += q.score
		if q.required {
			s[3]++
		}
	}
	return s
}

func moved(of []int) (sum int) {
	for i, j := range of {
		if j >= 0 {
			sum += max(i-j, j-i)
		}
	}
	return sum
}

// keeps reports by definition whether answers keep the order.
func (p *plan) keeps(of []int) bool {
	var answers []int
	for _, j := range of {
		if j >= 0 {
			answers = append(answers, j)
		}
	}
	if p.order.Total && !slices.IsSorted(answers) {
		return false
	}
	if p.order.Total && p.order.Strict && len(answers) > 0 && slices.Max(answers)-slices.Min(answers) >= len(answers) {
		return false
	}
	for i, before := range p.order.After {
		for _, b := range before {
			if of[i] >= 0 && of[b] > of[i] {
				return false
			}
		}
	}
	return true
}

// each yields every possible assignment.
func (p *plan) each(do func(of []int)) {
	of := make([]int, p.n)
	var choose func(i int)
	choose = func(i int) {
		if i == p.n {
			do(of)
			return
		}
		of[i] = -1
		choose(i + 1)
		for j := range p.m {
			if p.pairs[i*p.m+j].named && !slices.Contains(of[:i], j) {
				of[i] = j
				choose(i + 1)
			}
		}
	}
	choose(0)
}

func (p *plan) solve(a *Assignment) []int {
	a.Reset(p.n, p.m)
	a.Clear()
	for i := range p.n {
		for j := range p.m {
			if q := p.pairs[i*p.m+j]; q.named {
				a.Set(i, j, q.near, q.score, q.required)
			}
		}
	}
	a.Solve(&p.order)
	return a.Of
}

func randomPlan(r *rand.Rand) *plan {
	p := &plan{n: r.IntN(5), m: r.IntN(6)}
	// Few kinds of calls, so that many answers are equally good.
	values := []float64{0, 0.25, 0.5, 1}[:1+r.IntN(4)]
	for range p.n * p.m {
		near := values[r.IntN(len(values))]
		p.pairs = append(p.pairs, question{r.IntN(4) > 0, r.IntN(3) == 0, near, values[r.IntN(len(values))]})
	}
	switch r.IntN(4) {
	case 0:
		p.order.Total = true
	case 1:
		p.order.Total, p.order.Strict = true, true
	case 2:
		p.order.Topological = r.Perm(p.n)
		p.order.After = make([][]int, p.n)
		for later, i := range p.order.Topological {
			for _, before := range p.order.Topological[:later] {
				if r.IntN(2) == 0 {
					p.order.After[i] = append(p.order.After[i], before)
				}
			}
		}
	}
	return p
}

// TestAssignmentIsOptimal: no other assignment is worth more, among equally good ones an answer keeps
// the order when one of them does, and without an order the calls stand as near as they can.
func TestAssignmentIsOptimal(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var a Assignment // is reused, as for the cases of a suite
	for range 4000 {
		p := randomPlan(r)
		of := slices.Clone(p.solve(&a))
		var best sums
		p.each(func(of []int) {
			if s := p.sums(of); slices.Compare(s[:], best[:]) > 0 {
				best = s
			}
		})
		nearest, kept := 1<<20, false
		p.each(func(of []int) {
			if p.sums(of) == best {
				nearest, kept = min(nearest, moved(of)), kept || p.keeps(of)
			}
		})
		switch {
		case p.sums(of) != best:
			t.Fatalf("%+v: %v is worth %v, the best is %v", p, of, p.sums(of), best)
		case kept && !p.keeps(of):
			t.Fatalf("%+v: %v does not keep the order, and another as good does", p, of)
		case p.order.Free() && moved(of) != nearest:
			t.Fatalf("%+v: %v stands %d places off, %d would do", p, of, moved(of), nearest)
		case p.order.Kept(of) != p.keeps(of):
			t.Fatalf("%+v: Kept(%v) = %v", p.order, of, p.order.Kept(of))
		}
	}
}

func TestAssignment(t *testing.T) {
	t.Parallel()
	no := question{}
	of := func(near, score float64) question { return question{named: true, near: near, score: score} }
	needed := func(near, score float64) question {
		return question{named: true, required: true, near: near, score: score}
	}
	// The largest share below 1 that there is: arguments that miss by next to nothing.
	const almost = 1 - 1.0/(1<<53)
	for name, tc := range map[string]struct {
		m     int
		pairs []question
		order Sequence
		want  []int
	}{
		"the near answer of one is the only answer of the other": {
			2,
			[]question{of(1, 1), of(0.9, 0.9), of(0.9, 0.9), no},
			Sequence{},
			[]int{1, 0},
		},
		"more answers before better ones": {
			2,
			[]question{of(1, 1), of(0, 0), of(0, 0), no},
			Sequence{},
			[]int{1, 0},
		},
		"arguments that pass before any that nearly do": {
			2,
			[]question{of(almost, 1), of(1, 0)},
			Sequence{},
			[]int{1},
		},
		"nearer before better scores": {
			2,
			[]question{of(0.5, 1), of(0.75, 0)},
			Sequence{},
			[]int{1},
		},
		"a better score before a required call": {
			1,
			[]question{needed(0, 0), of(0, 0.25)},
			Sequence{},
			[]int{-1, 0},
		},
		"a required call before the same place": {
			1,
			[]question{of(0, 0), needed(0, 0)},
			Sequence{},
			[]int{-1, 0},
		},
		"the same place where nothing else differs": {
			3,
			[]question{of(1, 1), of(1, 1), of(1, 1), of(1, 1), of(1, 1), of(1, 1), of(1, 1), of(1, 1), of(1, 1)},
			Sequence{},
			[]int{0, 1, 2},
		},
		"one expected call takes the first of equals": {
			3,
			[]question{no, of(1, 1), of(1, 1)},
			Sequence{},
			[]int{1},
		},
		"one expected call takes the best": {
			3,
			[]question{of(0, 0), of(0.5, 0), of(1, 0)},
			Sequence{},
			[]int{2},
		},
		"no name agrees": {2, []question{no, no}, Sequence{}, []int{-1}},
		"in order, others between": {
			4,
			[]question{of(1, 1), no, no, of(1, 1), no, no, of(1, 1), no},
			Sequence{Total: true},
			[]int{0, 2},
		},
		"strict: nothing between": {
			4,
			[]question{of(1, 1), no, of(1, 1), no, no, no, no, of(1, 1), no, no, no, no},
			Sequence{Total: true, Strict: true},
			[]int{2, 3, -1},
		},
	} {
		p := &plan{n: len(tc.pairs) / tc.m, m: tc.m, pairs: tc.pairs, order: tc.order}
		if diff := cmp.Diff(tc.want, p.solve(new(Assignment))); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestLongPlans: weights keep their order in plans of any length; many calls that come close do
// not make up for one that passes.
func TestLongPlans(t *testing.T) {
	t.Parallel()
	const n = 1500
	p := &plan{n: 2, m: n, pairs: make([]question, 2*n)}
	p.pairs[0] = question{named: true, near: 1, score: 1}
	p.pairs[n-1] = question{named: true, near: 1 - 1e-9, score: 1}
	p.pairs[n] = question{named: true, near: 1, score: 0}
	p.pairs[2*n-1] = question{named: true, near: 1 - 1e-9, score: 0}
	if of := p.solve(new(Assignment)); of[0]+of[1] != n-1 {
		t.Error(of)
	}
	chain := &plan{n: 300, m: 300, pairs: make([]question, 300*300)}
	for i := range 300 {
		chain.pairs[i*300+299-i] = question{named: true, near: 0.5, score: 0.5}
	}
	for i, j := range chain.solve(new(Assignment)) {
		if j != 299-i {
			t.Fatalf("call %d is answered by %d", i, j)
		}
	}
}

// TestPartialOrderSearchEnds: where too many equally good answers would have to be tried, the
// best one stays, whatever its order.
func TestPartialOrderSearchEnds(t *testing.T) {
	t.Parallel()
	const n = 14
	p := &plan{n: n, m: n, pairs: make([]question, n*n), order: Sequence{After: make([][]int, n)}}
	for i := range n {
		p.order.Topological = append(p.order.Topological, i)
		for j := range n {
			p.pairs[i*n+j] = question{named: true, near: 1, score: 1}
		}
	}
	// The last two have one answer each, in the wrong order: no assignment keeps it.
	for j := range n {
		p.pairs[(n-2)*n+j].named = j == n-1
		p.pairs[(n-1)*n+j].named = j == n-2
	}
	p.order.After[n-1] = []int{n - 2}
	of := p.solve(new(Assignment))
	if s := p.sums(of); s[0] != n || p.keeps(of) || slices.Contains(of, -1) {
		t.Error(of)
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	total, strict := Sequence{Total: true}, Sequence{Total: true, Strict: true}
	after := Sequence{After: [][]int{nil, nil, {0, 1}}}
	for _, tc := range []struct {
		order Sequence
		of    []int
		want  bool
	}{
		{total, []int{0, 2, 5}, true},
		{total, []int{0, -1, 5}, true},
		{total, []int{1, 0}, false},
		{total, nil, true},
		{strict, []int{3, 4, 5}, true},
		{strict, []int{3, 5}, false},
		{strict, []int{0, 2}, false},
		{strict, []int{-1, 0, -1, 1}, true},
		{strict, []int{-1, -1}, true},
		{after, []int{1, 0, 2}, true},
		{after, []int{1, 3, 2}, false},
		{after, []int{3, 1, 2}, false},
		{after, []int{-1, 1, 2}, true},
		{after, []int{3, 1, -1}, true},
		{Sequence{}, []int{2, 1, 0}, true},
	} {
		if got := tc.order.Kept(tc.of); got != tc.want {
			t.Errorf("%+v: Kept(%v) = %v", tc.order, tc.of, got)
		}
	}
}
