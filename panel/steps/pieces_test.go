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
	"github.com/callvet/callvet/panel/tally"
)

// TestPieces: it does not matter in which pieces the lines of tasks come, be it one by one
// between those of other tasks or more at once than stay in a box, nor that memory of tasks that
// were folded is used again.
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
				Head: &Head{TaskID: fmt.Append(nil, "t", task), AcceptMS: float64(r.IntN(900)), QueueMS: -1, ExecMS: float64(r.IntN(300))},
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
	told := func(size int) string {
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
	want := told(1)
	for _, size := range []int{7, 100, 1000, len(lines)} {
		if got := told(size); got != want {
			t.Errorf("batches of %d lines give other panels", size)
		}
	}
	slices.SortStableFunc(lines, func(a, b *Step) int { return bytes.Compare(a.TaskID, b.TaskID) })
	if got := told(len(lines)); got != want {
		t.Error("tasks in one piece give other panels")
	}
}

// TestBoxes: tasks of which only a record comes now and then keep no boxes of others' steps.
func TestBoxes(t *testing.T) {
	t.Parallel()
	s := New(Config{Window: 16 * 64})
	w := s.Worker()
	b, kept := w.Batch(), 0
	line := func(id string) {
		w.Step(b, &Step{Head: &Head{Line: 1, TaskID: []byte(id), AcceptMS: -1, QueueMS: -1, ExecMS: -1}, Tool: []byte("x"), Score: executed(true)})
	}
	for i := range 3000 {
		if i%8 == 0 && kept < 300 {
			line(fmt.Sprint("kept", kept))
			kept++
		}
		for range 60 {
			line(fmt.Sprint("t", i))
		}
		if i%100 != 0 {
			continue
		}
		for k := range kept {
			w.Task(b, &Task{Line: 1, ID: fmt.Append(nil, "kept", k), Attempt: i, Pass: 1, CostUSD: -1, WallMS: -1})
		}
		s.Give(int64(i/100), b, func(*Batch) {})
		s.Take(w, 0, 1)
	}
	boxes, open := map[*tally.Box[step]]bool{}, 0
	for i := range s.parts {
		p := s.parts[i].tasks
		for n := p.window.Oldest(); n != 0; n = p.window.Next(n) {
			boxes[p.tasks.At(n).box] = true
			open += one(p.tasks.At(n).name()[0] == 'k')
		}
	}
	if len(boxes) > 150 || open != 300 {
		t.Errorf("%d boxes, %d of these tasks are open", len(boxes), open)
	}
}

// TestRoomy: tasks of a few lines do not keep the boxes of one that goes on for long, and these
// are used again.
func TestRoomy(t *testing.T) {
	t.Parallel()
	s := New(Config{Window: 16 * 64})
	w := s.Worker()
	b, short := w.Batch(), 0
	line := func(id string) {
		w.Step(b, &Step{Head: &Head{Line: 1, TaskID: []byte(id), AcceptMS: -1, QueueMS: -1, ExecMS: -1}, Tool: []byte("x"), Score: executed(true)})
	}
	used := map[*tally.Box[step]]bool{}
	for i := range 50 {
		for range 3000 {
			line("long")
		}
		used[b.in] = true
		for range 20 {
			line(fmt.Sprint("step", short))
			w.Task(b, &Task{Line: 1, ID: fmt.Append(nil, "record", short), Pass: 1, CostUSD: -1, WallMS: -1})
			short++
		}
		s.Give(int64(i), b, func(*Batch) {})
		s.Take(w, 0, 1)
	}
	steps, held := 0, map[*tally.Box[step]]bool{}
	for i := range s.parts {
		p := s.parts[i].tasks
		for n := p.window.Oldest(); n != 0; n = p.window.Next(n) {
			if o := p.tasks.At(n); o.box != nil && !held[o.box] {
				held[o.box] = true
				steps += cap(o.box.Things)
			}
		}
	}
	if steps > 50*partitions*64 || len(used) > 1 {
		t.Errorf("boxes with room for %d steps are kept, %d were used for the long task", steps, len(used))
	}
}
