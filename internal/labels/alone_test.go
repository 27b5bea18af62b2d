// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// plainRun is a run of n tasks without a judge. The outputs from place changed on are not those of the
// earlier run, which has the same tasks; of seven outputs one truly failed.
func plainRun(n, changed int) (before, now []labels.CalibrationItem) {
	for i := range n {
		it := labels.CalibrationItem{Key: labels.Key{TaskID: fmt.Sprint("t", i), Unit: labels.Task}}
		it.Fingerprint = outputOf(it.TaskID)
		before = append(before, it)
		if i >= changed {
			it.Fingerprint = outputOf(it.TaskID + " now")
		}
		now = append(now, it)
	}
	return before, now
}

// people label n outputs of a run that are drawn at random.
func people(t *testing.T, run []labels.CalibrationItem, id string, n int, done []labels.Label,
	right func(task string) bool,
) []labels.Label {
	t.Helper()
	q := labels.Queue{Strategy: labels.AtRandom, N: n, By: "ana", Role: labels.Calibrating, Seed: 3, Run: id}
	drawn, err := q.Next(run, done)
	if err != nil || len(drawn) != n {
		t.Fatal(len(drawn), err)
	}
	for i := range drawn {
		pass := right(drawn[i].TaskID)
		drawn[i].Pass = &pass
	}
	return slices.Concat(done, drawn)
}

func seventh(task string) bool {
	var n int
	_, _ = fmt.Sscanf(task, "t%d", &n)
	return n%7 != 0
}

func alone(run []labels.CalibrationItem, ls []labels.Label) *labels.PeopleAlone {
	in := labels.CalibrationInput{RunID: "now", Labels: ls}
	for _, it := range run {
		in.Outputs = append(in.Outputs, labels.JudgeOutput{Key: it.Key, Fingerprint: it.Fingerprint})
	}
	return labels.NewPeopleAlone(in)
}

// TestLabelsAlone: without a judge the labels that were drawn at random are a simple random sample.
func TestLabelsAlone(t *testing.T) {
	t.Parallel()
	before, now := plainRun(100, 60)
	_, small := plainRun(8, 8)
	never := func(string) bool { return false }
	for name, c := range map[string]struct {
		run     []labels.CalibrationItem
		labels  []labels.Label
		n       int // labels that count
		refused string
		status  stats.Status
	}{
		"at random":  {run: now, labels: people(t, now, "now", 40, nil, seventh), n: 40},
		"all":        {run: now, labels: people(t, now, "now", 100, nil, seventh), n: 100},
		"all of few": {run: small, labels: people(t, small, "now", 8, nil, seventh), n: 8},
		"nine": {
			run: now, labels: people(t, now, "now", 9, nil, seventh),
			refused: "9 of 100 tasks have a label that was drawn at random: at least 10 are needed",
			status:  judge.TooFewUnits,
		},
		"ten": {run: now, labels: people(t, now, "now", 10, nil, seventh), n: 10},
		"of another run": {
			run: now[60:], labels: people(t, before[60:], "before", 40, nil, seventh),
			refused: "40 labelled tasks are of other outputs than those of this run", status: judge.MissingStratum,
		},
		"the same output": {run: before, labels: people(t, before, "before", 40, nil, seventh), n: 40},
		"no own label": {
			run: now, labels: people(t, before, "before", 60, nil, seventh),
			refused: "have 0 labels of their own: at least 10, drawn at random", status: judge.MissingStratum,
		},
		"none drawn": {
			run: now, labels: handPicked(people(t, now, "now", 40, nil, seventh)),
			refused: "40 of 40 labelled tasks were not drawn at random", status: judge.NotDrawn,
		},
		"failures are picked": {
			run: now, labels: people(t, now, "now", 40, handPicked(people(t, now, "now", 10, nil, never)), seventh),
			refused: "10 of 50 labelled tasks were not drawn at random", status: judge.NotDrawn,
		},
		"failures are left out": {
			run: now,
			labels: slices.DeleteFunc(people(t, now, "now", 40, nil, seventh),
				func(l labels.Label) bool { return !*l.Pass }), refused: "at most 5 % of a draw may be lost",
			status: judge.LostLabels,
		},
	} {
		s := alone(c.run, c.labels).Success()[0]
		if !strings.Contains(s.Refused, c.refused) || (c.refused == "") != (s.Refused == "") || c.refused != "" &&
			(s.True.Status != c.status || s.True.Usable() || s.Advice == "") {
			t.Errorf("%s: %+v", name, s)
			continue
		}
		if c.refused != "" {
			continue
		}
		passes := 0
		for _, l := range c.labels {
			if *l.Pass {
				passes++
			}
		}
		want := stats.ClopperPearson(passes, c.n, 0.95, stats.TwoSided)
		if s.Labels != c.n || s.True.Point != want.Point || s.True.Lower != want.Lower || s.True.Upper != want.Upper ||
			s.True.N != c.n || s.True.Clusters != c.n || s.Tasks != len(c.run) {
			t.Errorf("%s: %+v, want %+v", name, s, want)
		}
	}
}

// handPicked are labels without a draw.
func handPicked(ls []labels.Label) []labels.Label {
	ls = slices.Clone(ls)
	for i := range ls {
		ls[i].Draw, ls[i].Stratum, ls[i].Frame = nil, "", nil
	}
	return ls
}

// TestCarriedLabelsAlone: labels of an earlier run are of the outputs that did not change, and labels of
// this run of the others, whichever share of the run these are.
func TestCarriedLabelsAlone(t *testing.T) {
	t.Parallel()
	before, now := plainRun(200, 100)
	old := people(t, before, "before", 80, nil, func(string) bool { return true })
	ls := people(t, now, "now", 40, old, func(string) bool { return false })
	kept := 0
	for _, l := range old {
		var n int
		if _, _ = fmt.Sscanf(l.TaskID, "t%d", &n); n < 100 {
			kept++
		}
	}
	s := alone(now, ls).Success()[0]
	if want := float64(kept) / 200; s.Refused != "" || math.Abs(s.True.Point-want) > 1e-9 ||
		!(s.True.Lower < want && want < s.True.Upper) {
		t.Errorf("%+v, and %d of 200 outputs are known to be right", s, kept)
	}
	// The draw of the earlier run is not this run's: all labels taken for one sample give another number.
	if got := float64(kept) / float64(kept+40); math.Abs(s.True.Point-got) < 0.02 {
		t.Errorf("%g is the share of labels that pass", got)
	}
}

// TestSlicesAlone: a slice counts by its own labels, and needs ten.
func TestSlicesAlone(t *testing.T) {
	t.Parallel()
	_, now := plainRun(100, 100)
	of := alone(now, people(t, now, "now", 60, nil, seventh)).BySlice(func(k labels.Key) []string {
		if k.TaskID < "t2" { // t0, t1, t10 to t19
			return []string{"few", "few"}
		}
		return []string{"many"}
	})
	if few, many := of["few"][0], of["many"][0]; few.Tasks != 12 || few.Refused == "" || many.Tasks != 88 ||
		many.Refused != "" || few.Labels+many.Labels != 60 {
		t.Errorf("%+v\n%+v", few, many)
	}
}
