// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// JudgeScores is how good a judge's scores are, in addition to its verdicts.
type JudgeScores struct {
	N int `json:"n"`
	// AUC is the chance that a true pass scores higher than a true fail, in [0,1].
	AUC stats.Interval `json:"auc"`
	// Brier and ECE are in [0,1], lower is better; nil where scores are not
	// probabilities.
	Brier *float64 `json:"brier"`
	ECE   *float64 `json:"ece"`
}

// eceBins is how many equally wide bins the calibration error has.
const eceBins = 10

// scores are measured when every pair has one.
func (r *CalibrationReport) scores(ps []pair) {
	var truth []bool
	var score []float64
	for _, p := range ps {
		if p.score == nil {
			return
		}
		truth, score = append(truth, p.truth), append(score, *p.score)
	}
	if len(ps) == 0 || len(categories(score)) < 3 {
		return
	}
	a := judge.AUC(truth, score, r.Confidence)
	s := &JudgeScores{N: len(ps), AUC: stats.Interval{
		Point: a.AUC, Lower: a.Lower, Upper: a.Upper, N: len(ps), Clusters: len(ps), Confidence: r.Confidence,
		Method: "delong", Status: a.Status,
	}}
	if math.IsNaN(a.Lower) || math.IsNaN(a.Upper) {
		s.AUC.Lower, s.AUC.Upper = 0, 1
	}
	s.AUC = clustered(s.AUC, r.Accuracy, 0)
	if b, e, ok := judge.Brier(truth, score, eceBins); ok {
		s.Brier, s.ECE = &b, &e
	}
	r.Scores = s
}

func categories(xs []float64) []float64 {
	xs = slices.Clone(xs)
	slices.Sort(xs)
	return slices.Compact(xs)
}

// Ratings compares the categories of people and the judge.
type Ratings struct {
	N          int       `json:"n"`
	Categories []float64 `json:"categories"`
	// Same counts equal categories. Kappa is plain, Weighted quadratic.
	Same     int            `json:"same"`
	Kappa    stats.Interval `json:"kappa"`
	Weighted stats.Interval `json:"weighted_kappa"`
}

// CallByTask compares people and the judge on all the calls of a task together.
type CallByTask struct {
	Tasks int `json:"tasks"`
	// AllSame counts tasks with the same rating (or verdict) on every call, FirstFailure tasks
	// where both name the same first failing call, or none.
	AllSame      int `json:"all_same"`
	FirstFailure int `json:"first_failure"`
}

// maxCategories bounds the values of a rubric; more distinct values are scores.
const maxCategories = 20

func (r *CalibrationReport) ratings(ps []pair, in CalibrationInput) {
	var a, b []float64
	rated := func(p pair) bool { return p.rating != nil && p.score != nil }
	for _, p := range ps {
		if rated(p) {
			a, b = append(a, *p.rating), append(b, *p.score)
		}
	}
	cats := categories(append(slices.Clone(a), b...))
	if len(a) > 0 && len(cats) <= maxCategories {
		out := &Ratings{N: len(a), Categories: cats}
		t := make(stats.RatingTable, len(cats))
		for i := range t {
			t[i] = make([]int, len(cats))
		}
		for i := range a {
			x, _ := slices.BinarySearch(cats, a[i])
			y, _ := slices.BinarySearch(cats, b[i])
			t[x][y]++
			if x == y {
				out.Same++
			}
		}
		same := rateOf(ps, r.Confidence, rated, func(p pair) bool { return *p.rating == *p.score })
		out.Kappa = clustered(asInterval(stats.Kappa(t, stats.Unweighted, r.Confidence), "cohen_kappa", r.Confidence),
			same, -1)
		out.Weighted = clustered(
			asInterval(stats.Kappa(t, stats.Quadratic, r.Confidence), "quadratic_kappa", r.Confidence), same, -1)
		r.Ratings = out
	}
	if in.Unit.Part() {
		r.callsByTask(ps)
	}
}

// callsByTask groups the calls of a task in the order of the file.
func (r *CalibrationReport) callsByTask(ps []pair) {
	tasks := map[Key][]pair{}
	for _, p := range ps {
		k := Key{Target: p.Target, TaskID: p.TaskID, Attempt: p.Attempt}
		tasks[k] = append(tasks[k], p)
	}
	out := &CallByTask{Tasks: len(tasks)}
	for _, calls := range tasks {
		slices.SortFunc(calls, func(a, b pair) int { return cmp.Or(cmp.Compare(a.line, b.line), a.Compare(b.Key)) })
		if !slices.ContainsFunc(calls, pair.differs) {
			out.AllSame++
		}
		human := slices.IndexFunc(calls, func(p pair) bool { return !p.truth })
		if human == slices.IndexFunc(calls, func(p pair) bool { return !p.judged }) {
			out.FirstFailure++
		}
	}
	r.Calls = out
}

