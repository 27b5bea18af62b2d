// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// untilTasks is the number of tasks after which an undecided sequence ends.
const untilTasks = 800

// mixedRate is the error rate of a side of a gate with a first look for a fixed number of tasks,
// over all looks. Source: Statistics specification, section 16.6.
const mixedRate = gate.Alpha + gate.LaterAlpha

// untilStudies are about gates that are looked at more than once. Source: Statistics specification,
// section 16.6.
func untilStudies() []Study {
	return slices.Concat(boundStudies(), powerStudies(), pairStudies(), orderStudies(), laterLookStudies(),
		rerunStudies())
}

// sequenceOf starts a sequence by the rule of a bound on a rate.
func sequenceOf(r gate.SequenceRule, alpha float64) *gate.Sequence {
	r.Alpha, r.MinUnits, r.MaxLost = alpha, gate.MinUnits, 0.05
	s, ok := gate.NewSequence(r)
	if !ok {
		panic(fmt.Sprintf("the rule %+v is refused", r)) // the bounds are those of this file
	}
	return s
}

func boundedBy(bound, alpha float64) *gate.Sequence {
	r, _ := gate.Bounded(gate.AtLeast, bound)
	return sequenceOf(r, alpha)
}

// follow adds up to so many tasks until the sequence is decided.
func follow(s *gate.Sequence, tasks int, draw func() float64) gate.Verdict {
	for s.N() < tasks && !s.Decided() {
		x := draw()
		s.Add(gate.Task{Low: x, High: x})
	}
	return s.Decision().Verdict
}

// taskMeans draws means of so many attempts at a task.
func taskMeans(rng *rand.Rand, attempts int, rate, icc float64) func() float64 {
	return func() float64 {
		return float64(stats.DrawPasses(rng, attempts, stats.DrawRate(rng, rate, icc))) / float64(attempts)
	}
}

// bySide makes a study of false passes and one of false failures.
func bySide(name string, high float64, cost int, verdict func(*rand.Rand) gate.Verdict) []Study {
	var out []Study
	for _, v := range []gate.Verdict{gate.Pass, gate.Fail} {
		out = append(out, Study{
			Name: fmt.Sprintf("false %s, %s", v, name), High: high, Cost: cost,
			Trial: func(rng *rand.Rand) bool { return verdict(rng) == v },
		})
	}
	return out
}

// boundStudies measure how often a rate that is at its bound is decided.
func boundStudies() (out []Study) {
	for _, bound := range []float64{0.7, 0.85, 0.95} {
		out = append(out, bySide(fmt.Sprintf("bound %g, after every task of %d", bound, untilTasks), gate.Alpha, 5,
			func(rng *rand.Rand) gate.Verdict {
				return follow(boundedBy(bound, gate.Alpha), untilTasks, taskMeans(rng, 1, bound, 0))
			})...)
		out = append(out, bySide(fmt.Sprintf("bound %g, ten looks at evidence from the first task", bound), gate.Alpha, 2,
			func(rng *rand.Rand) gate.Verdict { return tenLooks(bound, taskMeans(rng, 1, bound, 0)) })...)
		out = append(out, bySide(fmt.Sprintf("bound %g, one look of 100 tasks, then evidence after every task", bound),
			mixedRate, 5, func(rng *rand.Rand) gate.Verdict {
				return mixedLooks(bound, 100, taskMeans(rng, 1, bound, 0))
			})...)
	}
	for _, icc := range []float64{0, 0.5, 1} {
		out = append(out, bySide(fmt.Sprintf("bound 0.85, after every task of %d of 3 attempts, alike by %g", untilTasks,
			icc), gate.Alpha, 5, func(rng *rand.Rand) gate.Verdict {
			return follow(boundedBy(0.85, gate.Alpha), untilTasks, taskMeans(rng, 3, 0.85, icc))
		})...)
	}
	fixed := bySide("bound 0.85, ten looks of a gate for one", 1, 1, func(rng *rand.Rand) gate.Verdict {
		return fixedLooks(0.85, taskMeans(rng, 1, 0.85, 0))
	})
	for i := range fixed { // why later looks need evidence
		fixed[i].Low = 0.05
	}
	return append(out, fixed...)
}

// tenLooks looks at the evidence of a bound after every tenth of the tasks.
func tenLooks(bound float64, draw func() float64) gate.Verdict {
	pass, fail := gate.Bets{Bound: bound}, gate.Bets{Bound: 1 - bound}
	for i := range untilTasks {
		x := draw()
		pass.Add(x)
		fail.Add(1 - x)
		if (i+1)%(untilTasks/10) > 0 {
			continue
		}
		switch need := -math.Log(gate.Alpha); {
		case fail.Log() >= need:
			return gate.Fail
		case pass.Log() >= need:
			return gate.Pass
		}
	}
	return gate.Inconclusive
}

