// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTimes: so many that are alike are as many added one by one.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, times := range []uint64{0, 1, 2, 77, 1000} {
		var rate, rates Rate
		var mean, means Mean
		var count, counts Count
		for range times {
			rate.Add(3, 5)
			mean.Add(Scale/3, 2)
			count.Add(7, 3, false)
		}
		rates.AddTimes(3, 5, times)
		means.AddTimes(Scale/3, 2, times)
		counts.AddTimes(7, 3, false, times)
		if rate != rates || mean != means || count != counts {
			t.Errorf("%d times: %v %v, %v %v, %v %v", times, rate, rates, mean, means, count, counts)
		}
	}
}

// naive counts bins task by task, as they are defined.
func naive(tasks [][]float64) map[uint32]bin {
	out := map[uint32]bin{}
	for _, task := range tasks {
		keys := make([]uint32, len(task))
		for i, x := range task {
			keys[i] = keyOf(x)
		}
		slices.Sort(keys)
		m := uint64(len(keys))
		for i := 0; i < len(keys); {
			a := uint64(i)
			for ; i < len(keys) && keys[i] == keys[a]; i++ {
			}
			b, o := uint64(i), out[keys[a]]
			out[keys[a]] = bin{keys[a], o.n + b - a, excess{o.ss + b*b - a*a - (b - a), o.sm + (b-a)*m - (b - a)}}
		}
	}
	return out
}

// TestDefinition: whether bins outgrow their words or not, the sums are those of the
// definition, also merged and read.
func TestDefinition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	var tasks [][]float64
	for i := range 3000 {
		task := make([]float64, 1+r.IntN(6))
		if i%500 == 0 {
			task = make([]float64, 200+r.IntN(300))
		}
		for j := range task {
			task[j] = float64(r.IntN(40)) // few bins, which overflow
		}
		for range 60 {
			tasks = append(tasks, task)
		}
	}
	var one, merged Quantiles
	var half [2]Quantiles
	for i, task := range tasks {
		one.Add(task, 0)
		half[i%2].Add(task, 0)
	}
	merged.Merge(&half[0])
	merged.Merge(&half[1])
	if len(one.table.big) == 0 {
		t.Fatal("no bin has outgrown its word: the test tests nothing")
	}
	want := naive(tasks)
	got := one.table.bins()
	if len(got) != len(want) {
		t.Errorf("%d bins, not %d", len(got), len(want))
	}
	for _, b := range got {
		if b != want[b.key] {
			t.Errorf("%v, not %v", b, want[b.key])
		}
	}
	bytesOf := one.AppendBinary(nil)
	var read Quantiles
	if rest, err := read.Decode(bytesOf); err != nil || len(rest) > 0 {
		t.Fatal(err)
	}
	for name, q := range map[string]*Quantiles{"merged": &merged, "read": &read} {
		if !bytes.Equal(q.AppendBinary(nil), bytesOf) || q.N() != one.N() || q.Cases() != one.Cases() {
			t.Errorf("%s: other sums", name)
		}
	}
}
