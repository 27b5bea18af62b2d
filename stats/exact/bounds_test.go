// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/stats"
)

// edges are numbers at which carries, signs and roundings change.
func edges() []int64 {
	out := []int64{0, math.MinInt64, math.MaxInt64}
	for _, bit := range []int{0, 1, 9, 31, 32, 33, 52, 53, 61, 62} {
		x := int64(1) << bit
		out = append(out, x-1, x, x+1, 1-x, -x, -x-1, 3*x)
	}
	return out
}

func whole(x int64) *big.Int { return big.NewInt(x) }

// TestWideEdges holds 128 bits against big integers where they overflow from one word into
// the next.
func TestWideEdges(t *testing.T) {
	t.Parallel()
	check := func(what string, w wide, want *big.Int) {
		t.Helper()
		if w.big().Cmp(want) != 0 {
			t.Fatalf("%s is %v, want %v", what, w.big(), want)
		}
		if f, _ := new(big.Float).SetInt(want).Float64(); w.float() != f {
			t.Fatalf("%s as a float is %g, want %g", what, w.float(), f)
		}
		nearest := want
		if !want.IsInt64() {
			nearest = whole(map[int]int64{1: math.MaxInt64, -1: math.MinInt64}[want.Sign()])
		}
		if got := w.int64(); got != nearest.Int64() {
			t.Fatalf("%s as an int64 is %d, want %d", what, got, nearest)
		}
		r := reader{b: w.append(nil)}
		if back := r.wide(); back != w || r.bad || len(r.b) > 0 {
			t.Fatalf("%s through bytes is %v, want %v", what, back.big(), want)
		}
	}
	for _, a := range edges() {
		for _, b := range edges() {
			product := mul(a, b)
			want := new(big.Int).Mul(whole(a), whole(b))
			check(fmt.Sprintf("%d*%d", a, b), product, want)
			for _, c := range edges() {
				sum := product
				sum.add(integer(c))
				more := new(big.Int).Add(want, whole(c))
				if sum.big().Cmp(more) != 0 {
					t.Fatalf("%d*%d%+d = %v, want %v", a, b, c, sum.big(), more)
				}
				if c >= 0 {
					small := product
					small.addSmall(uint64(c))
					if small != sum {
						t.Fatalf("%d*%d%+d in short is %v, want %v", a, b, c, small.big(), more)
					}
				}
				if got := product.by(c); got.big().Cmp(more.Mul(want, whole(c))) != 0 {
					t.Fatalf("%d*%d*%d = %v, want %v", a, b, c, got.big(), more)
				}
			}
		}
	}
	// Between two floats the even one is next, unless bits that no longer fit decide otherwise.
	const tie = 1<<62 | 1<<9
	for _, w := range []wide{
		{tie, 0},
		{tie, 1},
		{tie | 1<<10, 0},
		{tie | 1<<10, 1},
		{tie - 1, 1 << 63},
		{^uint64(tie), 0},
		{^uint64(tie), 1},
	} {
		check(fmt.Sprint(w), w, w.big())
	}
}

// TestHugeEdges holds sums of 192 bits against big integers.
func TestHugeEdges(t *testing.T) {
	t.Parallel()
	xs := []huge{
		{},
		{lo: 1},
		{lo: math.MaxUint64},
		{mid: 1},
		{mid: math.MaxUint64, lo: math.MaxUint64},
		{hi: 1 << 61, mid: 3, lo: 5},
	}
	for _, x := range slices.Clone(xs) {
		xs = append(xs, x.minus())
	}
	for _, a := range xs {
		for _, b := range xs {
			sum := a
			sum.add(b)
			if want := new(big.Int).Add(a.big(), b.big()); sum.big().Cmp(want) != 0 {
				t.Errorf("%v + %v = %v, want %v", a.big(), b.big(), sum.big(), want)
			}
		}
		r := reader{b: a.append(nil)}
		if back := r.huge(); back != a || r.bad || len(r.b) > 0 {
			t.Errorf("%v through bytes is %v", a.big(), back.big())
		}
	}
	// There is room for eight that are as big.
	for _, tc := range []struct {
		hi   uint64
		room bool
	}{{0, true}, {1<<60 - 1, true}, {1 << 60, false}, {^uint64(1<<60 - 1), true}, {^uint64(1 << 60), false}} {
		if got := (huge{hi: tc.hi}).room(); got != tc.room {
			t.Errorf("room for %x: %t", tc.hi, got)
		}
	}
}

