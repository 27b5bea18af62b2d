// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/labels"
)

// TestBySlice: a value counts by its own rates where it has the labels and the judge
// is shown to differ, by those of all labels elsewhere; labels of its own tasks of
// the run are used directly.
func TestBySlice(t *testing.T) {
	t.Parallel()
	// The judge is good in English, passes most fails in Swedish, and is unknown in Danish.
	text := lines("en", 38, 2, 38, 2, `,"stratum":"random"`) + lines("sv", 30, 2, 12, 28, `,"stratum":"random"`) +
		lines("da", 4, 0, 2, 1, `,"stratum":"random"`)
	ls, problems := read(t, text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	of := func(k labels.Key) []string {
		if k.TaskID == "nowhere" {
			return nil
		}
		return []string{k.TaskID[:2]}
	}
	judge := ls[0].Judged[0].Judge
	var run []labels.Judgement
	for _, lang := range []string{"en", "sv", "da"} {
		for i := range 100 {
			pass := i < 80
			run = append(run, labels.Judgement{
				Key:         labels.Key{TaskID: fmt.Sprint(lang, "-run", i), Unit: labels.Task},
				Fingerprint: outputOf(fmt.Sprint(lang, "-run", i)), Verdict: labels.Verdict{Judge: judge, Pass: &pass},
			})
		}
	}
	in := labels.CalibrationInput{Judge: judge.Name, Labels: ls, Run: run}
	r, err := labels.Calibrate(in)
	if err != nil {
		t.Fatal(err)
	}
	s, err := labels.BySlice(in, r, "language", 50, of)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Values) != 3 || s.Unplaced != 0 {
		t.Fatalf("%+v", s)
	}
	for i, want := range []struct {
		value string
		n     int
		own   bool
		why   string
	}{
		{
			"da", 7, false,
			"4 labelled passes and 3 labelled fails, and at least 10 of each are needed: labels made elsewhere count by the rates of all",
		},
		{"en", 80, true, "the judge differs here"},
		{"sv", 72, true, "the judge differs here"},
	} {
		v := s.Values[i]
		if v.Value != want.value || v.Table.N() != want.n || v.Own != want.own || !strings.HasPrefix(v.Why, want.why) ||
			len(v.Success) != 1 {
			t.Errorf("%+v", v)
			continue
		}
		// Rogan and Gladen's point by the rates that count.
		table := r.Table
		if v.Own {
			table = v.Table
		}
		se, sp := float64(table.TruePass)/float64(table.TruePass+table.FalseFail),
			float64(table.TrueFail)/float64(table.TrueFail+table.FalsePass)
		x := v.Success[0]
		point := (0.8 + sp - 1) / (se + sp - 1)
		switch {
		case want.value == "sv": // 80 % is what a judge passes that misses 70 % of the fails
			if x.Refused == "" && math.Abs(x.True.Point-point) > 1e-9 {
				t.Errorf("%s: %+v, want %v", v.Value, x.True, point)
			}
		case x.Refused != "" || x.Design != labels.Transport || math.Abs(x.True.Point-point) > 1e-9 || x.Judged != 100:
			t.Errorf("%s: %+v %s, want %v", v.Value, x.True, x.Refused, point)
		}
	}
	// The same judge everywhere: nothing shows a difference, and all labels count.
	same, _ := read(t, lines("en", 38, 2, 36, 4, `,"stratum":"random"`)+
		lines("sv", 19, 1, 18, 2, `,"stratum":"random"`))
	in.Labels = same
	if r, err = labels.Calibrate(in); err != nil {
		t.Fatal(err)
	}
	if s, err = labels.BySlice(in, r, "language", 50, of); err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Values {
		if v.Own || v.Value != "da" && !strings.Contains(v.Why, "nothing shows that the judge differs here") {
			t.Errorf("%+v", v)
		}
	}
	// Labels on the run's own tasks of a value are used directly.
	for i := range 40 {
		pass := i%2 == 0
		at := run[60+i] // 20 of either verdict
		in.Labels = append(in.Labels,
			labels.Label{
				Key: at.Key, Fingerprint: at.Fingerprint, Pass: &pass, Role: labels.Calibrating,
				Stratum: labels.Random, Judged: []labels.Verdict{at.Verdict},
			})
	}
	if s, err = labels.BySlice(in, r, "language", 50, of); err != nil {
		t.Fatal(err)
	}
	if x := s.Values[1].Success[0]; s.Values[1].Value != "en" || x.Design != labels.Internal || x.Labels != 40 ||
		math.Abs(x.True.Point-0.5) > 1e-9 {
		t.Errorf("%+v", x)
	}
	if x := s.Values[2].Success[0]; x.Design != labels.Transport {
		t.Errorf("labels of another value were used directly: %+v", x)
	}
}

// TestBySliceLooksOnce: each label and each verdict is placed once, however many values
// there are, and a value that a thing has twice counts once.
func TestBySliceLooksOnce(t *testing.T) {
	t.Parallel()
	ls, problems := read(t, lines("t", 120, 30, 120, 30, `,"stratum":"random"`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	in := labels.CalibrationInput{Judge: "j", Labels: ls, Run: verdicts("t", 150, 150)}
	r, err := labels.Calibrate(in)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	s, err := labels.BySlice(in, r, "customer", 50, func(k labels.Key) []string {
		asked++
		value := fmt.Sprint("c", len(k.TaskID))
		return []string{value, value}
	})
	if err != nil {
		t.Fatal(err)
	}
	if most := len(ls) + len(in.Run); asked > most || len(s.Values) != 3 {
		t.Errorf("asked %d times for the values of %d things; %d values", asked, most, len(s.Values))
	}
	labelled, judged := 0, 0
	for _, v := range s.Values {
		labelled, judged = labelled+v.Table.N(), judged+v.Success[0].Judged
	}
	if labelled != len(ls) || judged != len(in.Run) {
		t.Errorf("%d of %d labels and %d of %d verdicts are in the values", labelled, len(ls), judged, len(in.Run))
	}
}

// TestBySliceUntested: values that only the run has, without a label, have no p value and
// make those of the others no larger.
func TestBySliceUntested(t *testing.T) {
	t.Parallel()
	ls, problems := read(t, onRun(lines("a", 38, 2, 38, 2, "")+lines("b", 34, 6, 34, 6, "")))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	of := func(k labels.Key) []string { return []string{k.TaskID[:1]} }
	var want float64
	for _, others := range []string{"", "cdefghijkl"} {
		in := labels.CalibrationInput{Judge: "j", Labels: ls, Run: verdicts("a", 10, 10)}
		for _, v := range others {
			in.Run = append(in.Run, verdicts(string(v), 5, 5)...)
		}
		r, err := labels.Calibrate(in)
		if err != nil {
			t.Fatal(err)
		}
		s, err := labels.BySlice(in, r, "x", 50, of)
		if err != nil || len(s.Values) != 2+len(others) {
			t.Fatalf("%v %+v", err, s)
		}
		for i, v := range s.Values {
			switch {
			case i > 1 && v.PHolm != 1:
				t.Errorf("%s has p %v of no labels", v.Value, v.PHolm)
			case others == "" && i == 0:
				want = v.PHolm
			case i == 0 && (v.PHolm != want || want == 1):
				t.Errorf("p %v beside values without labels, %v without them", v.PHolm, want)
			}
		}
	}
}
