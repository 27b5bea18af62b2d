// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

const (
	// untilSeeds is the number of random orders of the cases.
	untilSeeds = 10
	// untilPairs is the number of pairs of models that each order is drawn for.
	untilPairs = 200
	// farOff is how far a model is from a bound that should be decided soon.
	farOff = 0.05
	// wrongRate is the largest share of decisions that may be wrong: the error rate of a gate.
	wrongRate = gate.Alpha
)

// band is where a measured share should be. Source: Statistics specification, section 16.6.
type band struct{ low, high float64 }

// bands of a bound: the share of cases run, for all models and for models far off.
var untilBounds = []struct {
	bound      float64
	asked, far band
}{
	{0.7, band{0.20, 0.28}, band{0.08, 0.14}},
	{0.8, band{0.33, 0.41}, band{0.08, 0.14}},
	{0.9, band{0.14, 0.22}, band{0.05, 0.11}},
}

// bands of a margin: the share of cases run, and the share of found losses of 2 to 5 points, case by case and over
// all cases.
var untilMargins = []struct {
	margin              float64
	asked, found, fixed band
}{
	{0.02, band{0.19, 0.29}, band{0.40, 0.65}, band{0.85, 1}},
	{0.05, band{0.12, 0.22}, band{0.40, 0.65}, band{0.85, 1}},
}

// until reads the recorded verdicts of models case by case, in a random order, until the gate is decided. It compares
// each decision with the mean over all cases, and the number of cases with earlier measurements. The gate over all
// cases is printed with it.
func until(_ context.Context, c *proof.Check, d proof.Data) error {
	models, err := recordedModels(c, d)
	if err != nil {
		return err
	}
	u := untilCheck{c, models}
	for _, b := range untilBounds {
		u.bound(b.bound, b.asked, b.far)
	}
	for _, m := range untilMargins {
		u.margin(m.margin, m.asked, m.found, m.fixed)
	}
	return nil
}

// recordedModel are the verdicts of a model, 1 or 0 by case. All models have the same cases in the
// same order.
type recordedModel struct {
	name   string
	passed []float64
	mean   float64
}

// recordedModels reads the official verdicts, and compares their counts with the published ones.
func recordedModels(c *proof.Check, d proof.Data) (models []recordedModel, err error) {
	figures, err := d.Published(bfclV1)
	if err != nil {
		return nil, err
	}
	published := &official{bfclV1, figures, []string{"categories"}}
	c.Due("models", len(figures.Keys()), figures.Source)
	files, err := d.Files(bfclV1, "outputs/*.jsonl*")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range files {
		valid := map[string]bool{}
		var order []string
		if err := jsonl.Each(f, func(row officialRow) error {
			valid[row.ID], order = row.Valid, append(order, row.ID)
			return nil
		}); err != nil {
			return nil, err
		}
		if slices.Sort(order); ids == nil {
			ids = order
		}
		if !slices.Equal(ids, order) || len(valid) != len(order) {
			return nil, fmt.Errorf("read %s: %w: its cases are not those of %s", f, callvet.ErrInvalid, files[0])
		}
		m := recordedModel{name: jsonl.Stem(f)}
		own := 0
		for _, id := range ids {
			if m.passed = append(m.passed, asNumber(valid[id])); valid[id] {
				own++
			}
		}
		m.mean = float64(own) / float64(len(ids))
		correct, total := 0, 0
		for _, category := range published.categories(m.name) {
			if executed(category) {
				continue
			}
			right, err := figures.Count(published.path(m.name, category, "correct")...)
			if err != nil {
				return nil, err
			}
			all, err := figures.Count(published.path(m.name, category, "total")...)
			if err != nil {
				return nil, err
			}
			correct, total = correct+right, total+all
		}
		c.Compare("models", m.name, own == correct && len(ids) == total, "%d of %d valid, published %d of %d", own,
			len(ids), correct, total)
		models = append(models, m)
	}
	c.Printf("%d models, %d cases each\n", len(models), len(ids))
	return models, nil
}

type untilCheck struct {
	c      *proof.Check
	models []recordedModel
}

// askUntil checks a gate after each value, in [0,1], until it is decided or there are no more values.
func askUntil(r gate.SequenceRule, values []float64, order []int) *gate.Sequence {
	r.MinUnits = gate.MinUnits
	s, ok := gate.NewSequence(r)
	if !ok {
		panic(fmt.Sprintf("the rule %+v is refused", r)) // the bounds are made in this file
	}
	for _, i := range order {
		if s.Add(gate.Task{Low: values[i], High: values[i]}); s.Decided() {
			break
		}
	}
	return s
}

// average is a running mean.
type average struct{ sum, n float64 }

func (a *average) add(x float64) { a.sum, a.n = a.sum+x, a.n+1 }

func (a *average) mean() float64 { return a.sum / max(1, a.n) }

// askedGates are the decisions of gates with the same bound.
type askedGates struct {
	asked, undecided, fixedUndecided average
	wrong                            []string
}

// add adds a decision: pass is right if the truth is at least the bound of a pass, fail if it is at most the bound of
// a failure.
func (t *askedGates) add(name string, s *gate.Sequence, fixed gate.Decision, cases int, passes, fails bool) {
	verdict := s.Decision().Verdict
	t.asked.add(float64(s.N()) / float64(cases))
	t.undecided.add(asNumber(verdict == gate.Inconclusive))
	t.fixedUndecided.add(asNumber(fixed.Verdict == gate.Inconclusive))
	if verdict == gate.Pass && !passes || verdict == gate.Fail && !fails {
		t.wrong = append(t.wrong, fmt.Sprintf("%s: %s after %d", name, verdict, s.After()))
	}
}

