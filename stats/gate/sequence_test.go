// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// wealth is the definition of Bets, term by term.
func wealth(bound float64, xs []float64) float64 {
	sum := 0.0
	for j := 1; j <= bets; j++ {
		product := 1.0
		for _, x := range xs {
			product *= 1 + float64(j)/(21*bound)*(x-bound)
		}
		sum += product
	}
	return sum / bets
}

func TestBetsAreTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		bound := 0.05 + 0.95*rng.Float64()
		b, xs := Bets{Bound: bound}, []float64(nil)
		for range 30 {
			x := rng.Float64()
			if rng.IntN(2) == 0 {
				x = math.Round(x)
			}
			xs = append(xs, x)
			b.Add(x)
			if got, want := math.Exp(b.Log()), wealth(bound, xs); !(math.Abs(got/want-1) < 1e-9) {
				t.Fatalf("against a mean of %g: %v gives %g, want %g", bound, xs, got, want)
			}
		}
	}
}

func TestBetsAtTheEnds(t *testing.T) {
	none, full := Bets{}, Bets{Bound: 1}
	if none.Log() != 0 || full.Log() != 0 {
		t.Error("without a value there is evidence")
	}
	none.Add(0)
	full.Add(1)
	if none.Log() != 0 || full.Log() != 0 {
		t.Errorf("what is expected is evidence: %g and %g", none.Log(), full.Log())
	}
	if none.Add(0.5); !math.IsInf(none.Log(), 1) {
		t.Errorf("a value above 0 gives %g against a mean of 0", none.Log())
	}
	if full.Add(0); !(full.Log() < 0) {
		t.Errorf("against a mean of 1 there is evidence: %g", full.Log())
	}
}

func sequence(t *testing.T, r SequenceRule) *Sequence {
	t.Helper()
	s, ok := NewSequence(r)
	if !ok {
		t.Fatalf("%+v is refused", r)
	}
	return s
}