// TestRoundedEdges holds products about the means, where 128 bits just hold them and
// where they no longer do.
func TestRoundedEdges(t *testing.T) {
	t.Parallel()
	wides := []wide{{}, {lo: 1}, {hi: ^uint64(0), lo: ^uint64(6)}, {lo: 1 << 63}, {hi: 1, lo: 3}, {hi: 1 << 30, lo: 7}}
	for bit := 58; bit < 63; bit++ {
		wides = append(wides, wide{hi: 1<<bit - 1, lo: ^uint64(0)}, wide{hi: 1 << bit, lo: 5})
	}
	for _, g := range []int{1, 2, 3, 4, 7, 8, 1 << 20, 1 << 32, 1 << 61} {
		for _, product := range wides {
			for _, a := range wides {
				for _, b := range []wide{{lo: 1}, {lo: 1<<63 - 1}, {hi: ^uint64(0), lo: 1 << 63}, {hi: 2, lo: 1}} {
					want := new(big.Int).Mul(product.big(), whole(int64(g)))
					want.Sub(want, new(big.Int).Mul(a.big(), b.big()))
					exactly, _ := new(big.Float).SetInt(want).Float64()
					if got := rounded(g, product, a, b); got != exactly {
						t.Fatalf("%d*%v - %v*%v = %g, want %g", g, product.big(), a.big(), b.big(), got, exactly)
					}
				}
			}
		}
	}
}

// TestRateSums states every sum that a Rate keeps.
func TestRateSums(t *testing.T) {
	t.Parallel()
	type task struct {
		yes, n int
		times  uint64
	}
	for name, tc := range map[string]struct {
		tasks []task
		want  Rate
	}{
		"no calls": {[]task{{0, 0, 1}, {1, -2, 3}}, Rate{}},
		"not once": {[]task{{1, 2, 0}}, Rate{}},
		"all yes": {
			[]task{{4, 4, 2}},
			Rate{cases: 2, n: 8, yes: 8, succeeding: 2, most: 4, m: moments{integer(32), integer(32), integer(32)}},
		},
		"none yes": {[]task{{0, 3, 2}}, Rate{cases: 2, n: 6, failing: 2, most: 3, m: moments{yy: integer(18)}}},
		"some yes": {
			[]task{{1, 3, 2}},
			Rate{
				cases: 2, n: 6, yes: 2, failing: 2, succeeding: 2, most: 3,
				m: moments{integer(2), integer(6), integer(18)},
			},
		},
		"limited": {
			[]task{{7, 4, 1}, {-1, 2, 1}},
			Rate{
				cases: 2, n: 6, yes: 4, failing: 1, succeeding: 1, most: 4,
				m: moments{integer(16), integer(16), integer(20)},
			},
		},
		"most of all": {
			[]task{{1, 5, 1}, {1, 2, 1}},
			Rate{
				cases: 2, n: 7, yes: 2, failing: 2, succeeding: 2, most: 5,
				m: moments{integer(2), integer(7), integer(29)},
			},
		},
		"squares of 64 bits": {
			[]task{{1 << 32, 1 << 32, 1}},
			Rate{
				cases: 1, n: 1 << 32, yes: 1 << 32, succeeding: 1, most: 1 << 32,
				m: moments{wide{hi: 1}, wide{hi: 1}, wide{hi: 1}},
			},
		},
		"big tasks, a few times": {
			[]task{{1 << 32, 1 << 33, 4}},
			Rate{
				cases: 4, n: 1 << 35, yes: 1 << 34, failing: 4, succeeding: 4, most: 1 << 33,
				m: moments{wide{hi: 4}, wide{hi: 8}, wide{hi: 16}},
			},
		},
		"small tasks, very often": {
			[]task{{1 << 14, 1 << 15, 1 << 38}},
			Rate{
				cases: 1 << 38, n: 1 << 53, yes: 1 << 52, failing: 1 << 38, succeeding: 1 << 38, most: 1 << 15,
				m: moments{wide{hi: 4}, wide{hi: 8}, wide{hi: 16}},
			},
		},
	} {
		var one, many Rate
		for _, x := range tc.tasks {
			many.AddTimes(x.yes, x.n, x.times)
			for range min(x.times, 4) {
				one.Add(x.yes, x.n)
			}
		}
		if many != tc.want {
			t.Errorf("%s: %+v, want %+v", name, many, tc.want)
		}
		if one != tc.want && tc.want.cases <= 4 {
			t.Errorf("%s, one by one: %+v, want %+v", name, one, tc.want)
		}
	}
}

