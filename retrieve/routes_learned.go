// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/callvet/callvet"
)

// RouteExample is a question with the route it belongs to; an empty Route is a question
// that belongs to none.
type RouteExample struct{ Text, Route, SubRoute string }

// LearnOptions are the settings of Learn; zero values mean the defaults.
type LearnOptions struct {
	// Buckets is the number of hash buckets of features, at least 256; 0: 32,768. A model takes 4
	// bytes for each bucket and label.
	Buckets int
	// Epochs is the number of passes over the examples; 0: 12.
	Epochs int
	// Rate is the first step of the descent, above 0; 0: 4.
	Rate float64
	// Refuse, in [0,1), is the largest share of rightly routed questions that may be refused so
	// that questions without a route are refused; 0: 0.05.
	Refuse float64
	// Seed orders the examples.
	Seed uint64
}

// LearnedRoutes is a softmax regression over words, pairs of words and parts of words. Safe for
// concurrent use.
type LearnedRoutes struct {
	labels   []RouteExample // without texts, sorted
	weights  []float32      // of each feature: one for each label
	features features
	// sharpness multiplies the sums of weights, so that probabilities are calibrated.
	sharpness float64
	threshold float64
	seen      []uint64 // marks of the examples, sorted
}

const (
	defaultBuckets = 1 << 15
	defaultEpochs  = 12
	defaultRate    = 4
	defaultRefuse  = 0.05
	// folds: one in folds examples is held out for the threshold.
	folds = 5
)

// LearnRoutes fits routes to examples; "no route" is learned like a route. The threshold for
// refusing a question, and the calibration of probabilities, come from a held-out fifth of the
// examples; the final model is fitted on all. Without an example without a route, nothing is
// refused. Errors wrap callvet.ErrInvalid: fewer than two routes, options out of range.
func LearnRoutes(examples []RouteExample, o LearnOptions) (*LearnedRoutes, error) {
	o.Buckets, o.Epochs, o.Rate = cmp.Or(o.Buckets, defaultBuckets), cmp.Or(o.Epochs, defaultEpochs),
		cmp.Or(o.Rate, defaultRate)
	o.Refuse = cmp.Or(o.Refuse, defaultRefuse)
	if o.Buckets < 256 || o.Epochs < 0 || !(o.Rate > 0) || math.IsInf(o.Rate, 0) || !(o.Refuse >= 0 && o.Refuse < 1) {
		return nil, fmt.Errorf("learn routes: %w: options %+v", callvet.ErrInvalid, o)
	}
	labels := labelsOf(examples)
	if first := slices.IndexFunc(labels, func(l RouteExample) bool { return l.Route != "" }); first < 0 ||
		labels[first].Route == labels[len(labels)-1].Route {
		return nil, fmt.Errorf("learn routes: %w: examples of at least two routes are needed", callvet.ErrInvalid)
	}
	var fit, held []RouteExample
	seen := map[RouteExample]int{}
	for _, e := range examples { // one in folds of every label
		label := RouteExample{Route: e.Route, SubRoute: e.SubRoute}
		if seen[label]++; seen[label]%folds == 0 {
			held = append(held, e)
		} else {
			fit = append(fit, e)
		}
	}
	judged := fitted(fit, labels, o)
	judged.calibrate(held)
	judged.refuse(held, o.Refuse)
	l := fitted(examples, labels, o)
	l.sharpness, l.threshold, l.seen = judged.sharpness, judged.threshold, marks(examples)
	return l, nil
}

func labelsOf(examples []RouteExample) []RouteExample {
	labels := make([]RouteExample, len(examples))
	for i, e := range examples {
		labels[i] = RouteExample{Route: e.Route, SubRoute: e.SubRoute}
	}
	slices.SortFunc(labels, compareLabels)
	return slices.Compact(labels)
}

func compareLabels(a, b RouteExample) int {
	return cmp.Or(cmp.Compare(a.Route, b.Route), cmp.Compare(a.SubRoute, b.SubRoute))
}

// fitted is a stochastic gradient descent over the examples in a seeded order, with steps that
// shrink to 0.
func fitted(examples []RouteExample, labels []RouteExample, o LearnOptions) *LearnedRoutes {
	l := &LearnedRoutes{
		labels: labels, weights: make([]float32, o.Buckets*len(labels)),
		features: newFeatures(examples, o.Buckets), sharpness: 1,
	}
	vectors, gold := make([][]feature, len(examples)), make([]int, len(examples))
	for i, e := range examples {
		vectors[i] = l.features.of(e.Text)
		gold[i], _ = slices.BinarySearchFunc(labels, RouteExample{Route: e.Route, SubRoute: e.SubRoute}, compareLabels)
	}
	r := rand.New(rand.NewPCG(o.Seed, uint64(len(examples))))
	p := make([]float64, len(labels))
	total := float64(o.Epochs * len(examples))
	for epoch := range o.Epochs {
		for n, i := range r.Perm(len(examples)) {
			rate := o.Rate * (1 - float64(epoch*len(examples)+n)/total)
			l.sums(vectors[i], p)
			softmax(p, 1)
			p[gold[i]]--
			l.descend(vectors[i], p, rate)
		}
	}
	return l
}

