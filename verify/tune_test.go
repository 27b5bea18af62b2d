// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/internal/tune"
)

// TestTrueGains: the mean over many cases is the true gain of the study.
func TestTrueGains(t *testing.T) {
	t.Parallel()
	all := append(settings(3, 3)[:1], settings(3, 3)[4:8]...)
	for _, s := range append(surfaces(), worseAll()) {
		rng := rand.New(rand.NewPCG(1, 1))
		c := drawCast(rng, 20_000)
		a := drawActors(rng, c, &s, all)
		for i := 1; i < len(all); i++ {
			gain := 0.0
			for k := range c.cases {
				gain += (a.chance[i][k] - a.chance[0][k]) / float64(len(c.cases))
			}
			if want := s.truth(all[i].x, all[i].y); math.Abs(gain-want) > 0.015 {
				t.Errorf("%s at %g, %g: %.3f, want %.3f", s.name, all[i].x, all[i].y, gain, want)
			}
		}
	}
}

// TestTuningIsSimulated: a clear gain is confirmed, and a winner with incidents is not promoted.
func TestTuningIsSimulated(t *testing.T) {
	t.Parallel()
	good := surface{name: "good", base: 0.3, mean: func(_, _ float64) float64 { return 0.9 }}
	got, err := simulateTuning(&good, settings(2, 2), suiteFamilies, 0, 1)
	if err != nil || got.promoted != 1 || got.spoiled != 0 {
		t.Errorf("%+v %v", got, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	good.incidents = func(_, _ float64) float64 { return 0.1 }
	a := drawActors(rng, drawCast(rng, suiteFamilies), &good, settings(2, 2))
	if o := a.confirm(1, 1); o.Outcome != tune.Broken || !a.spoiled(1) || a.spoiled(0) {
		t.Errorf("%s", o.Text)
	}
}
