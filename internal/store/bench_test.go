// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store_test

import (
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
)

func BenchmarkAppend(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "x.db"), store.Options{})
	r := newRun(b, db, suite(1), "")
	batch := make([]callvet.Cell, 0, 512)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if batch = append(batch, full(i, 0, 0)); len(batch) == cap(batch) {
			if err := db.AppendCells(b.Context(), r.ID, batch, nil); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
}

func BenchmarkCells(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "x.db"), store.Options{})
	r := newRun(b, db, suite(1), "")
	const n = 5000
	var cells []callvet.Cell
	for i := range n {
		cells = append(cells, full(i, 0, 0))
	}
	if err := db.AppendCells(b.Context(), r.ID, cells, nil); err != nil {
		b.Fatal(err)
	}
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if got := collect(b, db, r.ID, store.Filter{}); len(got) != n {
				b.Fatal(len(got))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/cell")
	})
	b.Run("done", func(b *testing.B) {
		for b.Loop() {
			for _, err := range db.DoneCells(b.Context(), r.ID) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/cell")
	})
}

// BenchmarkCases reads cases of a suite of 25,000 one after the other, and here and there as a page
// of sorted attempts does.
func BenchmarkCases(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "x.db"), store.Options{})
	const n = 25_000
	hash, err := db.PutSuite(b.Context(), suite(n))
	if err != nil {
		b.Fatal(err)
	}
	for name, step := range map[string]int{"in order": 1, "scattered": 257 * 3} {
		b.Run(name, func(b *testing.B) {
			_, cases, err := db.OpenSuite(b.Context(), hash)
			if err != nil {
				b.Fatal(err)
			}
			for i := 0; b.Loop(); i++ {
				if _, err := cases.Case(i * step % n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
