// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"math/rand/v2"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/stats/judge"
)

// LabelDraw is the source of the labels for true success.
type LabelDraw string

// The sources of labels.
const (
	// Random labels are on tasks of the run, drawn at random.
	Random LabelDraw = "random"
	// ByVerdict labels are on tasks of the run, divided between the judge's verdicts as
	// judge.AllocateByVerdict does before there are labels.
	ByVerdict LabelDraw = "by_verdict"
	// Elsewhere labels are on other tasks, as good as those of the run.
	Elsewhere LabelDraw = "elsewhere"
)

// JudgedTrial is a lower bound on true success, measured by a judge that errs. The size of its
// trials is the number of labels.
type JudgedTrial struct {
	Gate Gate
	// Truth is the share of tasks that truly pass, Sensitivity and Specificity the
	// judge's, in [0,1].
	Truth, Sensitivity, Specificity float64
	// Tasks is how many tasks the judge judges, one attempt each.
	Tasks  int
	Labels LabelDraw

	known map[judge.Strata]gate.Verdict
}

// judged returns the share of tasks that the judge passes, and the shares of true passes among
// those (inPass) and among the rest (inFail).
func (j *JudgedTrial) judged() (p, inPass, inFail float64) {
	truly := j.Truth * j.Sensitivity
	p = truly + (1-j.Truth)*(1-j.Specificity)
	if p > 0 {
		inPass = truly / p
	}
	if p < 1 {
		inFail = (j.Truth - truly) / (1 - p)
	}
	return p, inPass, inFail
}

// Trial draws the tasks and the labels and returns the gate's verdict on them. It is not safe for
// concurrent use.
func (j *JudgedTrial) Trial(rng *rand.Rand, labels int) gate.Verdict {
	if j.Labels == Elsewhere {
		return j.elsewhere(rng, labels)
	}
	p, inPass, inFail := j.judged()
	s := judge.Strata{N: j.Tasks}
	labels = min(labels, j.Tasks)
	if j.Labels == Random {
		s.LabelledPass = stats.DrawPasses(rng, labels, p)
		s.LabelledFail = labels - s.LabelledPass
		s.JudgePass = s.LabelledPass + stats.DrawPasses(rng, j.Tasks-labels, p)
	} else {
		s.JudgePass = stats.DrawPasses(rng, j.Tasks, p)
		a, _ := judge.AllocateByVerdict(float64(s.JudgePass)/float64(s.N), judge.GuessPass, judge.GuessFail, labels)
		s.LabelledPass, s.LabelledFail = min(a.Pass, s.JudgePass), min(a.Fail, s.N-s.JudgePass)
	}
	s.TruePassInPass, s.TruePassInFail = stats.DrawPasses(rng, s.LabelledPass, inPass),
		stats.DrawPasses(rng, s.LabelledFail, inFail)
	v, seen := j.known[s]
	if !seen {
		if j.known == nil {
			j.known = map[judge.Strata]gate.Verdict{}
		}
		n := s.LabelledPass + s.LabelledFail
		v = j.Gate.Hold(judge.Carried(judge.StratifiedAt(s, j.Gate.Bound, confidence), n, n), 1, 0).Verdict
		j.known[s] = v
	}
	return v
}

func (j *JudgedTrial) elsewhere(rng *rand.Rand, labels int) gate.Verdict {
	p, _, _ := j.judged()
	var sum exact.Rate
	passed := stats.DrawPasses(rng, j.Tasks, p)
	sum.AddTimes(1, 1, uint64(passed))
	sum.AddTimes(0, 1, uint64(j.Tasks-passed))
	pass := stats.DrawPasses(rng, labels, j.Truth)
	c := judge.Calibration{
		LabelledPass: pass, TruePositive: stats.DrawPasses(rng, pass, j.Sensitivity),
		LabelledFail: labels - pass, TrueNegative: stats.DrawPasses(rng, labels-pass, j.Specificity),
	}
	iv := judge.TrueSuccess(sum.Interval(confidence, stats.DefaultRho0), c, confidence)
	return j.Gate.Hold(judge.Carried(iv, labels, min(labels, j.Tasks)), 1, 0).Verdict
}
