// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/callvet/callvet/stats"
)

const conf = 0.95

var near = cmpopts.EquateApprox(1e-12, 1e-12)

// sums is what all four types have in common.
type sums[T any] interface {
	*T
	Merge(*T)
	AppendBinary([]byte) []byte
	Decode([]byte) ([]byte, error)
}

// partsAgree draws a split of the tasks into parts and an order of merging them,
// some through their bytes, and holds the result against adding all at once.
func partsAgree[T any, P sums[T], Task any](t *rapid.T, tasks []Task, add func(P, Task),
	intervals func(P) []stats.Interval,
) {
	var whole T
	for _, x := range tasks {
		add(&whole, x)
	}
	parts := make([]*T, rapid.IntRange(1, 5).Draw(t, "parts"))
	for i := range parts {
		parts[i] = new(T)
	}
	for _, x := range rapid.Permutation(tasks).Draw(t, "order") {
		add(parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")], x)
	}
	for len(parts) > 1 {
		i := rapid.IntRange(0, len(parts)-2).Draw(t, "merge")
		from := parts[len(parts)-1]
		if rapid.Bool().Draw(t, "through bytes") {
			b := P(from).AppendBinary(nil)
			from = new(T)
			rest, err := P(from).Decode(append(b, "rest"...))
			if err != nil || string(rest) != "rest" {
				t.Fatalf("decode: %v, rest %q", err, rest)
			}
		}
		P(parts[i]).Merge(from)
		parts = parts[:len(parts)-1]
	}
	if a, b := P(&whole).AppendBinary(nil), P(parts[0]).AppendBinary(nil); !bytes.Equal(a, b) {
		t.Fatalf("bytes differ:\n%x\n%x", a, b)
	}
	if diff := cmp.Diff(intervals(&whole), intervals(parts[0])); diff != "" {
		t.Fatal(diff)
	}
}

// similar compares an interval with that of float sums. Their variance is a difference: the less
// the mean varies, the fewer digits of it are right.
func similar(t *rapid.T, want, got stats.Interval) {
	t.Helper()
	tolerance := 1e-12
	if se := max(want.SE, got.SE); se > 0 {
		tolerance += 1e-14 * want.Point / se * want.Point / se
	}
	if tolerance > 1e-4 {
		want.SE, want.NEff, want.Lower, want.Upper, want.Status = got.SE, got.NEff, got.Lower, got.Upper, got.Status
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(tolerance, tolerance)); diff != "" {
		t.Fatal(diff)
	}
}

type pair struct{ a, b int64 }

func pairs(t *rapid.T, a, b func(*rapid.T) int64) []pair {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pair { return pair{a(t), b(t)} }), 0, 40).Draw(t, "tasks")
}

func between(lo, hi int64) func(*rapid.T) int64 {
	return func(t *rapid.T) int64 { return rapid.Int64Range(lo, hi).Draw(t, "n") }
}

func TestRateIsClusters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int64{1, 5, 1 << 40}).Draw(t, "most")
		tasks := pairs(t, between(0, 1<<40), between(0, most))
		var want, byCase stats.Clusters
		add := func(r *Rate, x pair) { r.AddAttempts(int(x.a%(x.b+1)), int(x.b), attemptsOf(x, x.a%(x.b+1))) }
		var r Rate
		for _, x := range tasks {
			add(&r, x)
			yes := x.a % (x.b + 1)
			want.AddAttempts(float64(yes), int(x.b), true, attemptsOf(x, yes))
			if x.b > 0 {
				byCase.Add(map[bool]float64{true: 1}[yes == x.b], 1, true)
			}
		}
		similar(t, want.Interval(conf, 0.3), r.Interval(conf, 0.3))
		if diff := cmp.Diff(byCase.Interval(conf, 0.3), r.ByCase(conf), near); diff != "" {
			t.Fatal(diff)
		}
		partsAgree(t, tasks, add, func(r *Rate) []stats.Interval {
			return []stats.Interval{r.Interval(conf, 0.3), r.ByCase(conf)}
		})
	})
}

