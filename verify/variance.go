// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// nested are verdicts by task, attempt and sample.
type nested [][][]float64

// The three components of a variance.
const (
	betweenTasks = iota
	betweenAttempts
	betweenSamples
	componentCount
)

type components [componentCount]float64

// The names of the comparisons.
const (
	byMeanSquares = "components by expected mean squares"
	byPairs       = "components by pairs of verdicts, balanced designs"
	byREML        = "components by REML, balanced designs"
)

// variance compares the components of the variance of recorded verdicts with references that other
// methods compute: the expected values of quadratic forms, pair by pair; averages over pairs of
// verdicts; and restricted maximum likelihood. The judges of a set are the samples of its judging.
func variance(_ context.Context, c *proof.Check, d proof.Data) error {
	return errors.Join(varianceOfTau(c, d), varianceOfProcess(c, d), varianceOfTau2(c, d))
}

// varianceOfTau compares repeated attempts; half of the flips is the published pass^1 - pass^2.
func varianceOfTau(c *proof.Check, d proof.Data) error {
	figures, err := proof.ReadFigures(d.Set(tauBench) + "/scores.json")
	if err != nil {
		return err
	}
	c.DueFigures(tauBench, figures, func(path []string) string {
		if path[0] != d.Part || path[len(path)-1] == "pass^3" || path[len(path)-1] == "pass^4" {
			return "verify-tau compares them, or they are of other parts"
		}
		return ""
	})
	files, err := d.Files(tauBench, "*.jsonl*")
	if err != nil {
		return err
	}
	var ds gathered
	for _, path := range files {
		err := jsonl.Each(path, func(row struct {
			Task   int `json:"task_id"`
			Trial  int
			Reward float64
		},
		) error {
			ds.add(fmt.Sprint(row.Task), fmt.Sprint(jsonl.Stem(path), row.Trial), row.Reward == 1)
			return nil
		})
		if err != nil {
			return err
		}
	}
	v := compareNested(c, tauBench, ds.nested(nil), true)
	c.Figure(tauBench, figures, float64(v.Tasks), d.Part, "1")
	c.Figure(tauBench, figures, float64(v.Attempts), d.Part, "2")
	c.Figure(tauBench, figures, v.Mean.Point, d.Part, "0", "pass^1")
	c.Figure(tauBench, figures, v.Mean.Point-v.TargetFlips.Point/2, d.Part, "0", "pass^2")
	return nil
}

// gathered are verdicts by task and attempt, in the order of first appearance.
type gathered struct {
	tasks    []string
	attempts map[string][]string
	values   map[[2]string][]float64
}

func (g *gathered) add(task, attempt string, pass bool) {
	if g.values == nil {
		g.attempts, g.values = map[string][]string{}, map[[2]string][]float64{}
	}
	if g.attempts[task] == nil {
		g.tasks = append(g.tasks, task)
	}
	at := [2]string{task, attempt}
	if g.values[at] == nil {
		g.attempts[task] = append(g.attempts[task], attempt)
	}
	x := 0.0
	if pass {
		x = 1
	}
	g.values[at] = append(g.values[at], x)
}

