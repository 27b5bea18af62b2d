// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats/judge"
)

// drawnRun is a run of 400 tasks, with labels on 200 that were drawn: the judge passes 331, and of
// seven that it passes one truly failed.
func drawnRun(t *testing.T, strategy labels.Strategy) labels.CalibrationInput {
	t.Helper()
	in := labels.CalibrationInput{Judge: "j", RunID: "now", Run: verdicts("t", 331, 69)}
	var items []labels.CalibrationItem
	truth := map[string]bool{}
	for i, v := range in.Run {
		v.Unit = labels.Task
		items = append(items,
			labels.CalibrationItem{Key: v.Key, Fingerprint: v.Fingerprint, Judged: []labels.Verdict{v.Verdict}})
		truth[v.TaskID] = i < 331 && i%7 != 0
	}
	q := labels.Queue{Strategy: strategy, N: 200, By: "ana", Role: labels.Calibrating, Judge: "j", Seed: 5, Run: "now"}
	drawn, err := q.Next(items, nil)
	if err != nil || len(drawn) != 200 {
		t.Fatal(len(drawn), err)
	}
	for i := range drawn {
		pass := truth[drawn[i].TaskID]
		drawn[i].Pass = &pass
	}
	in.Labels = drawn
	return in
}

// wrong are the places of labels of outputs that the judge passed and that truly failed.
func wrong(ls []labels.Label) (out []int) {
	for i := range ls {
		if got, _ := ls[i].Judged[0].Passed(); got && !*ls[i].Pass {
			out = append(out, i)
		}
	}
	return out
}

// without leaves out the labels at some places.
func without(ls []labels.Label, at []int) (out []labels.Label) {
	for i := range ls {
		if !slices.Contains(at, i) {
			out = append(out, ls[i])
		}
	}
	return out
}

// again adds a line for each label at some places.
func again(ls []labels.Label, at []int, change func(*labels.Label)) []labels.Label {
	out := slices.Clone(ls)
	for _, i := range at {
		l := ls[i]
		l.Draw, l.Stratum, l.Frame = nil, "", nil
		change(&l)
		out = append(out, l)
	}
	return out
}

