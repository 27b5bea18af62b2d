// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// CalibrateOptions are the settings for fitting a Logistic.
type CalibrateOptions struct {
	// Refused in [0,1) is the share of answerable questions that may be refused; 0: 0.05.
	Refused float64
	// Ridge is the penalty on the squares of the weights of standardized evidence, added to the
	// mean loss; 0: 0.01.
	Ridge float64
	// Folds is how many parts there are for cross-validation within one source; 0: 10.
	// Of several sources, each is held out whole.
	Folds int
}

// Calibration is a fitted Logistic with its held-out results.
type Calibration struct {
	Logistic retrieve.Logistic
	// MinConfidence refuses the allowed share of answerable questions, with equal weights of the
	// sources, by held-out probabilities.
	MinConfidence float64
	// Sources are in the order of the observations.
	Sources []Calibrated
}

// Calibrated counts the held-out questions of a source: Kept of them would be answered with
// MinConfidence.
type Calibrated struct {
	Source string
	// Refused of Answerable questions, and rightly refused ones of the unanswerable.
	Answerable, Refused   int
	Unanswerable, Rightly int
	// AUC is how often an answerable question has more confidence than an unanswerable one, ties
	// counting half; NaN if either kind is missing.
	AUC float64
}

// Calibrate fits a Logistic with equal weights of answerable and unanswerable questions, and of
// sources: its probabilities are for questions where one half can be answered. The same
// observations lead to the same fit. The error wraps ErrInvalid if there are fewer than ten of either
// kind, or for invalid options.
func Calibrate(obs []retrieve.Observation, o CalibrateOptions) (Calibration, error) {
	if o.Refused == 0 {
		o.Refused = 0.05
	}
	if o.Ridge == 0 {
		o.Ridge = 0.01
	}
	if o.Folds == 0 {
		o.Folds = 10
	}
	if !(o.Refused > 0 && o.Refused < 1) || !(o.Ridge > 0) || o.Folds < 2 {
		return Calibration{}, fmt.Errorf("calibrate: %d folds, ridge %v, refuse %v: %w", o.Folds, o.Ridge, o.Refused,
			callvet.ErrInvalid)
	}
	var kinds [2]int
	for i := range obs {
		if e := obs[i].Evidence; !finite(e.Score) || !finite(e.Lead) || !finite(e.Semantic) || !finite(e.Matched) ||
			e.Words < 0 {
			return Calibration{}, fmt.Errorf("calibrate: evidence %d is not finite: %w", i, callvet.ErrInvalid)
		}
		kinds[kind(&obs[i])]++
	}
	if kinds[0] < 10 || kinds[1] < 10 {
		return Calibration{}, fmt.Errorf(
			"calibrate: %d questions that something fits and %d that nothing does, at least 10 of both: %w", kinds[1],
			kinds[0], callvet.ErrInvalid)
	}
	folds, n := foldsOf(obs, min(o.Folds, kinds[0], kinds[1]))
	if err := bothKinds(obs, folds, n); err != nil {
		return Calibration{}, err
	}
	held := make([]float64, len(obs))
	for f := range n {
		l := fitted(obs, o.Ridge, func(i int) bool { return folds[i] != f })
		for i := range obs {
			if folds[i] == f {
				held[i] = l.Probability(obs[i].Evidence)
			}
		}
	}
	c := Calibration{
		Logistic:      fitted(obs, o.Ridge, func(int) bool { return true }),
		MinConfidence: quantile(obs, held, o.Refused),
	}
	c.Sources = sourcesOf(obs, held, c.MinConfidence)
	return c, nil
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func kind(o *retrieve.Observation) int {
	if o.Fits {
		return 1
	}
	return 0
}

// foldsOf puts each source in a separate fold, or, for one source, both kinds of questions in turn
// into n folds.
func foldsOf(obs []retrieve.Observation, n int) ([]int, int) {
	out := make([]int, len(obs))
	sources := names(obs)
	if len(sources) > 1 {
		for i := range obs {
			out[i] = slices.Index(sources, obs[i].Source)
		}
		return out, len(sources)
	}
	var seen [2]int
	for i := range obs {
		k := kind(&obs[i])
		out[i] = seen[k] % n
		seen[k]++
	}
	return out, n
}

// bothKinds returns an error that wraps ErrInvalid if a fold leaves only one kind of question for the
// fit: a logistic needs both.
func bothKinds(obs []retrieve.Observation, folds []int, n int) error {
	for f := range n {
		var left [2]int
		source := ""
		for i := range obs {
			if folds[i] == f {
				source = obs[i].Source
			} else {
				left[kind(&obs[i])]++
			}
		}
		if what := [2]string{"that nothing fits", "that something fits"}; left[0] == 0 || left[1] == 0 {
			missing := what[0]
			if left[1] == 0 {
				missing = what[1]
			}
			return fmt.Errorf(
				"calibrate: %q alone has questions %s, and it is held out once; give another source some, or call all of them one source: %w", source, missing, callvet.ErrInvalid)
		}
	}
	return nil
}

func names(obs []retrieve.Observation) []string {
	var out []string
	for i := range obs {
		if !slices.Contains(out, obs[i].Source) {
			out = append(out, obs[i].Source)
		}
	}
	return out
}

// weigh sets weights with the same sum for each kind of each source, 1 over all; 0 for left out ones.
func weigh(obs []retrieve.Observation, use func(int) bool) []float64 {
	type class struct {
		source string
		kind   int
	}
	n := map[class]int{}
	for i := range obs {
		if use(i) {
			n[class{obs[i].Source, kind(&obs[i])}]++
		}
	}
	var of [2]int // sources that have the kind
	for c := range n {
		of[c.kind]++
	}
	out := make([]float64, len(obs))
	for i := range obs {
		if k := kind(&obs[i]); use(i) {
			out[i] = 0.5 / float64(of[k]*n[class{obs[i].Source, k}])
		}
	}
	return out
}

// fitted minimizes the weighted mean log loss and the ridge by Newton's method over
// standardized evidence.
func fitted(obs []retrieve.Observation, ridge float64, use func(int) bool) retrieve.Logistic {
	w := weigh(obs, use)
	var mean, dev [retrieve.NumFeatures]float64
	for i := range obs {
		for j, v := range obs[i].Features() {
			mean[j] += w[i] * v
		}
	}
	for i := range obs {
		for j, v := range obs[i].Features() {
			dev[j] += w[i] * (v - mean[j]) * (v - mean[j])
		}
	}
	mean[0] = 0
	for j := range dev {
		if dev[j] = math.Sqrt(dev[j]); dev[j] < 1e-12 {
			dev[j] = 1
		}
	}
	rows := make([][retrieve.NumFeatures]float64, len(obs))
	for i := range obs {
		for j, v := range obs[i].Features() {
			rows[i][j] = (v - mean[j]) / dev[j]
		}
	}
	b := newton(obs, rows, w, ridge)
	for j := 1; j < retrieve.NumFeatures; j++ {
		b[j] /= dev[j]
		b[0] -= b[j] * mean[j]
	}
	return retrieve.Logistic{Bias: b[0], Score: b[1], Lead: b[2], Semantic: b[3], Matched: b[4], Words: b[5]}
}

// newtonSteps is more than a fit with a ridge needs.
const newtonSteps = 50

func newton(obs []retrieve.Observation, rows [][retrieve.NumFeatures]float64, w []float64, ridge float64) (b [retrieve.NumFeatures]float64) {
	for range newtonSteps {
		var h [retrieve.NumFeatures][retrieve.NumFeatures + 1]float64 // the Hessian, and the gradient last
		for i := range rows {
			if w[i] == 0 {
				continue
			}
			z := 0.0
			for j, v := range rows[i] {
				z += b[j] * v
			}
			p := 1 / (1 + math.Exp(-z))
			for j, v := range rows[i] {
				h[j][retrieve.NumFeatures] += w[i] * v * (float64(kind(&obs[i])) - p)
				for k, u := range rows[i] {
					h[j][k] += w[i] * p * (1 - p) * v * u
				}
			}
		}
		for j := 1; j < retrieve.NumFeatures; j++ {
			h[j][j] += ridge
			h[j][retrieve.NumFeatures] -= ridge * b[j]
		}
		h[0][0] += 1e-12
		step, far := solve(h), 0.0
		for j := range b {
			step[j] = min(2, max(-2, step[j])) // far from the optimum a step can overshoot
			b[j] += step[j]
			far = max(far, math.Abs(step[j]))
		}
		if far < 1e-10 {
			break
		}
	}
	return b
}

// solve eliminates the unknowns of a positive definite system.
func solve(h [retrieve.NumFeatures][retrieve.NumFeatures + 1]float64) (out [retrieve.NumFeatures]float64) {
	for p := range h {
		for r := p + 1; r < retrieve.NumFeatures; r++ {
			f := h[r][p] / h[p][p]
			for k := p; k <= retrieve.NumFeatures; k++ {
				h[r][k] -= f * h[p][k]
			}
		}
	}
	for p := retrieve.NumFeatures - 1; p >= 0; p-- {
		v := h[p][retrieve.NumFeatures]
		for k := p + 1; k < retrieve.NumFeatures; k++ {
			v -= h[p][k] * out[k]
		}
		out[p] = v / h[p][p]
	}
	return out
}

// quantile returns the confidence below which at most a share of the answerable questions lies, with
// equal weights of the sources.
func quantile(obs []retrieve.Observation, held []float64, share float64) float64 {
	w := weigh(obs, func(i int) bool { return obs[i].Fits })
	var order []int
	for i := range obs {
		if obs[i].Fits {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case held[a] < held[b]:
			return -1
		case held[a] > held[b]:
			return 1
		}
		return 0
	})
	sum := 0.0
	for _, i := range order {
		if sum += 2 * w[i]; sum > share {
			return held[i]
		}
	}
	return held[order[len(order)-1]]
}

func sourcesOf(obs []retrieve.Observation, held []float64, bound float64) []Calibrated {
	var out []Calibrated
	for _, name := range names(obs) {
		c := Calibrated{Source: name}
		var by [2][]float64
		for i := range obs {
			if obs[i].Source != name {
				continue
			}
			by[kind(&obs[i])] = append(by[kind(&obs[i])], held[i])
			refused := 0
			if held[i] < bound {
				refused = 1
			}
			if obs[i].Fits {
				c.Answerable, c.Refused = c.Answerable+1, c.Refused+refused
			} else {
				c.Unanswerable, c.Rightly = c.Unanswerable+1, c.Rightly+refused
			}
		}
		c.AUC = auc(by[1], by[0])
		out = append(out, c)
	}
	return out
}

// auc is the share of pairs that are in order.
func auc(fits, none []float64) float64 {
	slices.Sort(none)
	sum := 0.0
	for _, f := range fits {
		under, _ := slices.BinarySearch(none, f)
		upTo, _ := slices.BinarySearch(none, math.Nextafter(f, 2))
		sum += float64(under+upTo) / 2
	}
	return sum / float64(len(fits)*len(none))
}