func TestMeanIsClusters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]int64{1, 1001, Scale / 2, Scale}).Draw(t, "step")
		tasks := pairs(t, between(0, 1<<40), between(0, 6))
		for i, x := range tasks {
			tasks[i].a = x.a % (x.b*Scale + 1) / step * step
		}
		whole := true
		for _, x := range tasks {
			whole = whole && x.a%Scale == 0
		}
		var want stats.Clusters
		var m Mean
		for _, x := range tasks {
			want.AddAttempts(float64(x.a)/Scale, int(x.b), whole, attemptsOf(x, x.a))
			m.AddAttempts(x.a, int(x.b), attemptsOf(x, x.a), 1)
		}
		similar(t, want.Interval(conf, 0.3), m.Interval(conf, 0.3))
		partsAgree(t, tasks, func(m *Mean, x pair) { m.AddAttempts(x.a, int(x.b), attemptsOf(x, x.a), 1) },
			func(m *Mean) []stats.Interval { return []stats.Interval{m.Interval(conf, 0.3)} })
	})
}

func TestRatioIsRatio(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := pairs(t, between(-5000, 5_000_000), between(0, 50))
		var want stats.Ratio
		var r Ratio
		for _, x := range tasks {
			want.Add(float64(x.a), float64(x.b))
			r.Add(x.a, x.b)
		}
		similar(t, want.Interval(conf), r.Interval(conf))
		partsAgree(t, tasks, func(r *Ratio, x pair) { r.Add(x.a, x.b) },
			func(r *Ratio) []stats.Interval { return []stats.Interval{r.Interval(conf)} })
	})
}

// attemptsOf are up to three attempts with x.b values that sum up to sum.
func attemptsOf(x pair, sum int64) stats.Attempts {
	k := 1 + x.a%3
	return stats.Attempts{N: int(k), Alike: x.b%k == 0 && sum%k == 0 && x.b/k < maxRepeated}
}

// TestCopies: so many copies of each attempt give the same bytes as one.
func TestCopies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := pairs(t, between(0, 40), between(1, 6))
		k := rapid.IntRange(2, 10).Draw(t, "copies")
		var rate, rates Rate
		var mean, means Mean
		var count, counts Count
		var float, floats stats.Clusters
		for _, x := range tasks {
			yes, n := int(min(x.a, x.b)), int(x.b)
			of := stats.Attempts{N: k, Alike: true}
			rate.Add(yes, n)
			rates.AddAttempts(k*yes, k*n, of)
			mean.Add(x.a, n)
			means.AddAttempts(int64(k)*x.a, k*n, of, 1)
			count.Add(x.a, 1, true)
			counts.Add(int64(k)*x.a, int64(k), true)
			float.Add(float64(yes), n, true)
			floats.AddAttempts(float64(k*yes), k*n, true, of)
		}
		one := []stats.Interval{
			rate.Interval(conf, 0.3), mean.Interval(conf, 0.3), count.Interval(conf),
			float.Interval(conf, 0.3),
		}
		many := []stats.Interval{
			rates.Interval(conf, 0.3), means.Interval(conf, 0.3), counts.Interval(conf),
			floats.Interval(conf, 0.3),
		}
		if diff := cmp.Diff(one, many); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestCountIsCounts holds the integer sums of events against the float ones.
func TestCountIsCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := pairs(t, between(0, 40), between(0, 6))
		var want stats.Counts
		var c Count
		for _, x := range tasks {
			alike := x.a%max(x.b, 1) == 0
			want.Add(float64(x.a), float64(x.b), alike)
			c.Add(x.a, x.b, alike)
		}
		similar(t, want.Interval(conf), c.Interval(conf))
		partsAgree(t, tasks, func(c *Count, x pair) { c.Add(x.a, x.b, x.a%max(x.b, 1) == 0) },
			func(c *Count) []stats.Interval { return []stats.Interval{c.Interval(conf)} })
	})
}

