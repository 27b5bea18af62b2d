// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/verify/proof"
)

// modelAt returns a model that passes n of 1,000 cases.
func modelAt(name string, passes int) recordedModel {
	m := recordedModel{name: name, passed: make([]float64, 1000), mean: float64(passes) / 1000}
	for i := range passes {
		m.passed[i] = 1
	}
	return m
}

// TestUntilDecides: models far off are decided soon and rightly, and all decisions that are due are
// counted.
func TestUntilDecides(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := proof.New(&out, "until", part, nil)
	u := untilCheck{c, []recordedModel{modelAt("good", 990), modelAt("bad", 500), modelAt("worse", 470)}}
	all := band{0, 1}
	u.bound(0.8, band{0.005, 0.1}, band{0.005, 0.1})
	u.margin(0.05, all, band{0, 1}, all)
	for subject, want := range map[string]int{"bound 0.8": 30, "margin 0.05": 2000, "figures": 6} {
		if agree, compared, due := c.Tally(subject); agree < want*39/40 || compared != want || due != want {
			t.Errorf("%s: %d of %d agree, %d due, want %d\n%s", subject, agree, compared, due, want, out.String())
		}
	}
	if !c.Close() {
		t.Error(out.String())
	}
}

// TestUntilWrong: as many wrong decisions as the error rate allows are explained, and more are not.
func TestUntilWrong(t *testing.T) {
	t.Parallel()
	rule, _ := gate.Bounded(gate.AtLeast, 0.8)
	good := modelAt("good", 1000)
	order := make([]int, 1000)
	for wrong, want := range map[int]bool{0: true, 2: true, 3: false} {
		c := proof.New(io.Discard, "until", part, nil)
		c.Due("bound", 100, "the test")
		var a askedGates
		for i := range 100 {
			a.add(fmt.Sprint(i), askUntil(rule, good.passed, order), gate.Decision{Verdict: gate.Pass}, 1000,
				i >= wrong, false)
		}
		(&untilCheck{c: c}).close("bound", &a)
		if got := c.Close(); got != want || len(a.wrong) != wrong {
			t.Errorf("%d wrong decisions of 100: %d counted, the check holds: %t", wrong, len(a.wrong), got)
		}
	}
}

// TestRecordedModels: the verdicts of all models are read in one order, and their counts are compared
// with the published ones.
func TestRecordedModels(t *testing.T) {
	t.Parallel()
	const outputs = "sets/bfcl_v1_2024-08/" + part + "/outputs/"
	for name, tc := range map[string]struct {
		change func(tr tree)
		ok     bool
	}{
		"whole":         {func(tree) {}, true},
		"no model":      {func(tr tree) { delete(tr, outputs+"second.jsonl") }, false},
		"a case less":   {func(tr tree) { tr[outputs+"second.jsonl"] = tr[outputs+"second.jsonl"][:150] }, false},
		"a case twice":  {func(tr tree) { tr[outputs+"first.jsonl"] += tr[outputs+"first.jsonl"] }, false},
		"other verdict": {func(tr tree) { tr[outputs+"first.jsonl"] = tr[outputs+"second.jsonl"] }, false},
	} {
		tr := bfclTree(t)
		tc.change(tr)
		p := tr.write(t)
		d, err := proof.Open(p.data, p.part)
		if err != nil {
			t.Fatal(err)
		}
		c := proof.New(io.Discard, "until", part, nil)
		models, err := recordedModels(c, d)
		c.Problem(err)
		if ok := c.Close(); ok != tc.ok {
			t.Errorf("%s: holds: %t, %v", name, ok, err)
		} else if ok && (len(models) != 2 || fmt.Sprint(models[1].passed) != "[0 1 0]" || models[1].mean*3 != 1) {
			t.Errorf("%s: %v", name, models)
		}
	}
}
