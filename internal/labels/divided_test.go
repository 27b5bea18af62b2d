// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats/judge"
)

// carriedRun is a run of 100 tasks, of which so many have the output of an earlier run, and labels of the
// earlier run on 60 of them. What did not change is right, what changed is wrong; the judge passes 3 of 4.
func carriedRun(unchanged int) labels.CalibrationInput {
	in := labels.CalibrationInput{Judge: "j", RunID: "now"}
	yes := true
	for i := range 100 {
		got := i%4 > 0
		v := labels.Verdict{Judge: labels.Judge{Name: "j"}, Pass: &got}
		k := labels.Key{TaskID: fmt.Sprint("t", i), Unit: labels.Task}
		before, now := outputOf(k.TaskID), outputOf(k.TaskID)
		if i >= unchanged {
			now = outputOf(k.TaskID + " now")
		}
		in.Run = append(in.Run, labels.Judgement{Key: k, Fingerprint: now, Verdict: v})
		in.Opinions = append(in.Opinions,
			labels.Label{Key: k, Fingerprint: before, Run: "before", Judged: []labels.Verdict{v}})
		if i%5 < 3 {
			in.Labels = append(in.Labels, labels.Label{
				Key: k, Fingerprint: before, Run: "before", By: "ana", Role: labels.Calibrating, Pass: &yes,
				Stratum: labels.Random, Judged: []labels.Verdict{v},
			})
		}
	}
	return in
}

// ownLabels adds n labels on the outputs of the run itself from place first on: all fail.
func ownLabels(in *labels.CalibrationInput, first, n int) {
	no := false
	for _, v := range in.Run[first : first+n] {
		in.Labels = append(in.Labels,
			labels.Label{
				Key: v.Key, Fingerprint: v.Fingerprint, Run: "now", By: "ana", Role: labels.Calibrating,
				Pass: &no, Stratum: labels.Random,
			})
	}
}

// TestCarriedLabels: labels of outputs that did not change speak of these alone.
func TestCarriedLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unchanged, own int
		design         labels.QueueDesign
		point          float64
		refused        string
	}{
		{100, 0, labels.Internal, 1, ""},
		{
			30, 0, labels.Internal, -1,
			"70 of 100 outputs are not known to be those that were labelled, and have 0 labels of their own",
		},
		{30, 12, labels.Internal, -1, "have 12 labels of their own"}, // 3 of the judge-fails
		{50, 40, labels.Internal, 0.5, ""},
		{
			30, 40, labels.Internal, -1,
			"of the outputs that are known from other runs 30 are here, and 18 of them are labelled",
		},
		{0, 0, labels.Transport, -1, "60 labelled tasks are of other outputs than those of this run"},
		{0, 40, labels.Internal, 0, ""},
	} {
		in := carriedRun(c.unchanged)
		ownLabels(&in, c.unchanged, c.own)
		r, err := labels.Calibrate(in)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Success[0]
		if s.Design != c.design || !strings.Contains(s.Refused, c.refused) || (c.refused == "") != (s.Refused == "") ||
			s.True.Usable() != (c.refused == "") {
			t.Errorf("%d unchanged, %d labelled: %+v", c.unchanged, c.own, s)
		}
		if c.point >= 0 && math.Abs(s.True.Point-c.point) > 1e-9 || s.Refused == "" &&
			!(s.True.Lower <= c.point && c.point <= s.True.Upper) {
			t.Errorf("%d unchanged, %d labelled: %+v, and %g is true", c.unchanged, c.own, s.True, c.point)
		}
		if c.refused != "" && !strings.Contains(s.Advice, "callvet label next") {
			t.Errorf("%d unchanged: %q does not mend it", c.unchanged, s.Advice)
		}
	}
}

// TestVerdictsOfTheRun: the verdict of a labels file on an output of the run is not that of its
// judge, and a judge that has another verdict now is another one.
func TestVerdictsOfTheRun(t *testing.T) {
	t.Parallel()
	in := carriedRun(100)
	for i := range in.Labels { // the file has passes only
		yes := true
		in.Labels[i].Judged = []labels.Verdict{{Judge: labels.Judge{Name: "j"}, Pass: &yes}}
	}
	r, err := labels.Calibrate(in)
	if err != nil {
		t.Fatal(err)
	}
	if r.Table.TruePass != 45 || r.Table.FalseFail != 15 {
		t.Errorf("%+v: the run has 45 passes and 15 fails", r.Table)
	}
	if s := r.Success[0]; s.True.Status != judge.Drifted || s.True.Lower != 0 || s.True.Upper != 1 ||
		!strings.Contains(s.Refused, "15 of 100 outputs") {
		t.Errorf("%+v", s)
	}
	in = carriedRun(100)
	in.Run[4].Pass, in.Run[8].Pass, in.Run[12].Pass, in.Run[16].Pass, in.Run[20].Pass = in.Run[1].Pass, in.Run[1].Pass,
		in.Run[1].Pass, in.Run[1].Pass, in.Run[1].Pass
	if r, err = labels.Calibrate(in); err != nil || !r.Success[0].True.Usable() {
		t.Errorf("5 of 100 verdicts changed: %v %+v", err, r.Success)
	}
}

// TestElsewhereByVerdict: labels made elsewhere that were drawn by verdict count through their frame, or not
// at all.
func TestElsewhereByVerdict(t *testing.T) {
	t.Parallel()
	text := func(frame string) string {
		return lines("p", 72, 0, 0, 8, `,"stratum":"judge_pass"`+frame) +
			lines("f", 0, 20, 60, 0, `,"stratum":"judge_fail"`+frame)
	}
	s := reported(t, text(`,"frame":{"judge_pass":800,"judge_fail":200}`), verdicts("r", 160, 40)).Success[0]
	// The judged share is that of the frame, and so is the true one: .8*.9 + .2*.25
	if s.Design != labels.Transport || s.Labels != 160 || !near(s.True.Point, .77) || !s.True.Usable() {
		t.Errorf("%+v", s)
	}
	if w := s.True.Upper - s.True.Lower; w < 0.1 || w > 0.4 {
		t.Errorf("%v is %g wide", s.True, w)
	}
	for _, frame := range []string{"", `,"frame":{"judge_pass":800,"judge_fail":0}`} {
		if s := reported(t, text(frame), verdicts("r", 160, 40)).Success[0]; s.True.Usable() ||
			!strings.Contains(s.Refused, "drawn by the judge's verdict") {
			t.Errorf("frame %q: %+v", frame, s)
		}
	}
}

// TestQueueOfOutputs: what is drawn has no label of its own; a label on another output is none.
func TestQueueOfOutputs(t *testing.T) {
	t.Parallel()
	in := carriedRun(30)
	var items []labels.CalibrationItem
	for _, v := range in.Run {
		items = append(items,
			labels.CalibrationItem{Key: v.Key, Fingerprint: v.Fingerprint, Judged: []labels.Verdict{v.Verdict}})
	}
	q := labels.Queue{Strategy: labels.AtRandom, N: 100, By: "bo", Role: labels.Calibrating, Run: "now"}
	drawn, err := q.Next(items, in.Labels)
	if err != nil || len(drawn) != 100-18 {
		t.Fatal(len(drawn), err)
	}
	for _, l := range drawn {
		if l.Run != "now" || l.Fingerprint == "" {
			t.Errorf("%+v", l)
		}
	}
}