// TestHuge holds products of three numbers, and their sums about the means, against
// big integers.
func TestHuge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := pairs(t, between(-maxPart, maxPart), between(-maxPart, maxPart))
		var all cubes
		var sum totals
		want := [2]*big.Int{new(big.Int), new(big.Int)}
		for _, x := range tasks {
			a, b, one := part(x.a, x.b)
			c := one.m.cube(a, b)
			all.add(&c)
			sum.merge(&one)
			p := new(big.Int).Mul(big.NewInt(a), big.NewInt(a))
			want[0].Add(want[0], p.Mul(p, big.NewInt(b)))
			q := new(big.Int).Mul(big.NewInt(b), big.NewInt(b))
			want[1].Add(want[1], q.Mul(q, big.NewInt(b)))
		}
		if all.xxy.big().Cmp(want[0]) != 0 || all.yyy.big().Cmp(want[1]) != 0 {
			t.Fatalf("%v and %v, want %v", all.xxy.big(), all.yyy.big(), want)
		}
		r := reader{b: all.append(nil)}
		if back := r.cubes(); back != all || r.bad || len(r.b) > 0 {
			t.Fatalf("%v through bytes is %v", all, back)
		}
		if len(tasks) == 0 {
			return
		}
		// The third product about the means, in fractions.
		n := big.NewRat(int64(len(tasks)), 1)
		mean := func(w wide) *big.Rat { x := new(big.Rat).SetInt(w.big()); return x.Quo(x, n) }
		ma, mb, product := mean(sum.num), mean(sum.den), new(big.Rat)
		for _, x := range tasks {
			da, db := new(big.Rat).SetInt64(x.a), new(big.Rat).SetInt64(x.b)
			da.Sub(da, ma)
			db.Sub(db, mb)
			product.Add(product, da.Mul(da, da).Mul(da, db))
		}
		exactly, _ := product.Float64()
		if _, got, _, _ := all.central(len(tasks), sum.num, sum.den,
			&sum.m); math.Abs(got-exactly) > 1e-12*math.Abs(exactly) {
			t.Fatalf("%g, want %g", got, exactly)
		}
	})
}

type values struct {
	Xs  []float64
	Cut int
}

// TestQuantilesAreQuantiles holds the histogram against every observation kept.
func TestQuantilesAreQuantiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{1, 4, 60}).Draw(t, "most")
		number := rapid.OneOf(rapid.Float64Range(0, 4), rapid.Float64Range(0, math.MaxFloat64),
			rapid.Custom(func(t *rapid.T) float64 {
				return float64(rapid.IntRange(0, 3000).Draw(t, "n"))
			}))
		tasks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) values {
			xs := rapid.SliceOfN(number, 0, most).Draw(t, "values")
			return values{xs, rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "cut")}
		}), 0, 60).Draw(t, "tasks")
		var q Quantiles
		var obs []stats.Observation
		for i, x := range tasks {
			q.Add(x.Xs, x.Cut)
			for j, v := range x.Xs {
				o := stats.Observation{Value: v, Cluster: int32(i), Censored: j >= len(x.Xs)-x.Cut}
				if !o.Censored {
					o.Value = valueOf(keyOf(v))
				}
				obs = append(obs, o)
			}
		}
		at := []float64{0, 0.1, 0.5, 0.9, 1}
		if diff := cmp.Diff(stats.CaseIntervals(obs, conf, at...), q.Intervals(conf, at...), near); diff != "" {
			t.Fatal(diff)
		}
		partsAgree(t, tasks, func(q *Quantiles, x values) { q.Add(x.Xs, x.Cut) },
			func(q *Quantiles) []stats.Interval { return q.Intervals(conf, at...) })
	})
}

// TestBins holds the promises on how well a number is kept.
func TestBins(t *testing.T) {
	t.Parallel()
	for i := range 2049 {
		if x := valueOf(keyOf(float64(i))); x != float64(i) {
			t.Fatalf("%d is kept as %g", i, x)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0x1p-1022, math.MaxFloat64/1.001).Draw(t, "x")
		if got := valueOf(keyOf(x)); math.Abs(got/x-1) > 1.0/2048 {
			t.Fatalf("%g is kept as %g", x, got)
		}
		if y := rapid.Float64Range(0, x).Draw(t, "y"); keyOf(y) > keyOf(x) {
			t.Fatalf("%g comes after %g", y, x)
		}
	})
	if x := valueOf(keyOf(math.MaxFloat64)); math.IsInf(x, 0) {
		t.Fatal("the greatest number is kept as infinite")
	}
}