// TestLostLabels: lines that are added to drawn labels, or left out of them, make no number better.
func TestLostLabels(t *testing.T) {
	t.Parallel()
	yes := true
	passed := func(l *labels.Label) { l.Pass = &yes }
	for name, c := range map[string]struct {
		strategy labels.Strategy
		change   func(in *labels.CalibrationInput)
		lost     int
		of       int
		refused  string
	}{
		"whole":         {change: func(*labels.CalibrationInput) {}, of: 200},
		"whole, neyman": {strategy: labels.Neyman, change: func(*labels.CalibrationInput) {}, of: 200},
		"left out": {change: func(in *labels.CalibrationInput) {
			in.Labels = without(in.Labels,
				wrong(in.Labels))
		}, lost: -1, of: 200, refused: "at most 5 %"},
		"left out, nine": {change: func(in *labels.CalibrationInput) {
			in.Labels = without(in.Labels,
				wrong(in.Labels)[:9])
		}, lost: 9, of: 200},
		"left out, neyman": {
			strategy: labels.Neyman,
			change:   func(in *labels.CalibrationInput) { in.Labels = without(in.Labels, wrong(in.Labels)) }, lost: -1,
			of: 200, refused: "at most 5 %",
		},
		"from one cell": {change: func(in *labels.CalibrationInput) {
			var fails []int
			for i := range in.Labels {
				if got, _ := in.Labels[i].Judged[0].Passed(); !got {
					fails = append(fails, i)
				}
			}
			in.Labels = without(in.Labels, fails[:9])
		}, lost: 9, of: 200, refused: "depends on the judge's verdict"},
		"somebody else": {change: func(in *labels.CalibrationInput) {
			in.Labels = again(in.Labels, wrong(in.Labels), func(l *labels.Label) { passed(l); l.By = "bo" })
		}, lost: -1, of: 200, refused: "at most 5 %"},
		"the same person": {change: func(in *labels.CalibrationInput) {
			in.Labels = again(in.Labels, wrong(in.Labels),
				func(l *labels.Label) { passed(l); l.By, l.At = " an\u200ba", time.Unix(1, 0) })
		}, lost: -1, of: 200, refused: "at most 5 %"},
		"for the design": {change: func(in *labels.CalibrationInput) {
			in.Labels = again(in.Labels, wrong(in.Labels), func(l *labels.Label) { l.Role = labels.Design })
		}, lost: -1, of: 200, refused: "at most 5 %"},
		"another role": {change: func(in *labels.CalibrationInput) {
			for _, i := range wrong(in.Labels) {
				in.Labels[i].Role = labels.Test
			}
		}, lost: -1, of: 200, refused: "at most 5 %"},
		"two of three": {change: func(in *labels.CalibrationInput) {
			at := wrong(in.Labels)
			both := again(in.Labels, at, func(l *labels.Label) { passed(l); l.By = "bo" })
			in.Labels = append(both, again(in.Labels, at, func(l *labels.Label) { l.By = "cy" })[len(in.Labels):]...)
		}, of: 200},
		"in quarantine": {change: func(in *labels.CalibrationInput) {
			in.Without = map[string]bool{}
			for _, i := range wrong(in.Labels) {
				in.Without[in.Labels[i].TaskID] = true
			}
			in.Run = slices.DeleteFunc(in.Run, func(v labels.Judgement) bool { return in.Without[v.TaskID] })
		}, of: 200},
		"the run grew": {change: func(in *labels.CalibrationInput) {
			in.Run = append(in.Run,
				verdicts("more", 100, 0)...)
		}, of: 200},
		"of another run": {change: func(in *labels.CalibrationInput) {
			in.Labels, in.RunID = without(in.Labels, wrong(in.Labels)), "later"
			in.Run = verdicts("later", 300, 100)
		}, lost: -1, of: 200, refused: "at most 5 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.strategy == "" {
				c.strategy = labels.AtRandom
			}
			in := drawnRun(t, c.strategy)
			if c.lost < 0 {
				c.lost = len(wrong(in.Labels))
			}
			c.change(&in)
			r, err := labels.Calibrate(in)
			if err != nil {
				t.Fatal(err)
			}
			s := r.Success[0]
			if s.Lost == nil || s.Lost.N != c.lost || s.Lost.Of != c.of {
				t.Fatalf("lost %+v, want %d of %d", s.Lost, c.lost, c.of)
			}
			if c.refused == "" {
				if s.Refused != "" || !s.True.Usable() {
					t.Errorf("refused: %s", s.Refused)
				}
				return
			}
			if !strings.Contains(s.Refused, c.refused) || !strings.Contains(s.Advice, "label next") ||
				s.True.Status != judge.LostLabels || s.True.Usable() {
				t.Errorf("%+v", s)
			}
			made := r.Calibration("labels", time.Unix(1, 0))
			if _, why := made.TrueSuccess(s.Raw, 0.95, ""); r.Usable || c.strategy == labels.AtRandom &&
				!strings.Contains(why, c.refused) {
				t.Errorf("the calibration is usable: %v, %q", r.Usable, why)
			}
		})
	}
}

// TestDrawsGoOn: who stops in the middle of a draw and draws again loses nothing.
func TestDrawsGoOn(t *testing.T) {
	t.Parallel()
	in := drawnRun(t, labels.AtRandom)
	var items []labels.CalibrationItem
	for _, v := range in.Run {
		v.Unit = labels.Task
		items = append(items,
			labels.CalibrationItem{Key: v.Key, Fingerprint: v.Fingerprint, Judged: []labels.Verdict{v.Verdict}})
	}
	q := labels.Queue{Strategy: labels.AtRandom, N: 40, By: "ana", Role: labels.Calibrating, Seed: 5, Run: "now"}
	var done []labels.Label
	for range 4 {
		drawn, err := q.Next(items, done)
		if err != nil {
			t.Fatal(err)
		}
		for i := range drawn[:20] {
			pass := i%3 != 0
			drawn[i].Pass = &pass
			done = append(done, drawn[i])
		}
	}
	in.Labels = done
	r, err := labels.Calibrate(in)
	if err != nil {
		t.Fatal(err)
	}
	if l := r.Success[0].Lost; l == nil || l.N != 20 || l.Of != 100 {
		t.Errorf("%+v: the last draw has 20 outputs without a label", l)
	}
}
