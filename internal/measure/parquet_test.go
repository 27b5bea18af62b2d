// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
)

func TestRowsComeBack(t *testing.T) {
	t.Parallel()
	var want []measure.ParquetRow
	for i := range 120_000 {
		var s callvet.StepScore
		s.Set(callvet.StepSchemaValid, i%3 != 0)
		if i%2 == 0 {
			s.Set(callvet.StepArgEM, i%4 == 0)
			s.Matched, s.Expected, s.Emitted = 1, 2, 3
		}
		ms := float64(i) / 8
		r := measure.ParquetRow{
			Line: int64(i + 1), Task: fmt.Sprint("t_", i/4), Call: fmt.Sprint("c", i), Tool: "pay",
			Version: "v2", ExecMS: &ms,
		}
		if i%5 == 0 {
			r.Tags, r.Fields = []string{"refunds", "es-AR"}, map[string]string{"language": "es"}
		}
		r.SetScore(s)
		want = append(want, r)
	}
	var b bytes.Buffer
	w := measure.NewParquetWriter(&b)
	for i := 0; i < len(want); i += 10_000 {
		if err := w.Write(want[i : i+10_000]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[measure.ParquetRow](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows of %d", len(got), len(want))
	}
	for _, i := range []int{0, 1, 2, 3, 5, 59_999, 119_999} {
		if d := cmp.Diff(want[i], got[i], cmpopts.EquateEmpty()); d != "" {
			t.Errorf("row %d (-want +got):\n%s", i, d)
		}
	}
	if got[1].ArgEM != nil {
		t.Error("an unknown measurement came back as known")
	}
}