// negligible is the gradient below which a weight is not changed.
const negligible = 1e-4

func (l *LearnedRoutes) descend(v []feature, gradient []float64, rate float64) {
	n := len(l.labels)
	for k, g := range gradient {
		if math.Abs(g) < negligible {
			continue
		}
		for _, f := range v {
			l.weights[f.bucket*n+k] -= float32(rate * g * float64(f.value))
		}
	}
}

func (l *LearnedRoutes) sums(v []feature, out []float64) {
	clear(out)
	n := len(l.labels)
	for _, f := range v {
		x := float64(f.value)
		for k, w := range l.weights[f.bucket*n : f.bucket*n+n] {
			out[k] += x * float64(w)
		}
	}
}

// softmax turns sums into probabilities in place.
func softmax(p []float64, sharpness float64) {
	top := slices.Max(p)
	sum := 0.0
	for i := range p {
		p[i] = math.Exp((p[i] - top) * sharpness)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}

// Route returns the most probable route and, within it, the most probable sub-route. Route is empty
// when the probability is below the threshold, or the question has no words. Confidence is the
// route's probability in both cases.
func (l *LearnedRoutes) Route(question string) RouteDecision {
	v := l.features.of(question)
	if len(v) == 0 {
		return RouteDecision{Rule: -1}
	}
	d, sure := l.decide(v)
	if sure < l.threshold {
		d.Route, d.SubRoute = "", ""
	}
	return d
}

// Routes are the possible routes of questions, sorted.
func (l *LearnedRoutes) Routes() (out []string) {
	for _, e := range l.labels {
		if e.Route != "" && !slices.Contains(out, e.Route) {
			out = append(out, e.Route)
		}
	}
	return out
}

// Labels are the possible routes with sub-routes of questions.
func (l *LearnedRoutes) Labels() (out []RouteExample) {
	for _, e := range l.labels {
		if e.Route != "" {
			out = append(out, e)
		}
	}
	return out
}

// Threshold is the probability that a route and sub-route need, in [0,1].
func (l *LearnedRoutes) Threshold() float64 { return l.threshold }

// decide also returns the probability of the best single label, which detects questions without a
// route better than the route's probability.
func (l *LearnedRoutes) decide(v []feature) (d RouteDecision, sure float64) {
	p := make([]float64, len(l.labels))
	l.sums(v, p)
	softmax(p, l.sharpness)
	d.Rule = -1
	for i := 0; i < len(p); {
		if l.labels[i].Route == "" { // counts against all others
			i++
			continue
		}
		sum, best, end := 0.0, i, i
		for ; end < len(p) && l.labels[end].Route == l.labels[i].Route; end++ {
			sum += p[end]
			if p[end] > p[best] {
				best = end
			}
		}
		if sum > d.Confidence {
			d.Route, d.SubRoute, d.Confidence, sure = l.labels[best].Route, l.labels[best].SubRoute, sum, p[best]
		}
		i = end
	}
	return d, sure
}

// calibrate finds the sharpness that maximizes the likelihood of the held-out labels, by interval
// halving. Source: temperature scaling, Guo and others 2017.
func (l *LearnedRoutes) calibrate(held []RouteExample) {
	vectors := make([][]feature, len(held))
	for i, e := range held {
		vectors[i] = l.features.of(e.Text)
	}
	p := make([]float64, len(l.labels))
	loss := func(sharpness float64) float64 {
		sum := 0.0
		for i, e := range held {
			l.sums(vectors[i], p)
			softmax(p, sharpness)
			at, _ := slices.BinarySearchFunc(l.labels, RouteExample{Route: e.Route, SubRoute: e.SubRoute},
				compareLabels)
			sum -= math.Log(max(p[at], 1e-12))
		}
		return sum
	}
	lo, hi := 0.05, 8.0
	for range 24 {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if loss(a) < loss(b) {
			hi = b
		} else {
			lo = a
		}
	}
	l.sharpness = (lo + hi) / 2
}

// refuse sets the threshold that maximizes the sum of two shares: held-out questions with a route
// that keep the right one, and questions without a route that are refused. At most the share most
// of the first is lost.
func (l *LearnedRoutes) refuse(held []RouteExample, most float64) {
	var right, outside []float64
	for _, e := range held {
		d, sure := l.decide(l.features.of(e.Text))
		switch {
		case e.Route == "":
			outside = append(outside, sure)
		case d.Route == e.Route:
			right = append(right, sure)
		}
	}
	slices.Sort(right)
	slices.Sort(outside)
	best := 0.0
	for i, sure := range outside { // just above each of them
		t := math.Nextafter(sure, 2)
		lost, _ := slices.BinarySearch(right, t)
		share := float64(lost) / float64(max(len(right), 1))
		if gain := float64(i+1)/float64(len(outside)) - share; gain > best && share <= most {
			best, l.threshold = gain, t
		}
	}
}
