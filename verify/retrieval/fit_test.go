// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// observations draws from a known law: log odds = 10·score − 4, over even sources.
func observations(n, sources int) []retrieve.Observation {
	r := rand.New(rand.NewPCG(7, 1))
	out := make([]retrieve.Observation, n)
	for i := range out {
		score := r.Float64() * 0.8
		e := retrieve.Evidence{
			Score: score, Lead: r.Float64() / 5, Semantic: r.Float64() / 5, Matched: r.Float64(),
			Words: r.IntN(9),
		}
		out[i] = retrieve.Observation{
			Evidence: e, Fits: r.Float64() < 1/(1+math.Exp(4-10*score)),
			Source: fmt.Sprint(i % sources),
		}
	}
	return out
}

// The fit finds the law, ignores evidence without information, and refuses the allowed share of unseen
// questions.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	for _, sources := range []int{1, 4} {
		obs := observations(8000, sources)
		c, err := Calibrate(obs, CalibrateOptions{Ridge: 1e-6, Refused: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		l := c.Logistic
		if math.Abs(l.Score-10) > 0.8 || math.Abs(l.Bias+4) > 0.8 || math.Abs(l.Matched) > 0.2 ||
			math.Abs(l.Words) > 0.2 || math.Abs(l.Lead) > 1 {
			t.Errorf("%d sources: %+v", sources, l)
		}
		again, err := Calibrate(obs, CalibrateOptions{Ridge: 1e-6, Refused: 0.1})
		if diff := cmp.Diff(c, again); diff != "" || err != nil {
			t.Errorf("not the same twice: %v %s", err, diff)
		}
		if len(c.Sources) != sources {
			t.Fatalf("sources %+v", c.Sources)
		}
		refused, asked := 0, 0
		for _, s := range c.Sources {
			refused, asked = refused+s.Refused, asked+s.Answerable
			if s.AUC < 0.85 || s.AUC > 0.98 || s.Rightly < s.Unanswerable/4 {
				t.Errorf("%+v", s)
			}
		}
		if got := float64(refused) / float64(asked); got > 0.1 || got < 0.08 {
			t.Errorf("%d sources: refuses %v of what can be answered", sources, got)
		}
	}
}

func TestCalibrateRefuses(t *testing.T) {
	t.Parallel()
	good := observations(200, 1)
	bad := observations(200, 1)
	bad[3].Lead = math.NaN()
	apart := observations(200, 1) // one source has all answerable questions
	for i := range apart {
		apart[i].Source = fmt.Sprint(apart[i].Fits)
	}
	for name, c := range map[string]struct {
		obs []retrieve.Observation
		o   CalibrateOptions
	}{
		"nothing":    {},
		"few":        {obs: good[:12]},
		"not finite": {obs: bad},
		"one kind":   {obs: apart},
		"ridge":      {good, CalibrateOptions{Ridge: -1}},
		"folds":      {good, CalibrateOptions{Folds: 1}},
		"share":      {good, CalibrateOptions{Refused: 1}},
	} {
		if _, err := Calibrate(c.obs, c.o); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := Calibrate(good, CalibrateOptions{Folds: 10_000}); err != nil ||
		c.Sources[0].Answerable+c.Sources[0].Unanswerable != len(good) {
		t.Errorf("more folds than questions: %+v %v", c, err)
	}
	for i := range good { // a constant number of words has no information, and breaks nothing
		good[i].Evidence = retrieve.Evidence{Score: 1, Words: 2}
	}
	if c, err := Calibrate(good, CalibrateOptions{}); err != nil ||
		math.Abs(c.Logistic.Probability(good[0].Evidence)-0.5) > 1e-6 || c.Sources[0].AUC != 0.5 {
		t.Errorf("%+v %v", c, err)
	}
}