func TestWide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b"), rapid.Int64().Draw(t, "c")
		w, want := mul(a, b), integer(a).big()
		w.add(integer(c))
		want.Mul(want, integer(b).big()).Add(want, integer(c).big())
		if w.big().Cmp(want) != 0 {
			t.Fatalf("%d*%d+%d = %v, want %v", a, b, c, w.big(), want)
		}
		if f, _ := want.Float64(); w.float() != f {
			t.Fatalf("%v as a float: %g, want %g", want, w.float(), f)
		}
		if x := w.int64(); want.IsInt64() && x != want.Int64() || !want.IsInt64() &&
			x != map[int]int64{1: math.MaxInt64, -1: math.MinInt64}[want.Sign()] {
			t.Fatalf("%v as an int64: %d", want, x)
		}
		r := reader{b: w.append(nil)}
		if r.wide() != w || r.bad || len(r.b) > 0 {
			t.Fatalf("%v does not survive its bytes", want)
		}
	})
}

// TestRounded holds products about means against big integers, those that 128 bits do
// not hold included.
func TestRounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.IntRange(0, 63).Draw(t, "shift")
		number := func(name string) wide {
			w := mul(rapid.Int64().Draw(t, name)>>shift, rapid.Int64().Draw(t, name)>>shift)
			if rapid.Bool().Draw(t, name) {
				return integer(int64(w.lo))
			}
			return w
		}
		g := rapid.IntRange(1, 1<<40).Draw(t, "g")
		product, a, b := number("product"), number("a"), number("b")
		want, _ := new(big.Float).SetInt(centered(g, product, a, b)).Float64()
		if got := rounded(g, product, a, b); got != want {
			t.Fatalf("%g, want %g", got, want)
		}
	})
}

