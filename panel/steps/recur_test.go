// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestStepsTwice: lines of one call count once, in rates, findings and pairs of tools, also where they
// are in different parts; lines that contradict each other do not count, and are named.
func TestStepsTwice(t *testing.T) {
	t.Parallel()
	type line struct {
		turn     int
		id       string
		args     uint64
		corrects bool
		attempt  int
	}
	long := make([]line, 100)
	for i := range long {
		long[i] = line{0, fmt.Sprint("c", i), uint64(i + 1), false, 0}
	}
	type sums struct {
		Calls, Failing, Agreed, Copies, Corrected int64
		Conflicts                                 []Conflict
	}
	for name, tt := range map[string]struct {
		lines []line
		want  sums
	}{
		"calls": {[]line{{0, "a", 1, false, 0}, {0, "b", 1, false, 0}}, sums{2, 2, 2, 0, 0, nil}},
		"copies": {
			[]line{{0, "a", 1, false, 0}, {0, "a", 1, false, 0}, {0, "a", 1, false, 0}},
			sums{1, 1, 1, 2, 0, nil},
		},
		"without ids": {[]line{{0, "", 1, false, 0}, {0, "", 1, false, 0}}, sums{2, 2, 2, 0, 0, nil}},
		"other turns": {
			[]line{{0, "a", 1, false, 0}, {1, "a", 1, false, 0}, {-1, "a", 2, false, 0}},
			sums{3, 3, 3, 0, 0, nil},
		},
		"other attempts": {[]line{{0, "a", 1, false, 0}, {0, "a", 2, false, 1}}, sums{2, 2, 2, 0, 0, nil}},
		"a contradiction": {
			[]line{{0, "a", 1, false, 0}, {0, "b", 1, false, 0}, {0, "a", 2, false, 0}},
			sums{1, 1, 1, 0, 0, []Conflict{{3, 1, true}}},
		},
		"corrected": {
			[]line{{0, "a", 1, false, 0}, {0, "b", 1, false, 0}, {0, "a", 2, true, 0}},
			sums{2, 2, 2, 0, 1, nil},
		},
		"many":                {long, sums{100, 100, 100, 0, 0, nil}},
		"many, and two again": {append(append([]line{}, long...), long[7], long[99]), sums{100, 100, 100, 2, 0, nil}},
	} {
		for _, parts := range []bool{false, true} {
			fill := func(lines []line, from int) *Sheet {
				s := New(Config{Partial: parts})
				w := s.Worker()
				b := w.Batch()
				for i, l := range lines {
					st := Step{
						Head: &Head{
							Line: int64(from + i + 1), TaskID: []byte("t"), CallID: []byte(l.id),
							Attempt: l.attempt, AcceptMS: -1, QueueMS: -1, ExecMS: 5,
						}, Tool: []byte("f"), Args: l.args,
						Turn: l.turn, Corrects: l.corrects,
					}
					st.Score.Set(callvet.StepExecuted, false)
					st.Score.Set(callvet.StepNeeded, true)
					st.Score.Set(callvet.StepSelection, true)
					st.Score.Set(callvet.StepInBudget, true)
					w.Step(b, &st)
				}
				s.Give(0, b, func(*Batch) {})
				s.Take(w, 0, 1)
				s.Read(Source{Name: "f", Lines: int64(len(lines))})
				s.Close()
				return s
			}
			s := fill(tt.lines, 0)
			if parts {
				s = New(Config{})
				for i, part := range [][]line{tt.lines[:1], tt.lines[1:]} {
					if _, err := s.Merge(fill(part, 0).AppendPartial(nil, nil)); err != nil {
						t.Fatal(i, err)
					}
				}
			}
			all := s.settled()
			p := s.Panels()
			got := sums{
				Calls: int64(all.slices[0].rates[callvet.StepExecuted].N()), Copies: all.duplicates.copies,
				Corrected: all.duplicates.corrected, Conflicts: all.duplicates.first,
			}
			for _, f := range p.Findings {
				if f.Code == "S4" {
					got.Failing = int64(f.Count)
				}
			}
			for _, c := range p.Targets[0].Confusion {
				got.Agreed += int64(c.N)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("%s, in parts %v: %s", name, parts, d)
			}
			if w := strings.Join(p.Warnings, "\n"); strings.Contains(w,
				"copies of earlier ones of their calls") != (got.Copies > 1) {
				t.Errorf("%s: %s", name, w)
			}
		}
	}
}
