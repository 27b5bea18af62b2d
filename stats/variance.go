// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"math/rand/v2"
)

// A verdict y of sample k of the judge on attempt j at task i has independent effects of mean 0:
//
//	y = mean + task[i] + attempt[i,j] + sample[i,j,k]
//
// The variance of a verdict is the sum of the variances of the effects. For verdicts of 0 and 1 these
// are the variance of the tasks' pass rates, the variance of the attempts' pass rates within a task,
// and the variance of the verdicts on one attempt. Where some attempts called real tools and others
// were answered from recordings, the attempt's effect is that of the target plus that of the tools.

// Source is a source of the variance of a verdict.
type Source string

// The sources, from the outside in.
const (
	SourceTasks  Source = "tasks"
	SourceTarget Source = "target"
	SourceTools  Source = "tools"
	SourceJudge  Source = "judge"
)

// sources are the positions of the sources in a bySource.
const (
	ofTasks = iota
	ofTarget
	ofTools
	ofJudge
	sourceCount
)

func sourceNames() [sourceCount]Source {
	return [...]Source{SourceTasks, SourceTarget, SourceTools, SourceJudge}
}

type bySource [sourceCount]float64

// NestedTask are the sums of the verdicts on one task. The zero value is a task without an attempt.
type NestedTask struct {
	attempts, samples     float64
	sum, squares          float64
	within, sizes         float64 // by attempt: the sum of (sum of its values)²/n, and of n²
	inverses              float64 // by attempt: the sum of 1/n
	means, meanSquares    float64 // by attempt: the sum of its mean, and of its mean square
	squaredMeans          float64 // by attempt: the sum of its squared mean
	sampleFlips, repeated float64 // the flips of attempts with several values, and how many there are
}

// Add adds an attempt with the samples of its verdict: at least one value in [0,1].
func (t *NestedTask) Add(samples ...float64) {
	n, sum, squares := float64(len(samples)), 0.0, 0.0
	for _, x := range samples {
		sum, squares = sum+x, squares+x*x
	}
	t.attempts++
	t.samples += n
	t.sum += sum
	t.squares += squares
	t.within += sum * sum / n
	t.sizes += n * n
	t.inverses += 1 / n
	t.means += sum / n
	t.meanSquares += squares / n
	t.squaredMeans += sum / n * sum / n
	if n > 1 {
		t.sampleFlips += max(0, 2*(squares-sum*sum/n)/(n-1))
		t.repeated++
	}
}

// attemptFlips is the mean squared difference of verdicts on two attempts: of passes and failures the
// share of pairs that differ. The task needs two attempts.
func (t *NestedTask) attemptFlips() float64 {
	k := t.attempts
	return max(0, 2*t.meanSquares/k-2*(t.means*t.means-t.squaredMeans)/(k*(k-1)))
}

// nestedSums are sums over tasks.
type nestedSums struct {
	tasks, attempts, samples         float64
	sum, squares, within, between    float64
	taskSizes, attemptSizes, nesting float64
}

func (s *nestedSums) add(t *NestedTask, sign float64) {
	if t.attempts == 0 {
		return
	}
	s.tasks += sign
	s.attempts += sign * t.attempts
	s.samples += sign * t.samples
	s.sum += sign * t.sum
	s.squares += sign * t.squares
	s.within += sign * t.within
	s.between += sign * t.sum * t.sum / t.samples
	s.taskSizes += sign * t.samples * t.samples
	s.attemptSizes += sign * t.sizes
	s.nesting += sign * t.sizes / t.samples
}

