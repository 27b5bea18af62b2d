// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

const (
	// MinFamilies is the least number of families on each side of the split for a promotion.
	MinFamilies = 20
	// MaxLost is the largest share of lost attempts for a promotion, as for gates.
	MaxLost = 0.05
	// confidence is the confidence of the reported interval.
	confidence = 0.95
	// fewUnlike is how many families must differ from the rest for a t interval.
	fewUnlike = 5
	// power is the chance to show a gain with the needed number of cases.
	power = 0.8
)

// Outcome is the decision of a confirmation.
type Outcome string

// The outcomes, in order of precedence.
const (
	// Broken: the candidate breaks a constraint, so it cannot win.
	Broken Outcome = "broken"
	// Refused: too few families of cases on a side of the split.
	Refused Outcome = "refused"
	// TooMuchLost: more than MaxLost of the attempts were lost.
	TooMuchLost Outcome = "too_much_lost"
	// Promoted: the lower end of the gain is above the margin.
	Promoted Outcome = "promoted"
	// NoEvidence: the gain may be at or below the margin.
	NoEvidence Outcome = "no_evidence"
)

// HeldOut is a held-out case with the means of the base and of the candidate, where more is better.
type HeldOut struct {
	Case, Family    string
	Base, Candidate panel.TaskMean
}

// ConfirmConfig is the input of a confirmation.
type ConfirmConfig struct {
	// Cases are all held-out cases that were planned.
	Cases []HeldOut
	// TrainFamilies is the number of families of the search.
	TrainFamilies int
	// Use numbers the uses of the held-out cases of the suite, from 1.
	Use int
	// Margin is the gain that a promotion must exceed, in [0,1).
	Margin float64
	// Broken are the constraints that the candidate breaks, see Breaks.
	Broken []string
}

// Confirmation is the comparison of the candidate with the base on the held-out cases.
type Confirmation struct {
	Outcome Outcome `json:"outcome"`
	// Gain is the mean difference of the cases, candidate - base, in [-1,1], with its 95 % interval.
	// Lost attempts are left out of it.
	Gain stats.Interval `json:"gain"`
	// Lower is the bound that decides: the lower end of the gain at the one-sided error Alpha, with
	// lost attempts of the candidate as failures and those of the base as passes. It is nil if the
	// gain has no interval.
	Lower *float64 `json:"lower"`
	// Alpha is PromotionAlpha of Use.
	Alpha  float64 `json:"alpha"`
	Use    int     `json:"use"`
	Margin float64 `json:"margin,omitempty"`
	// Base and Candidate are the means over the cases.
	Base      float64 `json:"base"`
	Candidate float64 `json:"candidate"`
	Cases     int     `json:"cases"`
	Families  int     `json:"families"`
	// TrainFamilies is the number of families of the search.
	TrainFamilies int `json:"train_families"`
	// Lost is the share of the attempts of both sides that were lost.
	Lost float64 `json:"lost,omitempty"`
	// Needed is about how many held-out cases show a gain of this size at the next use with
	// probability 0.8; 0 if the gain is not above the margin, or is shown already.
	Needed int      `json:"needed,omitempty"`
	Broken []string `json:"broken,omitempty"`
	// Text is the outcome in a sentence.
	Text string `json:"text"`
}

// PromotionAlpha is the one-sided error rate of the use-th test of a promotion on the same held-out
// cases. All tests together promote without a gain with probability 0.025 at most.
func PromotionAlpha(use int) float64 { return gate.Alpha * math.Ldexp(1, -max(1, use)) }