// close counts the decisions. Wrong ones are explained by the error rate if there are no more than it allows.
func (u *untilCheck) close(subject string, t *askedGates) {
	u.c.Agree(subject, int(t.asked.n)-len(t.wrong))
	for _, item := range t.wrong {
		if float64(len(t.wrong)) <= wrongRate*t.asked.n {
			u.c.Explain(subject, item, fmt.Sprintf("%d of %g are wrong, and %g %% may be", len(t.wrong), t.asked.n,
				100*wrongRate))
		}
		u.c.Compare(subject, item, false, "the mean over all cases disagrees")
	}
}

// in compares a share with its band.
func (u *untilCheck) in(name string, x float64, b band) {
	u.c.Compare("figures", name, b.low <= x && x <= b.high, "%.3f, band %g to %g", x, b.low, b.high)
}

func (u *untilCheck) bound(bound float64, asks, farAsks band) {
	subject := fmt.Sprintf("bound %g", bound)
	u.c.Due(subject, len(u.models)*untilSeeds, "the models and orders")
	u.c.Due("figures", 3, "the bounds and margins")
	rule, _ := gate.Bounded(gate.AtLeast, bound)
	var t askedGates
	var far, farUndecided average
	for seed := range uint64(untilSeeds) {
		for i := range u.models {
			m := &u.models[i]
			n := len(m.passed)
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			s := askUntil(rule, m.passed, rng.Perm(n))
			fixed := gate.Decide(gate.Rule{Direction: gate.AtLeast, Bound: bound, MinUnits: gate.MinUnits},
				gate.Evidence{
					Interval: stats.EffectiveRate(m.mean, n, n, float64(n), confidence), Units: n, Coverage: 1,
				})
			t.add(fmt.Sprintf("%s, order %d", m.name, seed), s, fixed, n, m.mean >= bound, m.mean <= bound)
			if math.Abs(m.mean-bound) > farOff {
				far.add(float64(s.N()) / float64(n))
				farUndecided.add(asNumber(!s.Decided()))
			}
		}
	}
	u.close(subject, &t)
	u.in(subject+": asked", t.asked.mean(), asks)
	u.in(subject+": asked of models far off", far.mean(), farAsks)
	u.in(subject+": models far off undecided", farUndecided.mean(), band{})
	u.c.Printf("%-11s asked %4.1f %% of the cases; of models more than %g points away %4.1f %% (%g of %g); "+
		"wrong %d; undecided at the end %4.1f %%, by the gate over all cases %4.1f %%\n", subject,
		100*t.asked.mean(), 100*farOff, 100*far.mean(), far.n, t.asked.n, len(t.wrong), 100*t.undecided.mean(),
		100*t.fixedUndecided.mean())
}

func (u *untilCheck) margin(margin float64, asks, finds, fixedFinds band) {
	subject := fmt.Sprintf("margin %g", margin)
	u.c.Due(subject, untilPairs*untilSeeds, "the pairs and orders")
	u.c.Due("figures", 3, "the bounds and margins")
	rule := gate.Paired(margin, gate.MinEffect)
	var t askedGates
	var found, fixedFound average
	for seed := range uint64(untilSeeds) {
		rng := rand.New(rand.NewPCG(seed, untilPairs))
		for i := range untilPairs {
			two := rng.Perm(len(u.models))[:2]
			before, after := &u.models[two[0]], &u.models[two[1]]
			n := len(before.passed)
			diffs, entered := make([]float64, n), make([]float64, n)
			for j := range diffs {
				diffs[j] = after.passed[j] - before.passed[j]
				entered[j] = (1 + diffs[j]) / 2
			}
			s := askUntil(rule, entered, rng.Perm(n))
			iv, _ := stats.PairedMean(diffs, confidence)
			fixed := gate.DecideRegression(iv, margin, gate.MinEffect)
			t.add(fmt.Sprintf("pair %d of order %d, %s and %s", i+1, seed, before.name, after.name), s, fixed, n,
				iv.Point >= -margin, iv.Point <= 0)
			if iv.Point <= -0.02 && iv.Point >= -0.05 {
				found.add(asNumber(s.Decision().Verdict == gate.Fail))
				fixedFound.add(asNumber(fixed.Verdict == gate.Fail))
			}
		}
	}
	u.close(subject, &t)
	u.in(subject+": asked", t.asked.mean(), asks)
	u.in(subject+": losses of 2 to 5 points found", found.mean(), finds)
	u.in(subject+": losses of 2 to 5 points found over all cases", fixedFound.mean(), fixedFinds)
	u.c.Printf("%-11s asked %4.1f %% of the cases; wrong %d of %g; losses of 2 to 5 points found: %.0f %% of %g, "+
		"by the gate over all cases %.0f %%; undecided at the end %4.1f %%, by the gate over all cases %4.1f %%\n",
		subject, 100*t.asked.mean(), len(t.wrong), t.asked.n, 100*found.mean(), found.n, 100*fixedFound.mean(),
		100*t.undecided.mean(), 100*t.fixedUndecided.mean())
}
