// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/callvet/callvet"
)

// TestPieces: the sizes of the pieces of lines do not matter, be it one by one between those of
// other tasks or all at once, nor that memory of tasks that were folded is used again.
func TestPieces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	var lines []*Step
	for task := range 3000 {
		n := 1 + r.IntN(6)
		if task%50 == 0 {
			n = 200
		}
		for range n {
			s := &Step{
				Head: &Head{
					TaskID: fmt.Append(nil, "t", task), AcceptMS: float64(r.IntN(900)), QueueMS: -1,
					ExecMS: float64(r.IntN(300)),
				},
				Tool: fmt.Append(nil, "tool", r.IntN(70), "@v", r.IntN(3)), Score: executed(r.IntN(3) > 0),
				Args: 1 + r.Uint64N(9), Result: 1 + r.Uint64N(2),
			}
			if r.IntN(50) == 0 {
				s.Score.Set(callvet.StepTimeout, true)
			}
			s.Attempt = 1 + r.IntN(2)
			if r.IntN(3) > 0 {
				s.Score.Set(callvet.StepArgEM, r.IntN(2) > 0)
				s.Score.Emitted, s.Score.Expected, s.Score.Matched = uint16(1+r.IntN(3)), uint16(1+r.IntN(1200)), 1
				s.Score.Union = max(s.Score.Emitted, s.Score.Expected) + uint16(r.IntN(2))
			}
			lines = append(lines, s)
		}
	}
	for i := range lines { // into the middle of tasks nearby
		if k := min(i+r.IntN(40), len(lines)-1); r.IntN(3) == 0 {
			lines[i], lines[k] = lines[k], lines[i]
		}
	}
	for i, s := range lines {
		s.Line = int64(i + 1)
	}
	render := func(size int) string {
		s := New(Config{Window: 16 * 40})
		w := s.Worker()
		batch := w.Batch()
		for i, l := range lines {
			w.Step(batch, l)
			if (i+1)%size == 0 || i+1 == len(lines) {
				s.Give(int64(i/size), batch, func(*Batch) {})
				s.Take(w, 0, 1)
			}
		}
		s.Read(Source{Name: "f", Lines: int64(len(lines))})
		s.Settle(w, 0, 1)
		s.Close()
		b, err := json.Marshal(s.Panels())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := render(1)
	for _, size := range []int{7, 100, 1000, len(lines)} {
		if got := render(size); got != want {
			t.Errorf("batches of %d lines give other panels", size)
		}
	}
	slices.SortStableFunc(lines, func(a, b *Step) int { return bytes.Compare(a.TaskID, b.TaskID) })
	if got := render(len(lines)); got != want {
		t.Error("tasks in one piece give other panels")
	}
}

// TestPartition compares the window of a partition with a list and a map, with places that collide.
func TestPartition(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 300} {
		r := rand.New(rand.NewPCG(8, 8))
		p, sums := newPartition(size), newSums(NewSliceNames(nil, nil))
		var want []uint64 // the longest silent first
		closed := map[uint64]uint64{}
		for i := range 30_000 {
			h := 1<<50 | r.Uint64N(9)<<40 | r.Uint64N(40)<<8 | r.Uint64N(3)
			o := p.touch(h, nil, nil)
			at := slices.Index(want, h)
			if (o == nil) != (at < 0) {
				t.Fatalf("%d is open: %v", h, o != nil)
			}
			switch {
			case o == nil:
				p.begin(h, nil, nil, 0, false)
				want = append(want, h)
			case r.IntN(2) == 0:
				want = append(slices.Delete(want, at, at+1), h)
			default:
				p.shut(o, sums)
				want = slices.Delete(want, at, at+1)
				closed[h>>8%uint64(len(p.closed))] = h
			}
			if p.shrink(sums); len(want) > size {
				closed[want[0]>>8%uint64(len(p.closed))] = want[0]
				want = want[1:]
			}
			if k := 1<<50 | r.Uint64N(40)<<8; (*p.place(k) == k) != (closed[k>>8%uint64(len(p.closed))] == k) {
				t.Fatal("closed, or not", k)
			}
			if i%100 > 0 {
				continue
			}
			var got []uint64
			for o := range p.silent() {
				got = append(got, o.hash)
			}
			if !slices.Equal(got, want) || len(p.open) != len(want) {
				t.Fatalf("%v are open, want %v", got, want)
			}
		}
		if n := len(slices.Collect(p.noted)); n != len(closed) {
			t.Errorf("%d are noted, not %d", n, len(closed))
		}
		p.empty()
		if len(p.open) > 0 || p.oldest != nil || p.newest != nil {
			t.Fatal("not empty")
		}
	}
}