// TestMeanSums states every sum that a Mean keeps.
func TestMeanSums(t *testing.T) {
	t.Parallel()
	type task struct {
		sum   int64
		n     int
		times uint64
	}
	squares := func(xx, xy, yy int64) moments {
		return moments{mul(xx*Scale, Scale), integer(xy * Scale), integer(yy)}
	}
	for name, tc := range map[string]struct {
		tasks []task
		want  Mean
	}{
		"no values": {[]task{{Scale, 0, 2}, {Scale, -1, 1}}, Mean{}},
		"not once":  {[]task{{Scale, 2, 0}}, Mean{}},
		"all": {
			[]task{{3 * Scale, 3, 2}},
			Mean{cases: 2, n: 6, sum: 6 * Scale, succeeding: 2, m: squares(18, 18, 18)},
		},
		"none": {[]task{{0, 3, 2}}, Mean{cases: 2, n: 6, failing: 2, m: squares(0, 0, 18)}},
		"whole": {
			[]task{{2 * Scale, 3, 2}},
			Mean{cases: 2, n: 6, sum: 4 * Scale, failing: 2, succeeding: 2, m: squares(8, 12, 18)},
		},
		"limited": {
			[]task{{9 * Scale, 2, 1}, {-1, 1, 1}},
			Mean{cases: 2, n: 3, sum: 2 * Scale, failing: 1, succeeding: 1, m: squares(4, 4, 5)},
		},
		"a fraction, then a whole": {
			[]task{{Scale / 2, 2, 1}, {Scale, 1, 1}},
			Mean{
				cases: 2, n: 3, sum: Scale / 2 * 3, failing: 1, succeeding: 2, fractional: true,
				m: moments{mul(Scale/4*5, Scale), integer(2 * Scale), integer(5)},
			},
		},
	} {
		var one, many Mean
		for _, x := range tc.tasks {
			many.AddTimes(x.sum, x.n, x.times)
			for range x.times {
				one.Add(x.sum, x.n)
			}
		}
		if many != tc.want {
			t.Errorf("%s: %+v, want %+v", name, many, tc.want)
		}
		if one != tc.want {
			t.Errorf("%s, one by one: %+v, want %+v", name, one, tc.want)
		}
	}
}