// Confirm decides whether the candidate replaces the base. The comparison is paired by case, and
// clustered by family. Source: Statistics specification, sections 9 and 16.2.
func Confirm(cfg ConfirmConfig) *Confirmation {
	use := max(1, cfg.Use)
	c := &Confirmation{
		Use: use, Alpha: PromotionAlpha(use), Margin: cfg.Margin, TrainFamilies: cfg.TrainFamilies,
		Broken: cfg.Broken, Cases: len(cfg.Cases),
	}
	var seen, worst differences
	families := map[string]bool{}
	var base, candidate float64
	for _, t := range cfg.Cases {
		families[t.Family] = true
		c.Lost += ((t.Base.High - t.Base.Low) + (t.Candidate.High - t.Candidate.Low)) / 2 / float64(len(cfg.Cases))
		worst.add(t.Family, t.Candidate.Low-t.Base.High)
		b, known := withoutLost(t.Base)
		now, also := withoutLost(t.Candidate)
		if known && also {
			seen.add(t.Family, now-b)
			base, candidate = base+b, candidate+now
		}
	}
	c.Families = len(families)
	if n := float64(len(seen.values)); n > 0 {
		c.Base, c.Candidate = base/n, candidate/n
	}
	c.Gain = seen.interval(confidence)
	if lower := worst.interval(1 - 2*c.Alpha); lower.Usable() {
		c.Lower = &lower.Lower
	}
	shown := c.Lower != nil && *c.Lower > cfg.Margin
	switch {
	case len(cfg.Broken) > 0:
		c.Outcome = Broken
	case min(c.Families, c.TrainFamilies) < MinFamilies:
		c.Outcome = Refused
	case c.Lost > MaxLost:
		c.Outcome = TooMuchLost
	case shown:
		c.Outcome = Promoted
	default:
		c.Outcome = NoEvidence
	}
	if !shown {
		c.Needed = seen.needed(cfg.Margin, PromotionAlpha(use+1))
	}
	c.Text = c.sentence()
	return c
}

// withoutLost returns the mean of the attempts that were not lost; ok is false if all were.
func withoutLost(m panel.TaskMean) (mean float64, ok bool) {
	known := 1 - (m.High - m.Low)
	if known < 1e-9 {
		return 0, false
	}
	return min(1, m.Low/known), true
}

// differences are the differences of cases, by family in the order of their first appearance.
type differences struct {
	values   []float64
	families []int
	number   map[string]int
}

func (d *differences) add(family string, x float64) {
	if d.number == nil {
		d.number = map[string]int{}
	}
	if _, known := d.number[family]; !known {
		d.number[family] = len(d.number)
	}
	d.values, d.families = append(d.values, x), append(d.families, d.number[family])
}

// interval returns the interval of the mean over cases: the skewed t interval of one value for each
// family. If few families differ from the rest, it is at least as wide as the exact interval of the
// share of families that differ.
func (d *differences) interval(conf float64) stats.Interval {
	by := d.byFamily()
	iv, _ := stats.PairedSkewed(by, conf)
	iv.N = len(d.values)
	if !iv.Usable() {
		return iv
	}
	usual, below, above := d.unlike()
	if below+above < fewUnlike {
		fell := stats.ClopperPearson(below, len(by), conf, stats.TwoSided).Upper
		rose := stats.ClopperPearson(above, len(by), conf, stats.TwoSided).Upper
		iv.Lower = min(iv.Lower, usual-(1+usual)*fell)
		iv.Upper = max(iv.Upper, usual+(1-usual)*rose)
		iv.Status = stats.StatusCapped
	}
	iv.Lower, iv.Upper = max(-1, iv.Lower), min(1, iv.Upper)
	return iv
}

// byFamily has one value for each family. Their mean is the mean of the cases, and the variance of
// their mean is the cluster-robust variance of that (CR1), also for families of different sizes.
func (d *differences) byFamily() []float64 {
	sums, sizes := make([]float64, len(d.number)), make([]float64, len(d.number))
	total, n := 0.0, float64(len(d.values))
	for i, x := range d.values {
		sums[d.families[i]] += x
		sizes[d.families[i]]++
		total += x
	}
	for i := range sums {
		sums[i] = total/n + float64(len(sums))/n*(sums[i]-sizes[i]*total/n)
	}
	return sums
}

// unlike returns the commonest mean difference of a family, and how many families are below and
// above it.
func (d *differences) unlike() (usual float64, below, above int) {
	means, sizes := make([]float64, len(d.number)), make([]float64, len(d.number))
	for i, x := range d.values {
		means[d.families[i]] += x
		sizes[d.families[i]]++
	}
	for i := range means {
		means[i] = math.Round(means[i]/sizes[i]*1e9) / 1e9 // equal means may differ by rounding
	}
	slices.Sort(means)
	most := 0
	for from := 0; from < len(means); {
		to := from
		for to < len(means) && means[to] == means[from] {
			to++
		}
		if to-from > most {
			most, usual, below, above = to-from, means[from], from, len(means)-to
		}
		from = to
	}
	return usual, below, above
}