func (p pair) differs() bool {
	if p.rating != nil && p.score != nil {
		return *p.rating != *p.score
	}
	return p.truth != p.judged
}

// Humans is the agreement of people where several labelled the same things.
type Humans struct {
	People []string `json:"people"`
	// Things have at least two labels.
	Things int `json:"things"`
	// Alpha is Krippendorff's, over all people, in [-1,1].
	Alpha stats.Interval `json:"alpha"`
	Pairs []PeoplePair   `json:"pairs"`
}

// PeoplePair is the agreement of two people on the things that both labelled.
type PeoplePair struct {
	A     string         `json:"a"`
	B     string         `json:"b"`
	N     int            `json:"n"`
	Same  int            `json:"same"`
	Kappa stats.Interval `json:"kappa"`
	AC1   stats.Interval `json:"ac1"`
}

// alphaSeed makes the bootstrap of alpha the same every time.
func alphaSeed() [2]uint64 { return [2]uint64{0x63616c6c, 0x766574} }

func (r *CalibrationReport) humans(in CalibrationInput) {
	latest, _ := Latest(in.Labels)
	latest = slices.DeleteFunc(latest, func(l Label) bool { return l.Unit != in.Unit || l.Pass == nil })
	for i := range latest {
		latest[i].By = Person(latest[i].By)
	}
	who := map[string]int{}
	var names []string
	for _, l := range latest {
		if _, seen := who[l.By]; !seen {
			who[l.By] = 0
			names = append(names, l.By)
		}
	}
	slices.Sort(names)
	for i, n := range names {
		who[n] = i
	}
	var doubled [][]Label
	for _, ls := range byKey(latest) {
		if len(ls) > 1 {
			doubled = append(doubled, ls)
		}
	}
	if len(doubled) == 0 {
		return
	}
	rows := make(stats.Ratings, len(names))
	for i := range rows {
		rows[i] = slices.Repeat([]float64{math.NaN()}, len(doubled))
	}
	for i, ls := range doubled {
		for _, l := range ls {
			rows[who[l.By]][i] = 0
			if *l.Pass {
				rows[who[l.By]][i] = 1
			}
		}
	}
	h := &Humans{People: names, Things: len(doubled)}
	alike := func(ls []Label) bool {
		return !slices.ContainsFunc(ls, func(l Label) bool { return *l.Pass != *ls[0].Pass })
	}
	same := sameByTask(doubled, r.Confidence, alike)
	h.Alpha = clustered(asInterval(stats.AlphaInterval(rows, stats.Nominal, r.Confidence, alphaSeed()),
		"krippendorff_alpha_bca", r.Confidence), same, -1)
	for i := range names {
		for k := i + 1; k < len(names); k++ {
			if p := r.peoplePair(names[i], names[k], rows[i], rows[k], doubled); p.N > 0 {
				h.Pairs = append(h.Pairs, p)
			}
		}
	}
	r.Humans = h
}

func (r *CalibrationReport) peoplePair(a, b string, x, y []float64, things [][]Label) PeoplePair {
	p := PeoplePair{A: a, B: b}
	t := stats.RatingTable{{0, 0}, {0, 0}}
	var both [][]Label
	for i := range x {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			continue
		}
		both = append(both,
			slices.DeleteFunc(slices.Clone(things[i]), func(l Label) bool { return l.By != a && l.By != b }))
		t[int(x[i])][int(y[i])]++
		p.N++
		if x[i] == y[i] {
			p.Same++
		}
	}
	same := sameByTask(both, r.Confidence, func(ls []Label) bool { return *ls[0].Pass == *ls[1].Pass })
	p.Kappa = clustered(asInterval(stats.Kappa(t, stats.Unweighted, r.Confidence), "cohen_kappa", r.Confidence), same,
		-1)
	p.AC1 = clustered(asInterval(stats.AC1(t, r.Confidence), "gwet_ac1", r.Confidence), same, -1)
	return p
}

// sameByTask is the share of things, each with its labels, that people label alike,
// clustered by task.
func sameByTask(things [][]Label, conf float64, alike func([]Label) bool) stats.Interval {
	ps := make([]pair, len(things))
	for i, ls := range things {
		ps[i] = pair{Key: ls[0].Key, truth: alike(ls)}
	}
	return rateOf(ps, conf, func(pair) bool { return true }, truly)
}