func TestSequenceIsRefused(t *testing.T) {
	for name, r := range map[string]SequenceRule{
		"bound below 0":   {Pass: -0.1, Fail: 0.5, Alpha: Alpha},
		"bound above 1":   {Pass: 0.5, Fail: 1.1, Alpha: Alpha},
		"bound no number": {Pass: math.NaN(), Fail: 0.5, Alpha: Alpha},
		"no alpha":        {Pass: 0.5, Fail: 0.5},
		"alpha of 1":      {Pass: 0.5, Fail: 0.5, Alpha: 1},
	} {
		if _, ok := NewSequence(r); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSequenceDecides(t *testing.T) {
	same := func(low, high float64) func(int) Task { return func(int) Task { return Task{low, high} } }
	atLeast := func(bound float64, units int) SequenceRule {
		r, _ := Bounded(AtLeast, bound)
		r.MinUnits, r.MaxLost = units, 0.05
		return r
	}
	for name, tc := range map[string]struct {
		rule  SequenceRule
		task  func(int) Task
		want  Verdict
		after int
	}{
		"all pass":            {atLeast(0.8, 1), same(1, 1), Pass, 25},
		"all pass, units":     {atLeast(0.8, 60), same(1, 1), Pass, 60},
		"all fail":            {atLeast(0.8, 30), same(0, 0), Fail, 4},
		"all lost":            {atLeast(0.8, 30), same(0, 1), Inconclusive, 0},
		"at the bound":        {atLeast(0.8, 30), same(0.8, 0.8), Inconclusive, 0},
		"a tenth of all lost": {atLeast(0.5, 1), same(0.9, 1), Inconclusive, 0},
		"a bound of 1":        {atLeast(1, 1), same(1, 1), Inconclusive, 0},
		"a bound of 1 missed": {atLeast(1, 1), func(i int) Task {
			return Task{float64(min(1, max(0, 5-i))), float64(min(1, max(0, 5-i)))}
		}, Fail, 6},
	} {
		s := sequence(t, tc.rule)
		for i := range 300 {
			s.Add(tc.task(i))
		}
		if got := s.Decision().Verdict; got != tc.want || s.After() != tc.after {
			t.Errorf("%s: %s after %d, want %s after %d", name, got, s.After(), tc.want, tc.after)
		}
	}
}

// TestSequenceFlips: a bound on errors decides as the bound on their opposite.
func TestSequenceFlips(t *testing.T) {
	up, _ := Bounded(AtLeast, 0.9)
	down, flip := Bounded(AtMost, 0.1)
	if !flip {
		t.Fatal("less is better, and tasks are not flipped")
	}
	a, b := sequence(t, up), sequence(t, down)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		x := float64(min(1, rng.IntN(40)))
		if d, e := a.Add(Task{x, x}), b.Add(Task{1 - x, 1 - x}.Flipped()); d != e || a.After() != b.After() {
			t.Fatalf("%v after %d and %v after %d", d, a.After(), e, b.After())
		}
	}
	if a.Decision().Verdict != Pass {
		t.Errorf("a rate of 0.975 is %v at the bound 0.9", a.Decision())
	}
}

// TestSequenceStays: tasks after a decision do not change it.
func TestSequenceStays(t *testing.T) {
	r, _ := Bounded(AtLeast, 0.8)
	s := sequence(t, r)
	for !s.Decided() {
		s.Add(Task{1, 1})
	}
	after := s.After()
	for range 1000 {
		s.Add(Task{0, 0})
	}
	if s.Decision().Verdict != Pass || s.After() != after || s.N() != after {
		t.Errorf("%v after %d of %d, want a pass after %d", s.Decision(), s.After(), s.N(), after)
	}
}

// TestLostTasksOnlyWeaken: a task with lost attempts is evidence for neither side that it would not be
// with whatever these would have been.
func TestLostTasksOnlyWeaken(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		r, _ := Bounded(AtLeast, 0.3+0.6*rng.Float64())
		lossy, whole := sequence(t, r), sequence(t, r)
		for range 60 {
			x := float64(rng.IntN(2))
			task := Task{x, x}
			if rng.IntN(10) == 0 {
				task = Task{0, 1}
			}
			lossy.Add(task)
			whole.Add(Task{x, x})
			if whole.Decided() || lossy.Decided() {
				break
			}
			p, f := lossy.Evidence()
			q, g := whole.Evidence()
			if p > q+1e-9 || f > g+1e-9 {
				t.Fatalf("evidence with lost attempts %g, %g and without %g, %g", p, f, q, g)
			}
		}
	}
}

// TestHopeless: a gate is hopeless exactly when neither the best nor the worst of the rest decides it.
func TestHopeless(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	seen := map[bool]int{}
	for range 400 {
		r, _ := Bounded(AtLeast, 0.6+0.3*rng.Float64())
		r.MinUnits = rng.IntN(80)
		xs := make([]float64, rng.IntN(60))
		for i := range xs {
			xs[i] = float64(rng.IntN(2))
		}
		left := rng.IntN(60)
		try := func(rest float64) bool {
			s := sequence(t, r)
			for _, x := range xs {
				s.Add(Task{x, x})
			}
			for range left {
				s.Add(Task{rest, rest})
			}
			return s.Decided()
		}
		s := sequence(t, r)
		for _, x := range xs {
			s.Add(Task{x, x})
		}
		want := !s.Decided() && !try(1) && !try(0)
		if got := s.Hopeless(left); got != want {
			t.Fatalf("hopeless %v, want %v: %+v after %v with %d left", got, want, r, xs, left)
		}
		seen[want]++
	}
	if seen[true] < 20 || seen[false] < 20 {
		t.Errorf("one side was hardly tried: %v", seen)
	}
}

