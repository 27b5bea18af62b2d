// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/stats/exact"
)

// TestFew: any calls of a task give the very sums, with times that are missing, equal
// or not whole.
func TestFew(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	var got Latencies
	var want exact.Quantiles
	var f Few
	for i := range 4000 {
		n := 1 + r.IntN(9)
		if i%100 == 0 {
			n = MaxFew
		}
		f.Reset(n)
		times := make([]float64, n)
		for k := range times {
			times[k] = float64(r.IntN(3000))
			switch r.IntN(20) * (i % 2) {
			case 1:
				times[k] = -1
			case 2:
				times[k] += r.Float64()
			}
			if times[k] >= 0 && times[k] < exact.Wholes && times[k] == float64(uint32(times[k])) {
				f.SetWhole(k, uint32(times[k]))
			} else {
				f.Set(k, times[k])
			}
		}
		for range 3 {
			calls, some := r.Uint64(), []float64{}
			if i%3 == 0 {
				calls = 1<<64 - 1
			}
			calls &= 1<<(n-1)<<1 - 1
			for k, x := range times {
				if calls>>k&1 == 1 {
					some = append(some, x)
				}
			}
			got.AddFew(&f, calls)
			want.Add(some, 0)
		}
		if p, ok := f.Alone(0); ok {
			got.One(p)
			want.Add(times[:1], 0)
		}
	}
	if !bytes.Equal(got.Quantiles().AppendBinary(nil), want.AppendBinary(nil)) {
		t.Error("other sums")
	}
}

// TestTrio: three kinds of times added at once give the very sums, also where many are equal, as
// high as whole ones go, or missing, and whatever was in the Trio before.
func TestTrio(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	highest := []float64{0, 1, 2, exact.Wholes - 2, exact.Wholes - 1, exact.Wholes, -1, 0.5}
	var got [3]Latencies
	var want [3]exact.Quantiles
	var trio Trio
	for i := range 20_000 {
		n, times := 1+r.IntN(10), [3][]float64{}
		for k := range trio {
			trio[k].Reset(n)
			for at := range n {
				x := highest[r.IntN(len(highest)-3*(i%4&1)-(i%4>>1))]
				times[k] = append(times[k], x)
				if x >= 0 && x < exact.Wholes && x == float64(int(x)) && r.IntN(50) > 0 {
					trio[k].SetWhole(at, uint32(x))
				} else {
					trio[k].Set(at, x)
				}
			}
		}
		for range 3 {
			calls := r.Uint64N(1 << n)
			trio.AddTo(&got[0], &got[1], &got[2], calls)
			for k := range want {
				var some []float64
				for at, x := range times[k] {
					if calls>>at&1 == 1 {
						some = append(some, x)
					}
				}
				want[k].Add(some, 0)
			}
		}
	}
	for k := range want {
		if !bytes.Equal(got[k].Quantiles().AppendBinary(nil), want[k].AppendBinary(nil)) {
			t.Error("other sums of", k)
		}
	}
}

// TestKinds: numbers stand for what they were given for, and nothing that is counted is lost
// when there are more kinds than are kept.
func TestKinds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 6))
	var k Kinds[uint64]
	k.Reset()
	var c Counts
	want, got := map[uint64]uint64{}, map[uint64]uint64{}
	drain := func() {
		c.Drain(func(n uint32, times uint64) { got[*k.At(n)] += times })
		k.Reset()
	}
	old := 0
	for range 300_000 {
		if k.Old() {
			old++
			drain()
		}
		x := 1 + r.Uint64N(300)*r.Uint64N(300)
		n := k.Known(x)
		if n == 0 {
			n = k.Keep(x, &x)
		}
		if *k.At(n) != x {
			t.Fatal(x, "is taken for", *k.At(n))
		}
		want[x]++
		if !c.Add(n) && !k.Count(&c, n) {
			got[*k.At(n)]++
		}
	}
	drain()
	if len(got) != len(want) || old == 0 {
		t.Fatal(len(got), len(want), old)
	}
	for x, n := range want {
		if got[x] != n {
			t.Fatal(x, got[x], n)
		}
	}
}
