// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// TestRecordsTwice: a second record of an attempt is not lost in silence, nor on
// the way through partial results.
func TestRecordsTwice(t *testing.T) {
	t.Parallel()
	fill := func(cfg Config, attempts ...int) *Sheet {
		s := New(cfg)
		w := s.Worker()
		b := w.Batch()
		for i, n := range attempts {
			w.Task(b, &Task{
				Line: int64(i + 1), Content: uint64(i + 1), Corrects: i > 0, ID: []byte("t"), Attempt: n,
				Tags: value.Value{}, Fields: value.Value{}, Pass: i % 2,
				InputTokens: -1, OutputTokens: -1, ReasoningTokens: -1, CostUSD: -1, WallMS: -1,
			})
		}
		s.Give(0, b, func(*Batch) {})
		s.Take(w, 0, 1)
		s.Read(Source{Name: "f", Lines: int64(len(attempts))})
		s.Close()
		return s
	}
	warnings := func(s *Sheet) string { return strings.Join(s.Panels().Warnings, "\n") }
	once := fill(Config{}, 0, 1, 2, 3)
	if w := warnings(once); strings.Contains(w, "correct") {
		t.Error(w)
	}
	if m := once.Panels().Targets[0].Overall.Metric("pass^3"); m == nil || m.Interval.N != 1 { // each k up to 4
		t.Errorf("%+v", m)
	}
	const want = "2 task records correct an earlier one"
	if w := warnings(fill(Config{}, 0, 0, 1, 0)); !strings.Contains(w, want) {
		t.Error(w)
	}
	half := fill(Config{Partial: true}, 0, 0).AppendPartial(nil, nil)
	cfg, err := ReadConfig(half, Config{})
	if err != nil {
		t.Fatal(err)
	}
	sum := New(cfg)
	for range 2 { // the same part twice
		if _, err := sum.Merge(half); err != nil {
			t.Fatal(err)
		}
	}
	if w := warnings(sum); !strings.Contains(w, "2 task records are copies of earlier ones and count once") ||
		!strings.Contains(w, "1 task record corrects") || sum.Panels().Duplicates != 2 {
		t.Error(w)
	}
}

// TestNoSpreadIsNotCertainty: where all keys of all calls are wrong, or right, the
// data still allow others.
func TestNoSpreadIsNotCertainty(t *testing.T) {
	t.Parallel()
	for _, hits := range []uint16{0, 2} {
		ids := make([]string, 40)
		for i := range ids {
			ids[i] = fmt.Sprint(i / 2)
		}
		p := fill(Config{}, ids, func(int) callvet.StepScore {
			s := executed(true)
			s.Set(callvet.StepArgEM, hits == 2)
			s.Matched, s.Expected, s.Emitted = hits, 2, 2
			return s
		}).Panels()
		m := p.Targets[0].Overall.Metric("arg_f1_micro")
		if m == nil || m.Interval.N != 160 || m.Interval.Clusters != 20 || m.Interval.Upper-m.Interval.Lower < 0.05 ||
			len(m.Warnings) == 0 {
			t.Errorf("hits %d: %+v", hits, m)
		}
	}
}