// oneLook is the gate for a fixed number of tasks.
func oneLook(bound, sum float64, n int) gate.Verdict {
	iv := stats.EffectiveRate(sum/float64(n), n, n, float64(n), level)
	return gate.Decide(gate.Rule{Direction: gate.AtLeast, Bound: bound, MinUnits: gate.MinUnits},
		gate.Evidence{Interval: iv, Units: n, Coverage: 1}).Verdict
}

// fixedLooks looks ten times with the gate that is for one look.
func fixedLooks(bound float64, draw func() float64) gate.Verdict {
	sum := 0.0
	for i := range untilTasks {
		sum += draw()
		if n := i + 1; n%(untilTasks/10) == 0 {
			if v := oneLook(bound, sum, n); v != gate.Inconclusive {
				return v
			}
		}
	}
	return gate.Inconclusive
}

// mixedLooks looks once with the gate for a fixed number of tasks. If that one is open, the evidence
// of all tasks decides after each further one.
func mixedLooks(bound float64, first int, draw func() float64) gate.Verdict {
	s, sum := boundedBy(bound, gate.LaterAlpha), 0.0
	follow(s, first, func() float64 {
		x := draw()
		sum += x
		return x
	})
	for n := s.N(); n < first; n++ { // the evidence was decided within the first look
		sum += draw()
	}
	if v := oneLook(bound, sum, first); v != gate.Inconclusive {
		return v
	}
	return follow(s, untilTasks, draw)
}

// powerPoint is how often a gate of evidence is decided rightly, and how many tasks it asks on average.
// Source: Statistics specification, section 16.6.
type powerPoint struct {
	bound, truth, alpha float64
	most                int
	want                gate.Verdict
	chance, tasks       float64
}

func powerPoints() []powerPoint {
	return []powerPoint{
		{0.85, 0.95, gate.Alpha, 150, gate.Pass, 0.91, 81},
		{0.85, 0.95, gate.LaterAlpha, 150, gate.Pass, 0.75, 108},
		{0.9, 0.97, gate.Alpha, 462, gate.Pass, 0.99, 117},
		{0.9, 0.97, gate.LaterAlpha, 462, gate.Pass, 0.98, 162},
		{0.85, 0.75, gate.Alpha, 500, gate.Fail, 0.97, 155},
	}
}

func powerStudies() (out []Study) {
	for _, p := range powerPoints() {
		out = append(out, Study{
			Name: fmt.Sprintf("true %s, bound %g at %g, %d tasks, alpha %g", p.want, p.bound, p.truth, p.most, p.alpha),
			Low:  p.chance - 0.02, High: min(1, p.chance+0.02), Cost: 5,
			Trial: func(rng *rand.Rand) bool {
				return follow(boundedBy(p.bound, p.alpha), p.most, taskMeans(rng, 1, p.truth, 0)) == p.want
			},
		})
	}
	return out
}

// pairDraw draws the difference of two attempts at a task. A share of the tasks changes without a loss.
func pairDraw(rng *rand.Rand, loss float64) func() float64 {
	const changes = 0.05
	return func() float64 {
		switch x := rng.Float64(); {
		case x < changes+loss:
			return 0 // (1 - 1)/2
		case x < 2*changes+loss:
			return 1
		}
		return 0.5
	}
}

// pairStudies measure how often a loss of the margin passes, and how often no loss fails.
func pairStudies() (out []Study) {
	for _, margin := range []float64{0.02, 0.05} {
		decides := func(loss float64, v gate.Verdict, low, high float64, what string) Study {
			return Study{
				Name: fmt.Sprintf("%s, pairs with a margin of %g, after every one of %d", what, margin, untilTasks),
				Low:  low, High: high, Cost: 5,
				Trial: func(rng *rand.Rand) bool {
					s := sequenceOf(gate.Paired(margin, gate.MinEffect), gate.Alpha)
					return follow(s, untilTasks, pairDraw(rng, loss)) == v
				},
			}
		}
		out = append(out, decides(margin, gate.Pass, 0, gate.Alpha, "a loss of the margin passes"),
			decides(0, gate.Fail, 0, gate.Alpha, "no loss fails"))
	}
	return out
}

// slow is how much longer an attempt takes that fails, inFlight how many are asked at a time.
const slow, inFlight = 30, 8

// completion is the order of the tasks by their completion, if inFlight of them are asked at a time, in
// their own order.
func completion(times []float64) []int {
	type attempt struct {
		task int
		end  float64
	}
	var open []attempt
	next, now := 0, 0.0
	order := make([]int, 0, len(times))
	for len(order) < len(times) {
		for next < len(times) && len(open) < inFlight {
			open = append(open, attempt{next, now + times[next]})
			next++
		}
		first := 0
		for i := range open {
			if open[i].end < open[first].end {
				first = i
			}
		}
		now, order = open[first].end, append(order, open[first].task)
		open = slices.Delete(open, first, first+1)
	}
	return order
}

