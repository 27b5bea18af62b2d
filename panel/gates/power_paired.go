// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"math"
	"math/rand/v2"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// PairedRateTrial is a rate compared with a baseline over the same tasks.
type PairedRateTrial struct {
	Gate    Gate
	Pairing panel.Pairing
	// Rate is the rate of the baseline, Attempts how many values a task has on each side, and
	// Correlation the correlation of the values of a task, in [0,1).
	Rate        float64
	Attempts    int
	Correlation float64
	// Loss, in [0,1], is how much worse the candidate is: every task loses the same part of its
	// rate or, with Breaks, some tasks lose all of it.
	Loss   float64
	Breaks bool
}

// Discordant is the share of tasks with results that differ between two single attempts although
// nothing changed, for a rate and the correlation of a task's attempts.
func Discordant(rate, correlation float64) float64 { return 2 * rate * (1 - rate) * (1 - correlation) }

// CorrelationOf is the inverse of Discordant: the correlation of a task's attempts, in [0,1). ok is
// false where even uncorrelated attempts differ less often.
func CorrelationOf(rate, discordant float64) (correlation float64, ok bool) {
	most := Discordant(rate, 0)
	if !(discordant >= 0 && discordant <= most) || most == 0 {
		return 0, false
	}
	return min(1-discordant/most, maxCorrelation), true
}

// maxCorrelation is the largest correlation that is drawn.
const maxCorrelation = 0.999

// Trial draws the tasks of both sides and gives the gate's verdict on their change.
func (p *PairedRateTrial) Trial(rng *rand.Rand, tasks int) gate.Verdict {
	before, after := make([]panel.Share, tasks), make([]panel.Share, tasks)
	good := p.Rate // the good outcomes are drawn
	if p.Pairing.LowerIsBetter {
		good = 1 - p.Rate
	}
	side := func(rate float64) panel.Share {
		n := stats.DrawPasses(rng, p.Attempts, rate)
		if p.Pairing.LowerIsBetter {
			n = p.Attempts - n
		}
		return panel.Share{Sum: float64(n), N: p.Attempts, Binary: true}
	}
	if p.Attempts == 1 {
		// Single attempts depend only on two moments of the tasks' rates.
		kept := 1 - p.Loss/good
		both := kept * (good*good + p.Correlation*good*(1-good))
		law := []float64{both, good - both, good*kept - both}
		for i := range before {
			u := rng.Float64()
			was, is := u < law[0]+law[1], u < law[0] || u >= law[0]+law[1] && u < law[0]+law[1]+law[2]
			before[i], after[i] = side(one(was)), side(one(is))
		}
		return p.hold(before, after)
	}
	for i := range before {
		was := stats.DrawRate(rng, good, p.Correlation)
		is := was
		switch {
		case p.Loss == 0:
		case !p.Breaks:
			is = was * (1 - p.Loss/good)
		case rng.Float64() < p.Loss/good:
			is = 0
		}
		before[i], after[i] = side(was), side(is)
	}
	return p.hold(before, after)
}

func (p *PairedRateTrial) hold(before, after []panel.Share) gate.Verdict {
	d := panel.PairedOf(&p.Pairing, before, after, confidence)
	return p.Gate.HoldChange(&d, &p.Pairing).Verdict
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// PairedAmountTrial is an amount compared with a baseline over the same tasks.
type PairedAmountTrial struct {
	Gate    Gate
	Pairing panel.Pairing
	// Mean is the mean of the baseline, which only counts need, and SD the standard deviation of
	// the tasks' differences as a share of it. Both sides have the same variance.
	Mean, SD float64
	// Rise is how much more the candidate takes, as a share of the baseline.
	Rise float64
}

// Trial draws the tasks of both sides and gives the gate's verdict on their change.
func (p *PairedAmountTrial) Trial(rng *rand.Rand, tasks int) gate.Verdict {
	before, after := make([]panel.Share, tasks), make([]panel.Share, tasks)
	side := func(mean float64) panel.Share {
		sd := p.SD / math.Sqrt2 * mean
		if p.Pairing.Unit == panel.UnitCount {
			return panel.Share{Sum: float64(stats.DrawCount(rng, mean, sd)), N: 1}
		}
		return panel.Share{Sum: stats.DrawAmount(rng, mean, sd), N: 1}
	}
	for i := range before {
		before[i], after[i] = side(p.Mean), side(p.Mean*(1+p.Rise))
	}
	d := panel.PairedOf(&p.Pairing, before, after, confidence)
	return p.Gate.HoldChange(&d, &p.Pairing).Verdict
}