// components solves the expected sums of squares for the three variances. One that the data do not
// separate is 0 and part of the one outside of it. An estimate may be below 0.
func (s *nestedSums) components() (tasks, attempts, samples float64) {
	if s.samples > s.attempts {
		samples = (s.squares - s.within) / (s.samples - s.attempts)
	}
	if s.attempts > s.tasks {
		attempts = (s.within - s.between - (s.attempts-s.tasks)*samples) / (s.samples - s.nesting)
	}
	if d := s.samples - s.taskSizes/s.samples; s.tasks > 1 && d > 0 {
		tasks = (s.between - s.sum*s.sum/s.samples - (s.nesting-s.attemptSizes/s.samples)*attempts -
			(s.tasks-1)*samples) / d
	}
	return tasks, attempts, samples
}

// nestedPair are the sums of attempts that called real tools, or of all, and of attempts with
// recorded answers of tools, if these are compared.
type nestedPair struct {
	all, recorded nestedSums
	compared      bool
}

func (p *nestedPair) components() (c bySource) {
	c[ofTasks], c[ofTarget], c[ofJudge] = p.all.components()
	if p.compared {
		_, target, _ := p.recorded.components()
		c[ofTarget], c[ofTools] = target, c[ofTarget]-target
	}
	return c
}

// VarianceShare is the part of one source in the variance.
type VarianceShare struct {
	Source Source `json:"source"`
	// Estimate is the moment estimate. One below 0 counts as 0. It is nil where the data do not separate the
	// source: its part is not known, and is not 0.
	Estimate *float64 `json:"estimate"`
	// Share is the share of the variance of one verdict, OfMean that of the variance of the mean; nil where
	// the source is not known.
	Share  *Interval `json:"share"`
	OfMean *Interval `json:"share_of_mean"`
	weight float64   // of the variance in the variance of the mean
}

// Known reports whether the data separate the source from the others.
func (s *VarianceShare) Known() bool { return s.Estimate != nil }

// ofMean is the part of the source in the variance of the mean; 0 where it is not known.
func (s *VarianceShare) ofMean() float64 {
	if !s.Known() {
		return 0
	}
	return max(0, *s.Estimate) * s.weight
}

// Variance is the variance of verdicts by source.
type Variance struct {
	// Status is StatusOK; StatusZeroVariance where all verdicts are equal, StatusFewAttempts where no
	// task has several attempts and no attempt several verdicts: there are no shares then.
	Status   Status `json:"status"`
	Tasks    int    `json:"tasks"`
	Attempts int    `json:"attempts"`
	Verdicts int    `json:"verdicts"`
	// Mean is the mean of the attempts' mean verdicts.
	Mean Interval `json:"mean"`
	// TargetFlips is the share of pairs of attempts at a task with different verdicts, JudgeFlips that
	// of pairs of verdicts on an attempt. A score has the mean squared difference in their place.
	TargetFlips Interval        `json:"target_flips"`
	JudgeFlips  Interval        `json:"judge_flips"`
	Sources     []VarianceShare `json:"sources,omitempty"`
}

const (
	varianceLevel = 0.95
	// fewFlips is the number of tasks with a flip below which resampling them is not enough.
	fewFlips = 10
)