// TestCountSums states every sum that a Count keeps.
func TestCountSums(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		events, attempts int64
		times            uint64
		want             Count
	}{
		"no attempts": {3, 0, 2, Count{}},
		"not once":    {3, 1, 0, Count{}},
		"no events": {
			0, 3, 2,
			Count{totals: totals{cases: 2, den: integer(6), m: moments{yy: integer(18)}}, differ: 2, k: 3},
		},
		"fewer than none": {
			-4, 3, 1,
			Count{totals: totals{cases: 1, den: integer(3), m: moments{yy: integer(9)}}, differ: 1, k: 3},
		},
		"one event": {
			1, 1, 1,
			Count{totals: totals{
				cases: 1, num: integer(1), den: integer(1),
				m: moments{integer(1), integer(1), integer(1)},
			}, having: 1, k: 1},
		},
		"events, many times": {
			2, 3, 5,
			Count{totals: totals{
				cases: 5, num: integer(10), den: integer(15),
				m: moments{integer(20), integer(30), integer(45)},
			}, having: 5, differ: 5, k: 3},
		},
		"alike": {
			6, 3, 2,
			Count{
				totals: totals{
					cases: 2, num: integer(12), den: integer(6),
					m: moments{integer(72), integer(36), integer(18)},
				}, having: 2, k: 3,
				less: totals{num: integer(8), den: integer(4), m: moments{integer(64), integer(32), integer(16)}},
			},
		},
	} {
		var got Count
		got.AddTimes(tc.events, tc.attempts, name == "alike", tc.times)
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestNothing: no task has no interval, whatever is divided by none.
func TestNothing(t *testing.T) {
	t.Parallel()
	var r Rate
	var m Mean
	var x Ratio
	var c Count
	var q Quantiles
	got := []stats.Status{
		r.Interval(conf, 0.3).Status, r.ByCase(conf).Status, m.Interval(conf, 0.3).Status, x.Interval(conf).Status,
		c.Interval(conf).Status, q.Intervals(conf, 0.5)[0].Status,
	}
	none := stats.StatusNoData
	if d := cmp.Diff([]stats.Status{none, none, none, none, none, none}, got); d != "" {
		t.Error(d)
	}
}

// TestInformativeBounds puts tasks at the bounds that the comment of Informative names.
func TestInformativeBounds(t *testing.T) {
	t.Parallel()
	// Half of the calls fail, and of each size by so many more or less.
	build := func(sizes, more []int) *Rate {
		var r Rate
		for i, n := range sizes {
			r.Add(n/2-more[i], n)
		}
		return &r
	}
	// retries are tasks of two sizes; the bigger ones have failures in excess.
	retries := func(tasks int) *Rate {
		var sizes, more []int
		for range tasks / 2 {
			sizes, more = append(sizes, 4, 8), append(more, -1, 1)
		}
		return build(sizes, more)
	}
	// Eight tasks of four calls and eight of six, so that the sizes vary by 16. Of the
	// bigger ones, six have a failure in excess and two one too few, of the smaller
	// ones the other way round: the excess varies by 16 and the correlation is
	// 8/16, and so is 2/sqrt(16).
	var sizes, more []int
	for i := range 8 {
		sizes = append(sizes, 4, 6)
		e := 1
		if i < 2 {
			e = -1
		}
		more = append(more, -e, e)
	}
	half := build(sizes, more)
	with := func(at, e int) *Rate {
		changed := slices.Clone(more)
		changed[at], changed[at+1] = -e, e
		return build(sizes, changed)
	}
	// The excess is so many times as big as the deviation of the size: its squares
	// are twice as many times the square of that the squares of calls and failures.
	slope := func(times int) *Rate {
		var r Rate
		for i := range 20 {
			step := 2*i - 19
			r.Add(1e10+(5e8-times)*step, 2e10+1e9*step)
		}
		return &r
	}
	for name, tc := range map[string]struct {
		rate *Rate
		want bool
	}{
		"eight tasks":                     {retries(8), false},
		"ten tasks":                       {retries(10), true},
		"the correlation at the bound":    {half, false},
		"the correlation below the bound": {with(4, 0), false}, // 6/sqrt(14*16)
		"the correlation above the bound": {with(0, 0), true},  // 10/sqrt(14*16)
		"an excess within the rounding":   {slope(200), false},
		"an excess beyond the rounding":   {slope(283), true},
	} {
		if got := tc.rate.Informative(); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// roundTrip reads what x writes, with nothing after it.
func roundTrip[T any, P sums[T]](t *testing.T, name string, x P) {
	t.Helper()
	b := x.AppendBinary(nil)
	var y T
	if rest, err := P(&y).Decode(b); err != nil || len(rest) > 0 {
		t.Errorf("%s: %v, rest %x", name, err, rest)
		return
	}
	if got := P(&y).AppendBinary(nil); !bytes.Equal(got, b) {
		t.Errorf("%s: read %x, wrote %x", name, b, got)
	}
}

func refused[T any, P sums[T]](t *testing.T, name string, x P) {
	t.Helper()
	if _, err := x.Decode(x.AppendBinary(nil)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%s: %v", name, err)
	}
}

// TestBytesAtBounds reads what is just allowed, and refuses what no longer is.
func TestBytesAtBounds(t *testing.T) {
	t.Parallel()
	square := func(hi uint64) *Ratio {
		return &Ratio{totals: totals{cases: 2, m: moments{xx: wide{hi: hi}}}}
	}
	roundTrip(t, "squares that leave room", square(1<<60-1))
	refused(t, "squares without room", square(1<<60))
	roundTrip(t, "no task", &Ratio{})
	refused(t, "cubes of no task", &Ratio{cubes: cubes{xxx: huge{lo: 1}}})
	refused(t, "cubes without room", &Ratio{totals: totals{cases: 1}, cubes: cubes{yyy: huge{hi: 1 << 60}}})
	var m Mean
	for range 1000 {
		m.Add(Scale/2*5, 3)
	}
	roundTrip(t, "a great sum", &m)
	m.sum = 3001 * Scale
	refused(t, "a sum above its values", &m)
	m.sum = -1 // the greatest number, as it is written
	refused(t, "a sum below 0", &m)

	for name, task := range map[string][]float64{
		"the greatest number": {math.MaxFloat64},
		"both ends":           {0, math.MaxFloat64},
		"greatest in between": {1, math.MaxFloat64, 2},
	} {
		var q, cut Quantiles
		q.Add(task, 0)
		roundTrip(t, name, &q)
		cut.Add(task, len(task))
		roundTrip(t, name+", cut off", &cut)
		cut.limit = math.Copysign(0, -1)
		refused(t, "cut off at -0", &cut)
		cut.limit = math.Inf(1)
		refused(t, "cut off at infinity", &cut)
		cut.limit = math.NaN()
		refused(t, "cut off at no number", &cut)
		b := q.AppendBinary(nil)
		if _, err := q.Decode(b[:len(b)-1]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s without its last byte: %v", name, err)
		}
	}
	// One task with two values: unchanged, and with its excess of the second bin moved to the
	// values cut off, which are none.
	two := bin{key: keyOf(1), n: 1, excess: excess{sm: 1}}
	var q Quantiles
	q.Add([]float64{1, 2}, 0)
	build := func(cases int64, bins []bin, cut bin) *Quantiles {
		x := &Quantiles{cases: cases, cut: cut}
		for _, b := range bins {
			x.table.add(b)
		}
		return x
	}
	second := bin{key: keyOf(2), n: 1, excess: excess{ss: 2, sm: 1}}
	asAdded := build(1, []bin{two, second}, bin{})
	if !bytes.Equal(asAdded.AppendBinary(nil), q.AppendBinary(nil)) {
		t.Error("a task of two values has other bins")
	}
	roundTrip(t, "two values", asAdded)
	refused(t, "sums of no value", build(1, []bin{two, {key: keyOf(2), n: 1}}, bin{excess: second.excess}))
	refused(t, "values of no task", build(0, []bin{{n: 1}}, bin{}))
	refused(t, "more tasks than values", build(2, []bin{{n: 1}}, bin{}))

	full := make([]bin, 1024)
	for i := range full {
		full[i] = bin{key: uint32(i), n: maxBin}
	}
	roundTrip(t, "2^53 values", build(maxCount, append(full, bin{key: 1024, n: 1024}), bin{}))
	refused(t, "more values", build(maxCount, append(full, bin{key: 1024, n: 1025}), bin{}))
	refused(t, "a bin of more", build(maxBin+1, []bin{{n: maxBin + 1}}, bin{}))
	// One task of 2^31-1 values in one bin has the square of them, just below 2^62.
	const s = 1<<31 - 1
	roundTrip(t, "a great task", build(1, []bin{{n: s, excess: excess{ss: s*s - s, sm: s*s - s}}}, bin{}))
	const o = 1 << 31
	refused(t, "a task too great", build(1, []bin{{n: o, excess: excess{ss: o*o - o, sm: o*o - o}}}, bin{}))
	refused(t, "sums that wrap", build(1, []bin{{n: 1, excess: excess{ss: math.MaxUint64}}}, bin{}))

	keys := func(steps ...uint64) []byte {
		b := []byte{byte(len(steps)), byte(len(steps))}
		for _, step := range steps {
			b = append(binary.AppendUvarint(b, step), 1, 0, 0)
		}
		return append(b, 0, 0, 0)
	}
	for name, tc := range map[string]struct {
		b    []byte
		want error
	}{
		"the last key":               {keys(maxKey), nil},
		"beyond the last key":        {keys(maxKey + 1), ErrCorrupt},
		"beyond it in two steps":     {keys(1, maxKey), ErrCorrupt},
		"a step around the end":      {keys(1, math.MaxUint64), ErrCorrupt},
		"the first key twice":        {keys(0, 0), ErrCorrupt},
		"the last key in two steps":  {keys(1, maxKey-1), nil},
		"more bins than are written": {append([]byte{1, 2}, keys(1)[2:]...), ErrCorrupt},
	} {
		var q Quantiles
		if rest, err := q.Decode(tc.b); !errors.Is(err, tc.want) || err == nil && len(rest) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCodes: every number has the bin of its key, next to where whole numbers end and
// next to 0 as well.
func TestCodes(t *testing.T) {
	t.Parallel()
	values := []float64{
		0, 5e-324, 1e-310, 7e-310, 1e-300, 0.3, 1, 1.0001, 1.5, 2, 63, 64, 64.001, 100, 1023.9, 1024, 2046.4, 2047,
		2047.4, 2048, 2048.4, 2050, 2052, 4096, 1e9, math.MaxFloat64,
	}
	var alone, halves Quantiles
	var tasks [][]float64
	for _, x := range values {
		tasks = append(tasks, []float64{x})
		alone.Add([]float64{x}, 0)
		var half Quantiles
		half.Add([]float64{x}, 0)
		halves.Merge(&half)
	}
	for name, q := range map[string]*Quantiles{"alone": &alone, "merged": &halves} {
		sameBins(t, name, naive(tasks), q)
		roundTrip(t, name, q)
	}
}

// sameBins holds the bins, in ascending order, against those of the definition.
func sameBins(t *testing.T, name string, want map[uint32]bin, q *Quantiles) {
	t.Helper()
	var sorted []bin
	for _, b := range want {
		sorted = append(sorted, b)
	}
	slices.SortFunc(sorted, func(a, b bin) int { return int(a.key) - int(b.key) })
	if got := q.table.bins(); !slices.Equal(got, sorted) {
		t.Errorf("%s: bins %v, want %v", name, got, sorted)
	}
	if n := q.table.size(); n < len(sorted) {
		t.Errorf("%s: room for %d bins of %d", name, n, len(sorted))
	}
}

// TestNumbersThatCount: which numbers are values, alone, among others and as parts.
func TestNumbersThatCount(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		x    float64
		want int
	}{
		{0, 1},
		{math.Copysign(0, -1), 1},
		{math.MaxFloat64, 1},
		{-5e-324, 0},
		{-1, 0},
		{math.Inf(1), 0},
		{math.Inf(-1), 0},
		{math.NaN(), 0},
	} {
		var alone, among, cut Quantiles
		alone.Add([]float64{tc.x}, 0)
		among.Add([]float64{tc.x, 3}, 0)
		cut.Add([]float64{3, tc.x}, 1)
		got := []int{alone.N(), alone.Cases(), among.N() - 1, cut.N() - 1}
		if d := cmp.Diff([]int{tc.want, tc.want, tc.want, tc.want}, got); d != "" {
			t.Errorf("%g: %s", tc.x, d)
		}
	}
	// 0 and -0 are equal: it does not matter which of them was cut off.
	var zero, minus Quantiles
	zero.Add([]float64{1, 0}, 1)
	minus.Add([]float64{1, math.Copysign(0, -1)}, 1)
	if !bytes.Equal(zero.AppendBinary(nil), minus.AppendBinary(nil)) {
		t.Error("0 and -0 have other sums")
	}
}

// TestWords: how much a word holds, and that nothing is lost where it is full, for whole
// numbers in the list and for others in the table, added, merged and read.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{7, 7.26} {
		const high = maxWord - 1
		for _, tc := range []struct {
			name      string
			n, merged uint64
			full      bool
			add       func(q *Quantiles, n int)
		}{
			{"added", high, 0, false, func(q *Quantiles, n int) {
				for range n {
					q.Add([]float64{x}, 0)
				}
			}},
			{"read", high, 0, false, func(q *Quantiles, n int) { q.table.add(bin{key: keyOf(x), n: uint64(n)}) }},
		} {
			var q, twice, thrice, read Quantiles
			tc.add(&q, int(tc.n))
			if len(q.table.big) != 0 {
				t.Errorf("%g %s: %d do not fit", x, tc.name, tc.n)
			}
			count := func(name string, q *Quantiles, want uint64) {
				t.Helper()
				if got := q.table.bins(); len(got) != 1 || got[0] != (bin{key: keyOf(x), n: want}) {
					t.Errorf("%g %s, %s: %v, want %d", x, tc.name, name, got, want)
				}
			}
			count("full", &q, tc.n)
			twice.table.merge(&q.table)
			if len(twice.table.big) != 0 || len(twice.table.low) != len(q.table.low) {
				t.Errorf("%g %s: merged into nothing, %d in %d words", x, tc.name, len(twice.table.big),
					len(twice.table.low))
			}
			twice.table.merge(&q.table)
			count("twice", &twice, 2*tc.n)
			thrice.table.merge(&twice.table)
			thrice.table.merge(&q.table)
			count("three times", &thrice, 3*tc.n)
			read.table.add(bin{key: keyOf(x), n: tc.n - 2})
			read.table.add(bin{key: keyOf(x), n: 2})
			count("read in two", &read, tc.n)
			if len(read.table.big) != 0 {
				t.Errorf("%g %s: %d do not fit when read in two", x, tc.name, tc.n)
			}
			tc.add(&q, 1)
			if len(q.table.big) != 1 {
				t.Errorf("%g %s: %d do fit", x, tc.name, tc.n+1)
			}
			count("and one", &q, tc.n+1)
			tc.add(&q, 1)
			count("and two", &q, tc.n+2)
		}
		var few, more Quantiles
		few.Add([]float64{x}, 0)
		more.Add([]float64{x}, 0)
		few.table.merge(&more.table)
		if got := few.table.bins(); len(got) != 1 || got[0].n != 2 || len(few.table.big) != 0 {
			t.Errorf("%g: one and one is %v", x, got)
		}
		// Merged to exactly what no longer fits, and one more.
		var a, b Quantiles
		a.table.add(bin{key: keyOf(x), n: maxWord - 1})
		b.table.add(bin{key: keyOf(x), n: 1})
		a.table.merge(&b.table)
		for range 2 {
			a.Add([]float64{x}, 0)
		}
		if got := a.table.bins(); len(got) != 1 || got[0].n != maxWord+2 {
			t.Errorf("%g: %v, want %d", x, got, maxWord+2)
		}
	}
	// What tasks add beyond one for each value: a word takes that of tasks of 256.
	for name, tc := range map[string]struct {
		b    bin
		fits bool
	}{
		"all as late as can be": {bin{n: 4, excess: excess{ss: 2 * 4 * 255, sm: 4 * 255}}, true},
		"later":                 {bin{n: 4, excess: excess{ss: 2*4*255 + 2, sm: 4 * 255}}, false},
		"among more":            {bin{n: 4, excess: excess{ss: 2 * 4 * 255, sm: 4*255 + 1}}, false},
		"an odd number":         {bin{n: 4, excess: excess{ss: 3, sm: 1}}, false},
		"none before":           {bin{n: 4, excess: excess{sm: 12}}, true},
		"many of a great task":  {bin{n: 1 << 20, excess: excess{ss: 1 << 40, sm: 1 << 40}}, false},
	} {
		tc.b.key = keyOf(5)
		var h histogram
		h.add(tc.b)
		if got := len(h.big) == 0; got != tc.fits {
			t.Errorf("%s: fits: %t", name, got)
		}
		h.add(tc.b)
		twice := tc.b
		twice.n, twice.ss, twice.sm = 2*twice.n, 2*twice.ss, 2*twice.sm
		if d := cmp.Diff([]bin{twice}, h.bins(), cmp.AllowUnexported(bin{}, excess{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	// Tasks of 256 values fit into words, those of 257 do not.
	for _, n := range []int{256, 257} {
		var q Quantiles
		task := make([]float64, n)
		q.Add(task, 0)
		if len(q.table.big) != n-256 {
			t.Errorf("%d values: spilled %d", n, len(q.table.big))
		}
		sameBins(t, fmt.Sprint(n), naive([][]float64{task}), &q)
	}
	// The greatest tasks that words take, as often as they take them.
	var q Quantiles
	var tasks [][]float64
	task := make([]float64, 300)
	for range 300 {
		tasks = append(tasks, task, task[:256])
		q.Add(task, 0)
		q.Add(task[:256], 0)
	}
	sameBins(t, "great tasks", naive(tasks), &q)
}

// TestGrows: the list grows to the whole numbers it sees, the table by lines, whichever
// comes first.
func TestGrows(t *testing.T) {
	t.Parallel()
	of := func(values ...float64) *Quantiles {
		var q Quantiles
		for _, x := range values {
			q.Add([]float64{x}, 0)
		}
		return &q
	}
	mixed := of(3, 64, 0.5, 70, 1e6, 128, 2047, 1e-9)
	sameBins(t, "mixed", naive([][]float64{{3}, {64}, {0.5}, {70}, {1e6}, {128}, {2047}, {1e-9}}), mixed)
	sameBins(t, "down", naive([][]float64{{64.5}, {64}, {63}, {128}}), of(64.5, 64, 63, 128))
	if n := len(of(0.5).table.low); n != 0 {
		t.Errorf("a fraction makes a list of %d whole numbers", n)
	}
	sameBins(t, "the first beyond the list", naive([][]float64{{63}, {64}}), of(63, 64))

	// Three quarters of the lines may be in use.
	var h histogram
	for i, want := range []int{4, 4, 4, 8, 8, 8, 16} {
		*h.at(wholes + uint32(i)<<lineBits) = word(1, 0, 0)
		if len(h.tags) != want {
			t.Errorf("%d lines in a table of %d, want %d", i+1, len(h.tags), want)
		}
	}
}