// needed returns the number of cases that shows the observed gain, with families of the same size
// as these.
func (d *differences) needed(margin, alpha float64) int {
	by := d.byFamily()
	iv, _ := stats.PairedMean(by, confidence)
	if iv.Status != stats.StatusOK || iv.Point <= margin {
		return 0
	}
	variance := iv.SE * iv.SE * float64(len(by))
	families, ok := gate.PairedMean(variance, 0, 0, 1, 1, iv.Point-margin, 2*alpha, power)
	cases := families * float64(len(d.values)) / float64(len(by))
	if !ok || cases > 1e6 {
		return 0
	}
	unit := math.Pow(10, max(0, math.Floor(math.Log10(cases))-1)) // two digits
	return int(math.Ceil(cases/unit-1e-9) * unit)
}

// sentence is the outcome in words.
func (c *Confirmation) sentence() string {
	gain := "no gain could be computed"
	if c.Gain.Usable() {
		gain = fmt.Sprintf("%s points [%s, %s]", signed(c.Gain.Point), signed(c.Gain.Lower), signed(c.Gain.Upper))
	}
	switch c.Outcome {
	case Broken:
		more := ""
		if n := len(c.Broken) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		return "no winner, a constraint is broken: " + c.Broken[0] + more + "; " + gain
	case Refused:
		return fmt.Sprintf(
			"promotion refused: %d families of cases for the search and %d held out, and it needs %d of each; %s",
			c.TrainFamilies, c.Families, MinFamilies, gain)
	case TooMuchLost:
		return fmt.Sprintf("undecided, %.1f %% of the attempts were lost: %s", 100*c.Lost, gain)
	case Promoted:
		return "improvement confirmed: " + gain
	case NoEvidence:
	}
	out := "no evidence of improvement: " + gain
	if c.Margin > 0 {
		out = fmt.Sprintf("no evidence of an improvement above %.1f points: %s", 100*c.Margin, gain)
	}
	if c.Gain.Usable() && c.Lower != nil && c.Gain.Lower > c.Margin {
		out += fmt.Sprintf("; use %d of the held-out cases needs %.3g %% confidence, and its lower end is %s", c.Use,
			100*(1-2*c.Alpha), signed(*c.Lower))
	}
	if c.Needed > 0 {
		out += fmt.Sprintf("; about %d cases would be needed", c.Needed)
	}
	return out
}

// signed writes a difference of shares in percentage points.
func signed(x float64) string {
	s := fmt.Sprintf("%+.1f", 100*x)
	if s == "-0.0" {
		return "+0.0"
	}
	return s
}

// Faced has the counts of a case that a candidate must not make worse.
type Faced struct {
	Case string
	Tier callvet.Tier
	// Attempts have an outcome, and Passed of them passed. Incidents is the number of safety incidents.
	BaseAttempts, BasePassed, BaseIncidents                int
	CandidateAttempts, CandidatePassed, CandidateIncidents int
}

// Breaks returns the constraints that the candidate breaks. A regression case that the base passes
// in all attempts must not fail in any, and must have an outcome; a case without an incident of the
// base must have none. Lost attempts of the base are assumed to pass.
func Breaks(faced []Faced) []string {
	var out []string
	for _, f := range faced {
		protected := f.Tier == callvet.TierRegression && f.BasePassed == f.BaseAttempts
		if protected && f.CandidateAttempts == 0 && f.BaseAttempts > 0 {
			out = append(out, fmt.Sprintf("regression case %s has no outcome, and passes with the base", f.Case))
		}
		if protected && f.CandidatePassed < f.CandidateAttempts {
			base := fmt.Sprintf("%d of %d", f.BasePassed, f.BaseAttempts)
			if f.BaseAttempts == 0 {
				base = "has no outcome"
			}
			out = append(out, fmt.Sprintf("regression case %s passes %d of %d attempts, and %s with the base",
				f.Case, f.CandidatePassed, f.CandidateAttempts, base))
		}
		if f.CandidateIncidents > 0 && f.BaseIncidents == 0 {
			out = append(out, fmt.Sprintf("case %s has %s, and none with the base", f.Case,
				panel.Plural(f.CandidateIncidents, "safety incident", "safety incidents")))
		}
	}
	return out
}
