// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/labels"
)

// TestDisagreementFirst: for the design of a judge, tasks on which verdicts disagree are drawn
// first; none of them is drawn for a calibration, by whoever, and none that was drawn at random for a
// calibration is drawn for the design.
func TestDisagreementFirst(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	var run []labels.CalibrationItem
	for i := range 40 {
		it := labels.CalibrationItem{Key: labels.Key{
			Target: []string{"m", "n"}[i%2], TaskID: fmt.Sprint("t", i/2),
			Unit: labels.Task,
		}, Auto: &yes}
		it.Judged = []labels.Verdict{{Judge: labels.Judge{Name: "j"}, Pass: &yes}}
		if i/2%5 == 0 {
			it.Judged[0].Pass = &no
		}
		run = append(run, it)
	}
	q := labels.Queue{Strategy: labels.Disagree, N: 8, By: "ana", Role: labels.Design, Seed: 1}
	design, err := q.Next(run, nil)
	if err != nil || len(design) != 8 {
		t.Fatal(design, err)
	}
	used := map[string]bool{}
	disputed := 0
	for i := range design {
		l := &design[i]
		used[l.TaskID] = true
		l.Pass = &yes
		if l.Role != labels.Design || l.Stratum != labels.Disagreement {
			t.Errorf("%+v", l)
		}
		if !*l.Judged[0].Pass {
			disputed++
		}
	}
	if disputed != 8 { // t0, t5, t10, t15 of two targets
		t.Errorf("%d of 8 tasks are those on which verdicts disagree", disputed)
	}
	for _, by := range []string{"ana", "bob"} {
		drawn, err := labels.Queue{
			Strategy: labels.AtRandom, N: 100, Double: 1, By: by, Role: labels.Calibrating,
			Seed: 1,
		}.Next(run, design)
		if err != nil || len(drawn) != 2*(20-len(used)) {
			t.Errorf("%s: %d are drawn for the calibration, %v", by, len(drawn), err)
		}
		for _, l := range drawn {
			if used[l.TaskID] {
				t.Errorf("%s was used for the design", l.Key)
			}
		}
	}
	at, err := labels.Queue{
		Strategy: labels.AtRandom, N: 5, By: "ana", Role: labels.Calibrating,
		Seed: 1,
	}.Next(run, nil)
	if err != nil {
		t.Fatal(err)
	}
	more, err := labels.Queue{Strategy: labels.Disagree, N: 100, By: "bob", Role: labels.Design}.Next(run, at)
	if err != nil || len(more) == 0 {
		t.Fatal(more, err)
	}
	for _, l := range more {
		for _, c := range at {
			if l.TaskID == c.TaskID {
				t.Errorf("%s was used for the calibration", l.Key)
			}
		}
	}
	if _, err := (labels.Queue{Strategy: labels.Disagree, N: 5, Role: labels.Calibrating}).Next(run, nil); err == nil {
		t.Error("tasks on which verdicts disagree are drawn for a calibration")
	}
}

// TestDesignIsLeftOut: labels for the design change no estimate, whatever their verdict, and the
// report counts them.
func TestDesignIsLeftOut(t *testing.T) {
	t.Parallel()
	clean := lines("c", 30, 3, 20, 2, `,"stratum":"random"`)
	design := lines("d", 1, 20, 1, 20, `,"role":"design","stratum":"disagreement"`)
	leaked := strings.ReplaceAll(lines("d", 2, 0, 0, 0, `,"stratum":"random"`), `"ana"`, `"bob"`)
	want := reported(t, clean, nil)
	r := reported(t, clean+design+leaked, nil)
	if r.Table != want.Table || r.Counts.Labelled != want.Counts.Labelled || r.Check != nil {
		t.Errorf("table %+v, want %+v", r.Table, want.Table)
	}
	if r.Counts.Designed != 42 || r.Counts.DesignLeaked != 2 ||
		!strings.Contains(strings.Join(r.Warnings, "\n"),
			"42 labelled tasks are left out: their tasks were labelled to design the judge") ||
		!strings.Contains(strings.Join(r.Warnings, "\n"), "2 of these have a label for calibration") {
		t.Errorf("%+v %v", r.Counts, r.Warnings)
	}
}