// nested returns the verdicts that keep accepts; nil: all.
func (g *gathered) nested(keep func(task, attempt, sample int) bool) nested {
	var out nested
	for i, task := range g.tasks {
		var t [][]float64
		for j, attempt := range g.attempts[task] {
			var samples []float64
			for k, x := range g.values[[2]string{task, attempt}] {
				if keep == nil || keep(i, j, k) {
					samples = append(samples, x)
				}
			}
			if len(samples) > 0 {
				t = append(t, samples)
			}
		}
		if len(t) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// thin leaves out verdicts by position, so that tasks and attempts have different numbers of them.
func thin(task, attempt, sample int) bool {
	return attempt <= task%4 && sample <= (task+2*attempt)%7
}

// varianceOfProcess compares labels of people, and of twenty judges, on five attempts at each task.
func varianceOfProcess(c *proof.Check, d proof.Data) error {
	const set = "agentprocessbench"
	figures, err := d.Published(set)
	if err != nil {
		return err
	}
	parts := map[string]map[string]bool{} // by part of the set, the judges
	for _, judge := range figures.Keys() {
		for _, name := range figures.Keys(judge) {
			if parts[name] == nil {
				parts[name] = map[string]bool{}
			}
			parts[name][judge] = true
		}
	}
	type row struct {
		Key    string
		Record string `json:"record_id"`
		Final  *int   `json:"final_label"`
		Failed bool
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		attempt := map[string][2]string{} // task and attempt, by key
		var people, judges gathered
		files, err := d.Files(set, filepath.Join(name, "human.jsonl*"))
		if err != nil {
			return err
		}
		err = jsonl.Each(files[0], func(r row) error {
			at := strings.LastIndex(r.Record, ":")
			if at < 0 || r.Final == nil {
				return fmt.Errorf("read %s %s: record %q: %w", set, name, r.Record, callvet.ErrInvalid)
			}
			attempt[r.Key] = [2]string{r.Record[:at], r.Record[at:]}
			people.add(r.Record[:at], r.Record[at:], *r.Final == 1)
			return nil
		})
		if err != nil {
			return err
		}
		if files, err = d.Files(set, filepath.Join(name, "judges", "*.jsonl*")); err != nil {
			return err
		}
		c.Due(set+" judges", len(parts[name]), figures.Source)
		for _, path := range files {
			c.Compare(set+" judges", name+" "+jsonl.Stem(path), parts[name][jsonl.Stem(path)], "it has no figure")
			err := jsonl.Each(path, func(r row) error {
				if at, known := attempt[r.Key]; known && r.Final != nil && !r.Failed {
					judges.add(at[0], at[1], *r.Final == 1)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		compareNested(c, set+" "+name+", people", people.nested(nil), true)
		compareNested(c, set+" "+name+", judges", judges.nested(nil), false) // some judges failed
		compareNested(c, set+" "+name+", judges, thinned", judges.nested(thin), false)
	}
	return nil
}

// varianceOfTau2 compares the verdicts of judges on one attempt at each task.
func varianceOfTau2(c *proof.Check, d proof.Data) error {
	const set = "tau2_judges"
	files, err := d.Files(set, "*__*.jsonl*")
	if err != nil {
		return err
	}
	figures, err := d.Published(set)
	if err != nil {
		return err
	}
	c.Due(set+" judges", len(figures.Keys()), figures.Source)
	domains := map[string]*gathered{}
	for _, path := range files {
		name := strings.Replace(jsonl.Stem(path), "__", "|", 1)
		domain, _, _ := strings.Cut(name, "|")
		c.Compare(set+" judges", name, len(figures.Keys(name)) > 0, "it has no figure")
		if domains[domain] == nil {
			domains[domain] = &gathered{}
		}
		err := jsonl.Each(path, func(r tau2Row) error {
			if r.Pass != nil {
				domains[domain].add(r.TaskID, "only", *r.Pass)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, domain := range slices.Sorted(maps.Keys(domains)) {
		compareNested(c, set+" "+domain+", judges", domains[domain].nested(nil), true)
		compareNested(c, set+" "+domain+", judges, thinned", domains[domain].nested(thin), false)
	}
	return nil
}

// compareNested compares the product's components of one design with those of the references. In a balanced one
// each task has as many attempts, and each attempt as many samples: more references are known then.
func compareNested(c *proof.Check, name string, ys nested, balanced bool) stats.Variance {
	tasks := make([]stats.NestedTask, len(ys))
	for i := range ys {
		for _, samples := range ys[i] {
			tasks[i].Add(samples...)
		}
	}
	v := stats.NestedVariance(tasks, nil, 1999, [2]uint64{1, 1})
	if v.Status != stats.StatusOK {
		c.Problem(fmt.Errorf("%s: %w: the product has no shares (%s)", name, callvet.ErrInvalid, v.Status))
		return v
	}
	var own components
	var known [componentCount]bool
	for l, s := range []int{0, 1, 3} {
		if e := v.Sources[s].Estimate; e != nil {
			own[l], known[l] = *e, true
		}
	}
	agree := func(by string, reference components, tolerance float64) {
		c.Due(by, 1, "the designs")
		wrong := ""
		for l := range own {
			if known[l] && !(math.Abs(own[l]-reference[l]) <= tolerance) {
				wrong += fmt.Sprintf(" component %d: %.9g, reference %.9g;", l, own[l], reference[l])
			}
		}
		c.Compare(by, name, wrong == "", "%s", wrong)
	}
	reference, reml := ys.meanSquares(known), ys.reml(known)
	agree(byMeanSquares, reference, 1e-9)
	if balanced {
		agree(byPairs, ys.pairs(known), 1e-9)
		if slices.Min(reference[:]) >= 0 { // else REML is at its boundary
			agree(byREML, reml, 1e-5)
		}
	}
	c.Printf("%-48s %d tasks, %d attempts, %d verdicts, mean %.3f\n", name, v.Tasks, v.Attempts, v.Verdicts,
		v.Mean.Point)
	for l, s := range []int{0, 1, 3} {
		if known[l] {
			c.Printf("    %-8s %8.5f  reference %8.5f  REML %8.5f  share %.3f [%.3f, %.3f]\n",
				v.Sources[s].Source, own[l],
				reference[l], reml[l], v.Sources[s].Share.Point, v.Sources[s].Share.Lower, v.Sources[s].Share.Upper)
		}
	}
	return v
}

// cell is a verdict with its place.
type cell struct {
	task, attempt int
	y             float64
}

func (ys nested) cells() (out []cell) {
	for i := range ys {
		for j := range ys[i] {
			for _, y := range ys[i][j] {
				out = append(out, cell{i, j, y})
			}
		}
	}
	return out
}

// meanSquares equates the quadratic forms y'Ay of the analysis of variance with their expected values
// tr(A·Z·Z') for each component, where every entry of A and Z·Z' is written out pair by pair.
func (ys nested) meanSquares(known [componentCount]bool) components {
	all := ys.cells()
	var q components
	var e [componentCount][componentCount]float64 // of form l, the coefficient of component m
	inTask := make([]float64, len(ys))
	for i := range ys {
		for j := range ys[i] {
			inTask[i] += float64(len(ys[i][j]))
		}
	}
	for a, u := range all {
		for b, w := range all {
			var task, attempt, self float64
			if u.task == w.task {
				task = 1
				if u.attempt == w.attempt {
					attempt = 1
				}
			}
			if a == b {
				self = 1
			}
			ofTask := task / inTask[u.task]
			ofAttempt := attempt / float64(len(ys[u.task][u.attempt]))
			forms := components{ofTask - 1/float64(len(all)), ofAttempt - ofTask, self - ofAttempt}
			for l, x := range forms {
				q[l] += x * u.y * w.y
				for m, z := range (components{task, attempt, self}) {
					e[l][m] += x * z
				}
			}
		}
	}
	return solveKnown(e, q, known)
}

// solveKnown solves the triangular system from the inside out. A component that the data do not separate is 0.
func solveKnown(e [componentCount][componentCount]float64, q components, known [componentCount]bool) (s components) {
	for l := componentCount - 1; l >= 0; l-- {
		if !known[l] {
			continue
		}
		s[l] = q[l]
		for m := l + 1; m < componentCount; m++ {
			s[l] -= e[l][m] * s[m]
		}
		s[l] /= e[l][l]
	}
	return s
}

// pairs are the components of a balanced design from mean products: of verdicts on different tasks, on
// different attempts at a task, of different samples on an attempt, and of a verdict with itself.
func (ys nested) pairs(known [componentCount]bool) (s components) {
	var sum, n [componentCount + 1]float64
	all := ys.cells()
	for a, u := range all {
		for b, w := range all {
			kind := 0
			switch {
			case a == b:
				kind = 3
			case u.task == w.task && u.attempt == w.attempt:
				kind = 2
			case u.task == w.task:
				kind = 1
			}
			sum[kind] += u.y * w.y
			n[kind]++
		}
	}
	last := sum[0] / n[0]
	for l := range s {
		if !known[l] {
			continue
		}
		at := l + 1 // the innermost known kind of pair at or outside of this level
		for at < componentCount && n[at] == 0 || at < componentCount && !known[at] {
			at++
		}
		s[l] = sum[at]/n[at] - last
		last = sum[at] / n[at]
	}
	return s
}

// reml maximises the restricted likelihood of normal effects, by a search along the logarithms of the known
// components, with steps that become shorter.
func (ys nested) reml(known [componentCount]bool) components {
	at := components{}
	for l, k := range known {
		if k {
			at[l] = 0.05
		}
	}
	best := ys.deviance(at)
	for step := 0.5; step > 1e-8; {
		better := false
		for l := range at {
			for _, factor := range []float64{math.Exp(step), math.Exp(-step)} {
				next := at
				next[l] *= factor
				if d := ys.deviance(next); d < best {
					at, best, better = next, d, true
				}
			}
		}
		if !better {
			step /= 2
		}
	}
	return at
}

// deviance is minus twice the restricted log likelihood, up to a constant.
func (ys nested) deviance(s components) float64 {
	var logs, one, first, second float64 // log|V|, 1'V⁻¹1, 1'V⁻¹y, y'V⁻¹y
	for i := range ys {
		var w, wm, q float64
		for _, samples := range ys[i] {
			n, sum, squares := float64(len(samples)), 0.0, 0.0
			for _, y := range samples {
				sum, squares = sum+y, squares+y*y
			}
			v := s[betweenSamples] + n*s[betweenAttempts]
			logs += math.Log(v)
			if n > 1 {
				logs += (n - 1) * math.Log(s[betweenSamples])
				q += (squares - sum*sum/n) / s[betweenSamples]
			}
			w, wm, q = w+n/v, wm+sum/v, q+sum*sum/n/v
		}
		shrink := 1 + s[betweenTasks]*w
		logs += math.Log(shrink)
		one += w / shrink
		first += wm / shrink
		second += q - s[betweenTasks]*wm*wm/shrink
	}
	return logs + math.Log(one) + second - first*first/one
}