// NestedVariance splits the variance of verdicts by source. A task of recorded is the task of all at
// the same position, with recorded answers of tools; nil: tools are not compared, and their part
// belongs to the target's.
//
// The estimates are those of the analysis of variance of unbalanced nested data. The intervals are BCa
// over b resamples of the tasks. Where fewer than ten tasks have a flip, they are as wide as the
// interval of the flips' share, so that attempts that never differ do not prove a variance of 0.
// Source: Searle, Casella & McCulloch 1992, Variance Components, chapter 5; Efron 1987; Hesterberg 2015
// (levels expanded for few tasks); Zou and Donner 2008 for the difference of two components.
func NestedVariance(all, recorded []NestedTask, b int, seed [2]uint64) Variance {
	p := nestedPair{compared: recorded != nil}
	v := Variance{Status: StatusOK}
	var rates, target, judges, fixed Clusters
	var flips [3]int
	var weights bySource
	for i := range all {
		t := &all[i]
		p.all.add(t, 1)
		if t.attempts > 0 {
			rates.Add(t.means, int(t.attempts), t.squares == t.sum && t.samples == t.attempts)
			weights[ofTasks] += t.attempts * t.attempts
			weights[ofJudge] += t.inverses
		}
		flips[0] += addFlips(&target, t)
		if t.repeated > 0 {
			judges.Add(t.sampleFlips, int(t.repeated), false)
			if t.sampleFlips > 0 {
				flips[1]++
			}
		}
		if p.compared {
			p.recorded.add(&recorded[i], 1)
			flips[2] += addFlips(&fixed, &recorded[i])
		}
	}
	n := p.all.attempts
	v.Tasks, v.Attempts, v.Verdicts = int(p.all.tasks), int(n), int(p.all.samples)
	v.Mean = rates.Interval(varianceLevel, 1)
	v.TargetFlips, v.JudgeFlips = target.Interval(varianceLevel, 1), judges.Interval(varianceLevel, DefaultRho0)
	known := [sourceCount]bool{v.Tasks > 1, v.Attempts > v.Tasks, p.compared, v.Verdicts > v.Attempts}
	if !known[ofTasks] || !known[ofTarget] && !known[ofJudge] {
		v.Status = StatusFewAttempts
		return v
	}
	c := p.components()
	total := c.total()
	if total <= 0 {
		v.Status = StatusZeroVariance
		return v
	}
	weights = bySource{weights[ofTasks] / (n * n), 1 / n, 1 / n, weights[ofJudge] / (n * n)}
	draws := p.resample(all, recorded, b, seed)
	ends := [sourceCount]*Interval{}
	half := func(iv Interval, less float64) *Interval {
		iv.Lower, iv.Upper = iv.Lower/2-less, iv.Upper/2-less
		return &iv
	}
	if flips[1] < fewFlips {
		ends[ofJudge] = half(v.JudgeFlips, 0)
	}
	if flips[0] < fewFlips && known[ofTarget] {
		ends[ofTarget] = half(v.TargetFlips, max(0, c[ofJudge]))
		tasks := half(v.TargetFlips, 0)
		tasks.Lower, tasks.Upper = total-tasks.Upper, total-tasks.Lower
		ends[ofTasks] = tasks
	}
	if p.compared {
		ends[ofTarget] = nil
		with := fixed.Interval(varianceLevel, 1)
		if flips[2] < fewFlips {
			ends[ofTarget] = half(with, max(0, c[ofJudge]))
		}
		if min(flips[0], flips[2]) < fewFlips {
			d := Combine([]float64{0.5, -0.5}, []Interval{v.TargetFlips, with})
			ends[ofTools] = &d
		}
	}
	for i, name := range sourceNames() {
		s := VarianceShare{Source: name, weight: weights[i]}
		if known[i] {
			s.Estimate = &c[i]
			one := func(x bySource) float64 { return x.share(i, bySource{1, 1, 1, 1}) }
			mean := func(x bySource) float64 { return x.share(i, weights) }
			s.Share, s.OfMean = draws.interval(one, ends[i], i), draws.interval(mean, ends[i], i)
		}
		v.Sources = append(v.Sources, s)
	}
	return v
}

// addFlips adds the flips of a task with several attempts, and returns 1 where there is one.
func addFlips(to *Clusters, t *NestedTask) int {
	if t.attempts < 2 {
		return 0
	}
	d := t.attemptFlips()
	to.Add(d, 1, false)
	if d > 1e-12 {
		return 1
	}
	return 0
}

func (c bySource) total() (sum float64) {
	for _, x := range c {
		sum += x
	}
	return sum
}

// clipped replaces estimates below 0 by 0.
func (c bySource) clipped() bySource {
	for i := range c {
		c[i] = max(0, c[i])
	}
	return c
}

// share is the share of a source in the weighted sum; 0 of nothing.
func (c bySource) share(of int, weights bySource) float64 {
	sum := 0.0
	for i := range c {
		c[i] *= weights[i]
		sum += c[i]
	}
	if sum <= 0 {
		return 0
	}
	return c[of] / sum
}