// drawn is a table of labels of a judge with some sensitivity and specificity.
func drawn(rng *rand.Rand, n int, sens, spec float64) (tp, fn, tn, fp int) {
	for range n {
		switch truth, p := rng.Float64() < 0.6, rng.Float64(); {
		case truth && p < sens:
			tp++
		case truth:
			fn++
		case p < spec:
			tn++
		default:
			fp++
		}
	}
	return
}

// TestDrift: with 200 labels each, a judge with a specificity that fell by 30 points is found to
// have drifted in 95 of 100 samples, and one that is the same in 5 at most. Only labels that are
// newer than the calibration count.
func TestDrift(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	of := func(prefix, at string, tp, fn, tn, fp int) string {
		return lines(prefix, tp, fn, tn, fp, `,"stratum":"random","at":"`+at+`"`)
	}
	for _, tc := range []struct {
		spec        float64
		least, most int
	}{{0.9, 0, 2}, {0.6, 38, 40}} {
		found := 0
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 5))
			a, b, c, d := drawn(rng, 200, 0.9, 0.9)
			old := of("old", "2026-02-01T00:00:00Z", a, b, c, d)
			before := reported(t, old, nil).Calibration("old.jsonl", made)
			a, b, c, d = drawn(rng, 200, 0.9, tc.spec)
			ls, _ := read(t, old+of("new", "2026-04-01T00:00:00Z", a, b, c, d))
			r, err := labels.Calibrate(labels.CalibrationInput{Judge: "j", Labels: ls, Before: &before})
			if err != nil {
				t.Fatal(err)
			}
			if r.Drift.Table != (labels.AgreementTable{TruePass: a, FalseFail: b, TrueFail: c, FalsePass: d}) {
				t.Fatalf("fresh labels: %+v", r.Drift)
			}
			if r.Drift.Drifted {
				found++
				if r.Usable || !strings.Contains(r.Drift.Says, "have changed since 2026-03-01") {
					t.Errorf("drifted, and usable %v: %s", r.Usable, r.Drift.Says)
				}
			}
		}
		t.Logf("specificity 0.9, then %g: drift in %d of 40", tc.spec, found)
		if found < tc.least || found > tc.most {
			t.Errorf("specificity 0.9, then %g: drift is found in %d of 40, want %d to %d", tc.spec, found,
				tc.least, tc.most)
		}
	}
	before := reported(t, lines("o", 30, 3, 20, 2, ""), nil).Calibration("f", made)
	ls, _ := read(t, lines("n", 30, 3, 20, 2, ""))
	r, err := labels.Calibrate(labels.CalibrationInput{Judge: "j", Labels: ls, Before: &before})
	if err != nil || !r.Drift.Undated || r.Drift.Drifted || !strings.Contains(r.Drift.Says, "no label has a time") {
		t.Errorf("labels without a time: %v, %+v", err, r.Drift)
	}
}

// TestWanted: with as many labels as are reported to be needed, at the same rates, the intervals
// have the width, and with a tenth less one has not.
func TestWanted(t *testing.T) {
	t.Parallel()
	ls, _ := read(t, lines("c", 45, 5, 40, 10, ""))
	r, err := labels.Calibrate(labels.CalibrationInput{Judge: "j", Labels: ls, Width: 0.1})
	if err != nil || r.Wanted.Labels <= 100 || r.Wanted.More != r.Wanted.Labels-100 {
		t.Fatal(err, r.Wanted)
	}
	width := func(n int) float64 {
		k := n / 100
		with, _ := read(t, lines("c", 45*k, 5*k, 40*k, 10*k, ""))
		w, err := labels.Calibrate(labels.CalibrationInput{Judge: "j", Labels: with})
		if err != nil {
			t.Fatal(err)
		}
		return max(w.Sensitivity.Upper-w.Sensitivity.Lower, w.Specificity.Upper-w.Specificity.Lower)
	}
	up := (r.Wanted.Labels/100 + 1) * 100
	if width(up) > 0.1 || width(r.Wanted.Labels*9/10/100*100) <= 0.1 {
		t.Errorf("%d labels: widths %v and %v", r.Wanted.Labels, width(up), width(r.Wanted.Labels*9/10/100*100))
	}
	one, _ := read(t, lines("c", 5, 1, 0, 0, ""))
	if r, err = labels.Calibrate(labels.CalibrationInput{Judge: "j", Labels: one, Width: 0.1}); err != nil ||
		r.Wanted.Labels != 0 || !strings.Contains(r.Wanted.Says, "is not known") {
		t.Error(err, r.Wanted)
	}
}