// orderStudies are about failures that take longer. A gate that looks at the tasks as they are
// completed passes falsely. One that looks at those before the first incomplete one does not.
func orderStudies() []Study {
	const bound = 0.9
	run := func(rng *rand.Rand, inOrder bool) gate.Verdict {
		passed, times := make([]float64, untilTasks), make([]float64, untilTasks)
		for i := range passed {
			times[i] = rng.ExpFloat64()
			if passed[i] = float64(stats.DrawPasses(rng, 1, bound)); passed[i] == 0 {
				times[i] *= slow
			}
		}
		s := boundedBy(bound, gate.Alpha)
		done := make([]bool, untilTasks)
		for _, task := range completion(times) {
			if !inOrder {
				s.Add(gate.Task{Low: passed[task], High: passed[task]})
				continue
			}
			for done[task] = true; s.N() < untilTasks && done[s.N()] && !s.Decided(); {
				s.Add(gate.Task{Low: passed[s.N()], High: passed[s.N()]})
			}
			if s.Decided() {
				break
			}
		}
		return s.Decision().Verdict
	}
	planned := bySide("bound 0.9, slow failures, tasks in planned order", gate.Alpha, 5,
		func(rng *rand.Rand) gate.Verdict { return run(rng, true) })
	return append(planned, Study{
		Name: "false PASS, bound 0.9, slow failures, tasks in order of completion", Low: 0.06, High: 1, Cost: 5,
		Trial: func(rng *rand.Rand) bool { return run(rng, false) == gate.Pass },
	})
}

// laterLookStudies are about metrics without a sequence: each look has its own error rate.
func laterLookStudies() []Study {
	const looks, step = 10, 60
	errs := func(name string, cost int, draw func(*rand.Rand) float64, ends func([]stats.Observation,
		float64) stats.Interval, truth float64,
	) []Study {
		return bySide(name, mixedRate, cost, func(rng *rand.Rand) gate.Verdict {
			var obs []stats.Observation
			for look := range looks {
				for range step {
					obs = append(obs, stats.Observation{Value: draw(rng), Cluster: int32(len(obs))})
				}
				iv := ends(obs, 1-2*gate.LookAlpha(look+1))
				if d := gate.Decide(gate.Rule{Direction: gate.AtMost, Bound: truth},
					gate.Evidence{Interval: iv, Coverage: 1}); d.Verdict != gate.Inconclusive {
					return d.Verdict
				}
			}
			return gate.Inconclusive
		})
	}
	mean := func(obs []stats.Observation, conf float64) stats.Interval {
		var r stats.Ratio
		for _, o := range obs {
			r.Add(o.Value, 1)
		}
		return r.Interval(conf)
	}
	p90 := func(obs []stats.Observation, conf float64) stats.Interval {
		return stats.QuantileIntervals(obs, conf, 0.9)[0]
	}
	return slices.Concat(
		errs("p90 at its bound, ten looks with less error each", 10,
			func(rng *rand.Rand) float64 { return rng.ExpFloat64() }, p90, math.Log(10)),
		errs("mean amount at its bound, ten looks with less error each", 5,
			func(rng *rand.Rand) float64 { return stats.DrawLognormal(rng, 0.3) }, mean, 1))
}

// rerunStudies are about later looks at the same tasks: each look adds an attempt at each of them, and the means
// of the tasks change. The first look is that of a fixed number of tasks, or evidence from the first task.
func rerunStudies() (out []Study) {
	for _, icc := range []float64{0, 0.5, 0.9} {
		for _, declared := range []bool{false, true} {
			first := "one look of 200 tasks"
			if declared {
				first = "evidence after every task of 200"
			}
			out = append(out, bySide(fmt.Sprintf("bound 0.85, %s, then 7 looks at more attempts at them, alike by %g",
				first, icc), mixedRate, 5, func(rng *rand.Rand) gate.Verdict { return rerun(rng, 0.85, 200, 8, icc, declared) })...)
		}
	}
	return out
}

// rerun looks at so many tasks, with one more attempt at each look.
func rerun(rng *rand.Rand, bound float64, tasks, looks int, icc float64, declared bool) gate.Verdict {
	rates, sums := make([]float64, tasks), make([]float64, tasks)
	for i := range rates {
		rates[i] = stats.DrawRate(rng, bound, icc)
	}
	at := func(i, attempts int) gate.Task {
		x := sums[i] / float64(attempts)
		return gate.Task{Low: x, High: x}
	}
	for look := 1; look <= looks; look++ {
		s := boundedBy(bound, gate.LaterAlpha)
		if look == 1 {
			s = boundedBy(bound, gate.Alpha)
		} else {
			for i := range rates {
				s.Take(at(i, look-1))
			}
			s.Look()
		}
		total := 0.0
		for i, rate := range rates {
			before := at(i, max(1, look-1))
			sums[i] += float64(stats.DrawPasses(rng, 1, rate))
			if total += sums[i]; look == 1 {
				s.Add(at(i, 1))
			} else {
				s.Replace(before, at(i, look))
			}
		}
		v := s.Decision().Verdict
		if look == 1 && !declared {
			v = oneLook(bound, total, tasks)
		}
		if v != gate.Inconclusive {
			return v
		}
	}
	return gate.Inconclusive
}