func TestFraction(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		num, den int
		want     int64
	}{
		{1, 2, Scale / 2},
		{15, 16, Scale / 16 * 15},
		{0, 3, 0},
		{3, 3, Scale},
		{4, 3, Scale},
		{-1, 3, 0},
		{1, 0, 0},
		{1, -1, 0},
		{1, 17, 42395},
		{2, 3 * Scale, 1},
		{1, 3 * Scale, 0},
		{math.MaxInt64 - 1, math.MaxInt64, Scale},
	} {
		if got := Fraction(tc.num, tc.den); got != tc.want {
			t.Errorf("%d/%d = %d, want %d", tc.num, tc.den, got, tc.want)
		}
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	var allYes, one, single, empty Rate
	for range 50 {
		allYes.Add(3, 3)
		single.Add(1, 1)
		empty.Add(0, 0)
	}
	single.Add(0, 1)
	allYes.Add(0, 0)
	one.Add(7, 4)
	type row struct {
		N, Yes, Cases  int
		Status, ByCase stats.Status
	}
	for name, tc := range map[string]struct {
		r    Rate
		want row
	}{
		"empty":           {empty, row{0, 0, 0, stats.StatusNoData, stats.StatusNoData}},
		"all yes":         {allYes, row{150, 150, 50, stats.StatusBoundary, stats.StatusBoundary}},
		"one task":        {one, row{4, 4, 1, stats.StatusSingleCluster, stats.StatusSingleCluster}},
		"one call a task": {single, row{51, 50, 51, stats.StatusOK, stats.StatusOK}},
	} {
		got := row{tc.r.N(), tc.r.Yes(), tc.r.Cases(), tc.r.Interval(conf, 0.3).Status, tc.r.ByCase(conf).Status}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	exactly := stats.ClopperPearson(50, 51, conf, stats.TwoSided)
	if iv := single.Interval(conf, 0.3); math.Abs(iv.Lower-exactly.Lower) > 1e-12 ||
		math.Abs(iv.Upper-exactly.Upper) > 1e-12 {
		t.Errorf("one call a task: %v, want Clopper-Pearson %v", iv, exactly)
	}
	var q Quantiles
	q.Add([]float64{-1, math.NaN(), math.Inf(1)}, 1)
	q.Add(nil, 3)
	if q.N() != 0 || q.table.lines != nil || q.Intervals(conf, 0.5)[0].Status != stats.StatusNoData {
		t.Error("numbers that are none were counted")
	}
	var m Mean
	m.Add(5*Scale, 4)
	m.Add(-1, 2)
	m.Add(9, 0)
	if iv := m.Interval(conf, 0.3); m.N() != 6 || m.Cases() != 2 || iv.Point != 4.0/6 {
		t.Errorf("mean out of range: %v", iv)
	}
	var r Ratio
	r.Add(math.MaxInt64, math.MinInt64)
	r.Add(1, 0)
	if num, den := r.Totals(); num != maxPart+1 || den != -maxPart || r.Cases() != 2 {
		t.Errorf("totals %d and %d", num, den)
	}
}

// TestBigSumsStayExact has a rate of tasks that differ by one call in a million: the float sums of
// squares would lose it.
func TestBigSumsStayExact(t *testing.T) {
	t.Parallel()
	var r Rate
	for i := range 100 {
		r.Add(1_000_000_000+i%2, 2_000_000_000)
	}
	// The variance of the sums is 1/4 and a mean of them has that over 100, less the
	// correction for one degree of freedom.
	want := math.Sqrt(0.25/99) / 2e9
	if se := r.Interval(conf, 0.3).SE; math.Abs(se/want-1) > 1e-9 {
		t.Errorf("standard error %g, want %g", se, want)
	}
	m := r.m
	if ss, _, mm := m.central(100, integer(r.yes), integer(r.n)); ss != 25 || mm != 0 ||
		!m.coherent(100, integer(r.yes), integer(r.n)) {
		t.Errorf("central products %g and %g, want 25 and 0", ss, mm)
	}
}

func FuzzDecode(f *testing.F) {
	var r Rate
	var m Mean
	var x Ratio
	var c Count
	var q Quantiles
	c.Add(0, 2, true)
	c.Add(3, 1, true)
	r.AddAttempts(2, 4, stats.Attempts{N: 2, Alike: true})
	r.Add(1, 3)
	r.Add(2, 2)
	m.Add(Scale/3, 2)
	m.AddAttempts(Scale, 3, stats.Attempts{N: 3, Alike: true}, 1)
	m.AddAttempts(Scale, 2, stats.Attempts{N: 2}, 1)
	x.Add(-70, 3)
	q.Add([]float64{1, 2, 2, 70}, 1)
	q.Add([]float64{0}, 0)
	for _, b := range [][]byte{
		r.AppendBinary(nil), m.AppendBinary(nil), x.AppendBinary(nil), c.AppendBinary(nil),
		q.AppendBinary(nil),
		{},
		bytes.Repeat([]byte{0xff}, 64),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		decodes[Rate](t, b, func(r *Rate) []stats.Interval {
			r.Informative()
			return []stats.Interval{r.Interval(conf, 0.3), r.ByCase(conf)}
		})
		decodes[Mean](t, b, func(m *Mean) []stats.Interval { return []stats.Interval{m.Interval(conf, 0.3)} })
		decodes[Ratio](t, b, func(x *Ratio) []stats.Interval { return []stats.Interval{x.Interval(conf)} })
		decodes[Count](t, b, func(c *Count) []stats.Interval { return []stats.Interval{c.Interval(conf)} })
		decodes[Quantiles](t, b, func(q *Quantiles) []stats.Interval { return q.Intervals(conf, 0, 0.5, 0.9, 1) })
	})
}

// decodes holds that what is accepted is written back as it was, merges and has
// intervals in order.
func decodes[T any, P sums[T]](t *testing.T, b []byte, intervals func(P) []stats.Interval) {
	var x, y T
	rest, err := P(&x).Decode(b)
	if err != nil {
		if got := P(&x).AppendBinary(nil); !bytes.Equal(got, P(&y).AppendBinary(nil)) {
			t.Fatal("a refused input left something behind")
		}
		return
	}
	read := b[:len(b)-len(rest)]
	if got := P(&x).AppendBinary(nil); !bytes.Equal(got, read) {
		t.Fatalf("%T: read %x, wrote %x", x, read, got)
	}
	for _, iv := range intervals(&x) {
		if iv.Defined() && (math.IsNaN(iv.Point) || !(iv.Lower <= iv.Upper)) {
			t.Fatalf("%T: interval %+v", x, iv)
		}
	}
	P(&y).Merge(&x)
	P(&y).Merge(&x)
}