// TestPairs: the loss of a baseline decides by both sides.
func TestPairs(t *testing.T) {
	for name, tc := range map[string]struct {
		change float64 // of each third task
		want   Verdict
	}{"equal": {0, Pass}, "worse": {-1, Fail}, "better": {1, Pass}} {
		s := sequence(t, Paired(0.05, 0.01))
		for i := range 400 {
			d := 0.0
			if i%3 == 0 {
				d = tc.change
			}
			u := (1 + d) / 2
			s.Add(Task{u, u})
		}
		if got := s.Decision().Verdict; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestSequenceIsRight draws attempts at the bound, where each decision is false, and at rates that are
// better and worse. Source of the figures: Statistics specification, section 16.6.
func TestSequenceIsRight(t *testing.T) {
	for _, tc := range []struct {
		rate, bound        float64
		alpha              float64
		tasks              int
		passLow, passHigh  float64 // share of passes
		failLow, failHigh  float64
		afterLow, afterTop float64 // mean tasks until a decision
	}{
		{0.85, 0.85, Alpha, 800, 0, 0.03, 0, 0.03, 0, 800},
		{0.95, 0.95, Alpha, 800, 0, 0.03, 0, 0.03, 0, 800},
		{0.8, 0.8, LaterAlpha, 800, 0, 0.007, 0, 0.007, 0, 800},
		{0.95, 0.85, Alpha, 150, 0.86, 0.95, 0, 0.005, 70, 92},
		{0.95, 0.85, LaterAlpha, 150, 0.69, 0.81, 0, 0.005, 95, 120},
		{0.75, 0.85, Alpha, 800, 0, 0.005, 0.95, 1, 100, 170},
	} {
		const trials = 1000
		rng := rand.New(rand.NewPCG(9, uint64(1000*tc.rate)))
		rule, _ := Bounded(AtLeast, tc.bound)
		rule.Alpha = tc.alpha
		var passes, fails, after float64
		for range trials {
			s := sequence(t, rule)
			for range tc.tasks {
				x := 0.0
				if rng.Float64() < tc.rate {
					x = 1
				}
				if s.Add(Task{x, x}); s.Decided() {
					break
				}
			}
			switch after += float64(s.N()) / trials; s.Decision().Verdict {
			case Pass:
				passes += 1. / trials
			case Fail:
				fails += 1. / trials
			}
		}
		if passes < tc.passLow || passes > tc.passHigh || fails < tc.failLow || fails > tc.failHigh ||
			after < tc.afterLow || after > tc.afterTop {
			t.Errorf("rate %g at the bound %g, alpha %g: passed %.3f, failed %.3f, after %.0f: %+v", tc.rate, tc.bound,
				tc.alpha, passes, fails, after, tc)
		}
	}
}

func TestLookAlpha(t *testing.T) {
	if LookAlpha(0) != Alpha || LookAlpha(1) != Alpha {
		t.Errorf("the first look has %g", LookAlpha(1))
	}
	sum := 0.0
	for look := 2; look < 60; look++ {
		sum += LookAlpha(look)
	}
	if LookAlpha(2) != LaterAlpha/2 || !(sum <= LaterAlpha) {
		t.Errorf("the second look has %g, all later ones %g", LookAlpha(2), sum)
	}
}

// TestReplaceIsAnew: tasks whose means change give the evidence of the new means, and lost attempts with them.
func TestReplaceIsAnew(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	draw := func() Task {
		low := 0.4 + 0.2*rng.Float64()
		return Task{low, low + 0.1*rng.Float64()}
	}
	for range 50 {
		r, _ := Bounded(AtLeast, 0.5)
		changed, anew := sequence(t, r), sequence(t, r)
		old := make([]Task, 20)
		for i := range old {
			old[i] = draw()
			changed.Take(old[i])
		}
		for i := range old {
			with := draw()
			changed.Replace(old[i], with)
			anew.Take(with)
		}
		p, f := changed.Evidence()
		q, g := anew.Evidence()
		if math.Abs(p-q) > 1e-9 || math.Abs(f-g) > 1e-9 || math.Abs(changed.lost-anew.lost) > 1e-9 ||
			math.Abs(changed.high-anew.high) > 1e-9 || changed.N() != anew.N() {
			t.Fatalf("%g, %g after changes and %g, %g anew", p, f, q, g)
		}
	}
}

// TestTakeDoesNotLook: tasks that are taken without a look decide nothing until the next look.
func TestTakeDoesNotLook(t *testing.T) {
	r, _ := Bounded(AtLeast, 0.8)
	s := sequence(t, r)
	if s.Look().Verdict != Inconclusive {
		t.Error("nothing is decided")
	}
	for range 20 {
		s.Take(Task{0, 0})
	}
	if s.Decided() {
		t.Error("it was looked at")
	}
	if d := s.Look(); d.Verdict != Fail || s.After() != 20 {
		t.Errorf("%v after %d", d, s.After())
	}
}

// TestMinEffect: a loss fails only where the mean is so far below.
func TestMinEffect(t *testing.T) {
	for _, tc := range []struct {
		effect, loss float64
		want         Verdict
	}{{0.2, 0.3, Fail}, {0.4, 0.3, Inconclusive}, {0.25, 0.25, Fail}} {
		s := sequence(t, Paired(0.01, tc.effect))
		for range 500 {
			u := (1 - tc.loss) / 2
			s.Add(Task{u, u})
		}
		if d := s.Decision(); d.Verdict != tc.want {
			t.Errorf("a loss of %g with a least one of %g: %v", tc.loss, tc.effect, d)
		}
	}
}

// TestSequenceBounds: bounds of 0 and 1 are in range.
func TestSequenceBounds(t *testing.T) {
	for _, r := range []SequenceRule{
		{Pass: 0, Fail: 0.5, Alpha: Alpha},
		{Pass: 0.5, Fail: 0, Alpha: Alpha},
		{Pass: 1, Fail: 1, Alpha: Alpha},
	} {
		if _, ok := NewSequence(r); !ok {
			t.Errorf("%+v is refused", r)
		}
	}
}

// TestEvidenceReaches: it is enough from Needed on.
func TestEvidenceReaches(t *testing.T) {
	b := Bets{Bound: 0.5}
	b.Add(1)
	if l := b.Log(); !b.reaches(l) || b.reaches(math.Nextafter(l, 9)) || !b.reaches(l-0.1) {
		t.Errorf("a logarithm of %g", l)
	}
	if s := sequence(t, SequenceRule{Pass: 0.5, Fail: 0.5, Alpha: Alpha}); s.P() != 1 {
		t.Errorf("p is %g without a task", s.P())
	} else if s.Add(Task{0, 0}); !(math.Abs(s.P()-math.Exp(-s.fail.Log())) < 1e-12) || !(s.P() < 1) {
		t.Errorf("p is %g after a task that failed", s.P())
	}
}

// TestHopelessUnits: tasks that are left count for the least number of tasks.
func TestHopelessUnits(t *testing.T) {
	r, _ := Bounded(AtLeast, 0.5)
	r.MinUnits = 40
	s := sequence(t, r)
	for range 30 {
		s.Add(Task{1, 1})
	}
	if s.Hopeless(10) || !s.Hopeless(9) {
		t.Errorf("with 30 of 40 tasks: hopeless with 10 left %v, with 9 %v", s.Hopeless(10), s.Hopeless(9))
	}
}

// TestMaxLost: a pass needs the share of attempts with an outcome.
func TestMaxLost(t *testing.T) {
	for _, tc := range []struct {
		lost int
		want Verdict
	}{{5, Pass}, {6, Inconclusive}} {
		r, _ := Bounded(AtLeast, 0.5)
		r.MaxLost, r.MinUnits = 0.05, 100
		s := sequence(t, r)
		for i := range 100 {
			task := Task{1, 1}
			if i < tc.lost {
				task.Low = 0
			}
			s.Add(task)
		}
		if d := s.Decision(); d.Verdict != tc.want {
			t.Errorf("%d of 100 lost: %v", tc.lost, d)
		}
	}
}
