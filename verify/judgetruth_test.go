// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/verify/proof"
)

// TestEnoughHeld: 95 of 100 are enough, 94 are not, and 0 of 0 are not.
func TestEnoughHeld(t *testing.T) {
	t.Parallel()
	for held, want := range map[int]bool{100: true, 95: true, 94: false, 0: false} {
		if got := (&tried{corrected: 100, held: held}).enough(); got != want {
			t.Errorf("%d of 100: %v", held, got)
		}
	}
	if (&tried{}).enough() {
		t.Error("nothing was corrected")
	}
}

// TestCompareWithTruth: for a judge that passes half of the true failures, the table reports that the
// corrected interval contains the truth in every division, and the judged interval in none.
func TestCompareWithTruth(t *testing.T) {
	t.Parallel()
	var ls []labels.Label
	for i := range 400 {
		truth, passes := i%2 == 0, i%4 != 1
		ls = append(ls,
			taskLabel(fmt.Sprint("t", i), truth, labels.Verdict{Judge: labels.Judge{Name: "easy"}, Pass: &passes}))
	}
	b := judgeTruth{"easy", ls}
	for _, design := range designs() {
		got, err := b.try(design, 4)
		if err != nil || got.corrected != 4 || got.held != 4 || got.judgedToo != 0 {
			t.Errorf("%s: %+v %v", design, got, err)
		}
		if got.first == nil || got.first.Design != design || design == labels.Internal && got.truth != 0.5 {
			t.Errorf("%s: %+v", design, got)
		}
	}
	var out bytes.Buffer
	c := proof.New(&out, "judges", "", nil)
	if err := compareWithTruth(c, "made up", []judgeTruth{b}, 4); err != nil || !c.Close() ||
		strings.Count(out.String(), "4 of 4, judged 0") != 4 {
		t.Errorf("%v\n%s", err, &out)
	}
}