// with replaces one component and scales the others, so that the total stays.
func (c bySource) with(of int, x float64) bySource {
	total := c.total()
	x = min(max(0, x), total)
	out := c.clipped()
	out[of] = 0
	rest := out.total()
	switch {
	case rest > 0:
		for i := range out {
			out[i] *= (total - x) / rest
		}
	case of == ofTasks:
		out[ofTarget] = total - x
	default:
		out[ofTasks] = total - x
	}
	out[of] = x
	return out
}

// nestedDraws are the components of all tasks, without each of them, and of resamples.
type nestedDraws struct {
	point           bySource
	jack, resampled []bySource
	tasks, verdicts int
}

func (p *nestedPair) resample(all, recorded []NestedTask, b int, seed [2]uint64) *nestedDraws {
	d := &nestedDraws{point: p.components(), tasks: int(p.all.tasks), verdicts: int(p.all.samples)}
	add := func(to *nestedPair, i int, sign float64) {
		to.all.add(&all[i], sign)
		if to.compared {
			to.recorded.add(&recorded[i], sign)
		}
	}
	for i := range all {
		left := *p
		add(&left, i, -1)
		d.jack = append(d.jack, left.components())
	}
	rng := rand.New(rand.NewPCG(seed[0], seed[1]))
	for range b {
		drawn := nestedPair{compared: p.compared}
		for range all {
			add(&drawn, rng.IntN(len(all)), 1)
		}
		d.resampled = append(d.resampled, drawn.components())
	}
	return d
}

// interval is that of a share, at least as wide as the ends of its component where they are given.
// Estimates below 0 count as 0 in the point, and keep their sign in the ends.
func (d *nestedDraws) interval(share func(bySource) float64, ends *Interval, of int) *Interval {
	each := func(cs []bySource) []float64 {
		out := make([]float64, len(cs))
		for i := range cs {
			out[i] = share(cs[i])
		}
		return out
	}
	g := float64(d.tasks)
	expanded := 2*Normal(TQuantile(g-1, (1+varianceLevel)/2)*math.Sqrt(g/(g-1))) - 1
	x := BCaFrom(share(d.point), each(d.jack), each(d.resampled), expanded)
	iv := &Interval{
		Point: share(d.point.clipped()), Lower: x.Lower, Upper: x.Upper, N: d.verdicts, Clusters: d.tasks,
		Confidence: varianceLevel, Method: "nested_anova_bca", Status: StatusOK,
	}
	if ends != nil {
		iv.Status = StatusCapped
		iv.Lower = min(iv.Lower, share(d.point.with(of, ends.Lower)))
		iv.Upper = max(iv.Upper, share(d.point.with(of, ends.Upper)))
	}
	if d.point[of] <= 0 {
		iv.Lower = 0
	}
	iv.Lower, iv.Upper = max(0, min(iv.Lower, iv.Point)), min(1, max(iv.Upper, iv.Point))
	return iv
}

// SE is the standard error of the mean with so many times the tasks, the attempts at each, and the
// verdicts on each attempt; infinitely many verdicts leave no variance of the judge.
func (v *Variance) SE(tasks, attempts, verdicts float64) float64 {
	sum := 0.0
	for i := range v.Sources {
		s := &v.Sources[i]
		x := s.ofMean() / tasks
		switch s.Source {
		case SourceTasks:
		case SourceTarget, SourceTools:
			x /= attempts
		case SourceJudge:
			x /= attempts * verdicts
		}
		sum += x
	}
	return math.Sqrt(sum)
}

// SuiteSE is the standard error of the mean for the tasks of this suite, which do not vary then.
func (v *Variance) SuiteSE() float64 {
	all := v.SE(1, 1, 1)
	return math.Sqrt(max(0, all*all-v.Sources[ofTasks].ofMean()))
}
