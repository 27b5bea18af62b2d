// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats/exact"
)

// made is a call in a test: hashes of its arguments and of its result, 0 where they are not recorded.
type made struct {
	attempt      int
	tool         string
	args, result uint64
}

// calling puts the calls of one task into a Sheet.
func calling(calls ...made) *Sheet {
	s := New(Config{})
	w := s.Worker()
	b := w.Batch()
	for i, c := range calls {
		h := &Head{Line: int64(i + 1), TaskID: []byte("t"), Attempt: c.attempt, AcceptMS: -1, QueueMS: -1, ExecMS: 5}
		w.Step(b, &Step{Head: h, Tool: []byte(c.tool), Args: c.args, Result: c.result, Score: executed(true)})
	}
	s.Give(0, b, func(*Batch) {})
	s.Take(w, 0, 1)
	s.Read(Source{Name: "f", Lines: int64(len(calls))})
	s.Close()
	return s
}

// TestSteadiness: a call is compared with the first one of the same tool and arguments. Another
// result is unsteady; the same result in one attempt is a loop.
func TestSteadiness(t *testing.T) {
	t.Parallel()
	far := []made{{0, "f", 1, 1}}
	for i := range uint64(70) {
		far = append(far, made{0, "g", 100 + i, 1})
	}
	type counts struct{ Unsteady, Compared, Loops, Again int64 }
	for name, tt := range map[string]struct {
		calls []made
		want  counts
	}{
		"other arguments":          {[]made{{0, "f", 1, 1}, {0, "f", 2, 1}}, counts{}},
		"arguments of equal bits":  {[]made{{0, "f", 1, 1}, {0, "f", 1 + 1<<12, 1}}, counts{}},
		"the same again":           {[]made{{0, "f", 1, 1}, {0, "f", 1, 1}}, counts{0, 1, 1, 1}},
		"another result":           {[]made{{0, "f", 1, 1}, {0, "f", 1, 2}}, counts{1, 1, 0, 1}},
		"neither has a result":     {[]made{{0, "f", 1, 0}, {0, "f", 1, 0}}, counts{0, 0, 1, 1}},
		"the first has no result":  {[]made{{0, "f", 1, 0}, {0, "f", 1, 1}}, counts{0, 0, 0, 1}},
		"the second has no result": {[]made{{0, "f", 1, 1}, {0, "f", 1, 0}}, counts{0, 0, 0, 1}},
		"another tool":             {[]made{{0, "f", 1, 1}, {0, "g", 1, 1}}, counts{}},
		"another attempt":          {[]made{{0, "f", 1, 1}, {1, "f", 1, 2}}, counts{1, 1, 0, 0}},
		"no arguments recorded":    {[]made{{0, "f", 0, 1}, {0, "f", 0, 1}}, counts{}},
		"the first one counts":     {[]made{{0, "f", 1, 1}, {0, "f", 1, 2}, {0, "f", 1, 1}}, counts{1, 2, 1, 2}},
		"of two attempts":          {[]made{{0, "f", 1, 1}, {1, "f", 1, 2}, {1, "f", 1, 2}}, counts{2, 2, 1, 1}},
		"too far apart":            {append(far, made{0, "f", 1, 1}), counts{}},
	} {
		of := &calling(tt.calls...).settled().symptom(0).Of
		const unsteady, loops = 6, 9 // S7 and L1
		got := counts{of[unsteady].Count, of[unsteady].Of, of[loops].Count, of[loops].Of}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestStopped: the tool of a call ran where a result or a status shows it.
func TestStopped(t *testing.T) {
	t.Parallel()
	rejected := uint16(1 << callvet.StepRejected)
	for i, c := range []struct {
		step step
		want bool
	}{
		{step{}, true},
		{step{hashes: hashesOf(&Step{Head: &Head{}, Result: 1})}, false},
		{step{hashes: hashesOf(&Step{Head: &Head{}, Args: 1})}, true},
		{step{hashes: hashesOf(&Step{Head: &Head{}, Result: 1}), StepScore: callvet.StepScore{Known: rejected, True: rejected}}, true},
		{step{StepScore: callvet.StepScore{Known: rejected}}, false},
	} {
		if got := c.step.stopped(); got != c.want {
			t.Errorf("%d: %t", i, got)
		}
	}
}

// TestLosing adds attempts with as many calls as the others have on average, all good or all bad.
func TestLosing(t *testing.T) {
	t.Parallel()
	for _, good := range []bool{false, true} {
		l := losing{attempts: 2, of: 4, good: good}
		for n, want := range map[int][2]int{1: {1, 1}, 3: {1, 2}, 4: {1, 2}, 5: {1, 2}, 6: {2, 2}, 12: {3, 2}} {
			if each, times := l.calls(n); each != want[0] || int(times) != want[1] {
				t.Errorf("of %d calls: %d, %d times", n, each, times)
			}
		}
		for _, bad := range []bool{false, true} {
			var r exact.Rate
			if l.rate(&r, bad); r.N() != 0 {
				t.Errorf("a rate of nothing: %d", r.N())
			}
			for range 4 {
				r.Add(1, 2)
			}
			l.rate(&r, bad)
			want := 4. / 12
			if good != bad {
				want = 8. / 12
			}
			if iv := r.Interval(0.95, 0); r.N() != 12 || fmt.Sprintf("%.6f", iv.Point) != fmt.Sprintf("%.6f", want) {
				t.Errorf("good %t, bad %t: %d, %v, want %v", good, bad, r.N(), iv.Point, want)
			}
		}
		var x exact.Mean
		if l.mean(&x); x.N() != 0 {
			t.Errorf("a mean of nothing: %d", x.N())
		}
		for range 4 {
			x.Add(exact.Scale, 2)
		}
		l.mean(&x)
		want := map[bool]float64{false: 4. / 12, true: 8. / 12}[good]
		if iv := x.Interval(0.95, 0); x.N() != 12 || fmt.Sprintf("%.6f", iv.Point) != fmt.Sprintf("%.6f", want) {
			t.Errorf("good %t: %d, %v, want %v", good, x.N(), iv.Point, want)
		}
		var q exact.Quantiles
		if l.quantiles(&q); q.N() != 0 {
			t.Errorf("times of nothing: %d", q.N())
		}
		q.Add([]float64{5, 6}, 0)
		if l.quantiles(&q); q.N() != 3 {
			t.Errorf("%d times", q.N())
		}
	}
}

// TestLostOfParts: lost records of parts of a file are those of the file.
func TestLostOfParts(t *testing.T) {
	t.Parallel()
	part := func(lost int64) []byte {
		s := New(Config{Partial: true})
		s.Lose(lost)
		s.Close()
		return s.AppendPartial(nil, nil)
	}
	s := New(Config{})
	for _, lost := range []int64{3, 4} {
		if _, err := s.Merge(part(lost)); err != nil {
			t.Fatal(err)
		}
	}
	if s.lost != 7 {
		t.Errorf("%d lost", s.lost)
	}
}
