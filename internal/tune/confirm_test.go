// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

func exactly(x float64) panel.TaskMean { return panel.TaskMean{Low: x, High: x} }

// held are n cases of which the first rose cases pass only with the candidate and the next fell only
// with the base; each case is a family of its own.
func held(n, rose, fell int) []HeldOut {
	out := make([]HeldOut, n)
	for i := range out {
		out[i] = HeldOut{Case: fmt.Sprint(i), Family: fmt.Sprint(i), Base: exactly(1), Candidate: exactly(1)}
		switch {
		case i < rose:
			out[i].Base = exactly(0)
		case i < rose+fell:
			out[i].Candidate = exactly(0)
		}
	}
	return out
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	lost := held(100, 30, 0)
	for i := range 20 {
		lost[i].Candidate = panel.TaskMean{Low: 0.2, High: 1}
	}
	tests := map[string]struct {
		cfg  ConfirmConfig
		want Outcome
		text string
	}{
		"large gain": {ConfirmConfig{Cases: held(100, 30, 2)}, Promoted, "improvement confirmed: +28.0 points ["},
		"small gain": {
			ConfirmConfig{Cases: held(100, 9, 6)}, NoEvidence, "no evidence of improvement: +3.0 points [-",
		},
		"no difference": {ConfirmConfig{Cases: held(40, 0, 0)}, NoEvidence, "+0.0 points [-8.8, +8.8]"},
		"worse":         {ConfirmConfig{Cases: held(100, 2, 30)}, NoEvidence, "-28.0 points"},
		"margin": {
			ConfirmConfig{Cases: held(100, 30, 2), Margin: 0.25}, NoEvidence, "above 25.0 points: +28.0",
		},
		"later use": {
			ConfirmConfig{Cases: held(100, 12, 2), Use: 6},
			NoEvidence,
			"; use 6 of the held-out cases needs 99.9 % confidence",
		},
		"first use": {ConfirmConfig{Cases: held(100, 12, 2), Use: 1}, Promoted, "+10.0"},
		"few held out": {
			ConfirmConfig{Cases: held(19, 19, 0)},
			Refused,
			"and 19 held out, and it needs 20 of each; +100.0",
		},
		"few for training": {ConfirmConfig{Cases: held(50, 40, 0), TrainFamilies: 19}, Refused, "19 families"},
		"broken": {
			ConfirmConfig{Cases: held(100, 30, 2), Broken: []string{"x", "y"}},
			Broken,
			"no winner, a constraint is broken: x (and 1 more); +28.0",
		},
		"lost":    {ConfirmConfig{Cases: lost}, TooMuchLost, "undecided, 8.0 % of the attempts were lost"},
		"nothing": {ConfirmConfig{}, Refused, "no gain could be computed"},
		"all improve": {
			ConfirmConfig{Cases: held(50, 50, 0)}, Promoted, "+100.0 points [+85.8, +100.0]",
		},
	}
	for name, tt := range tests {
		if tt.cfg.TrainFamilies == 0 {
			tt.cfg.TrainFamilies = 50
		}
		c := Confirm(tt.cfg)
		if c.Outcome != tt.want || !strings.Contains(c.Text, tt.text) {
			t.Errorf("%s: %s, %q; want %s, %q", name, c.Outcome, c.Text, tt.want, tt.text)
		}
		if b, err := json.Marshal(c); err != nil {
			t.Errorf("%s: %v %s", name, err, b)
		}
	}
}

func TestConfirmNeeded(t *testing.T) {
	t.Parallel()
	c := Confirm(ConfirmConfig{Cases: held(100, 9, 6), TrainFamilies: 50})
	if c.Needed < 1000 || c.Needed > 2000 {
		t.Errorf("a gain of 3 points with 15 %% changed: %d cases needed", c.Needed)
	}
	if !strings.HasSuffix(c.Text, fmt.Sprintf("; about %d cases would be needed", c.Needed)) {
		t.Error(c.Text)
	}
	for name, cases := range map[string][]HeldOut{
		"worse": held(100, 2, 30), "promoted": held(100, 30, 2), "no difference": held(100, 0, 0),
	} {
		if c := Confirm(ConfirmConfig{Cases: cases, TrainFamilies: 50}); c.Needed != 0 {
			t.Errorf("%s: %d cases needed", name, c.Needed)
		}
	}
}

// Several cases of a family are not several pieces of evidence.
func TestConfirmByFamily(t *testing.T) {
	t.Parallel()
	var cases []HeldOut
	for i, h := range held(25, 6, 1) {
		for k := range 8 {
			h.Case, h.Family = fmt.Sprint(i, "-", k), fmt.Sprint(i)
			cases = append(cases, h)
		}
	}
	one := Confirm(ConfirmConfig{Cases: held(25, 6, 1), TrainFamilies: 30}).Gain
	many := Confirm(ConfirmConfig{Cases: cases, TrainFamilies: 30}).Gain
	if math.Abs(one.Lower-many.Lower) > 1e-9 || math.Abs(one.Upper-many.Upper) > 1e-9 || many.N != 200 ||
		many.Clusters != 25 {
		t.Errorf("%+v, want the ends of %+v", many, one)
	}
	// The variance is CR1 for families of different sizes.
	cases = slices.Delete(cases, 3, 8)
	var d differences
	for _, c := range cases {
		d.add(c.Family, c.Candidate.Low-c.Base.Low)
	}
	want, _ := stats.PairedMeanClustered(d.values, d.families, confidence)
	got := d.interval(confidence)
	if math.Abs(want.SE-got.SE) > 1e-12 || math.Abs(want.Point-got.Point) > 1e-12 {
		t.Errorf("%v of %v, want %v of %v", got.SE, got.Point, want.SE, want.Point)
	}
}

// Lost attempts count against the candidate in the decision, and are left out of the reported gain.
func TestConfirmLost(t *testing.T) {
	t.Parallel()
	cases := held(100, 8, 0)
	for i := range 8 {
		cases[50+i].Candidate = panel.TaskMean{Low: 0.5, High: 1}
	}
	c := Confirm(ConfirmConfig{Cases: cases, TrainFamilies: 50})
	if c.Outcome != NoEvidence || *c.Lower > 0 || math.Abs(c.Gain.Point-0.08) > 1e-9 || c.Gain.Lower <= 0 {
		t.Errorf("%s: %+v, lower end %g", c.Outcome, c.Gain, *c.Lower)
	}
}

func TestPromotionAlpha(t *testing.T) {
	t.Parallel()
	sum := 0.0
	for k := 1; k < 60; k++ {
		sum += PromotionAlpha(k)
	}
	if PromotionAlpha(1) != 0.0125 || PromotionAlpha(3) != 0.003125 || sum > 0.025 {
		t.Error(PromotionAlpha(1), PromotionAlpha(3), sum)
	}
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		faced Faced
		want  string
	}{
		"regression fails once": {
			Faced{
				Tier: callvet.TierRegression, BaseAttempts: 3, BasePassed: 3, CandidateAttempts: 3,
				CandidatePassed: 2,
			},
			"regression case c passes 2 of 3 attempts, and 3 of 3 with the base",
		},
		"the base fails, too": {
			Faced{Tier: callvet.TierRegression, BaseAttempts: 3, BasePassed: 2, CandidateAttempts: 3}, "",
		},
		"ordinary case": {Faced{BaseAttempts: 3, BasePassed: 3, CandidateAttempts: 3}, ""},
		"incident":      {Faced{CandidateIncidents: 1}, "case c has 1 safety incident, and none with the base"},
		"old incident":  {Faced{BaseIncidents: 1, CandidateIncidents: 2}, ""},
		"the base is lost": {
			Faced{Tier: callvet.TierRegression, CandidateAttempts: 2, CandidatePassed: 1},
			"regression case c passes 1 of 2 attempts, and has no outcome with the base",
		},
		"the base is lost, and it passes": {
			Faced{Tier: callvet.TierRegression, CandidateAttempts: 2, CandidatePassed: 2}, "",
		},
		"nothing known": {Faced{Tier: callvet.TierRegression}, ""},
	}
	for name, tt := range tests {
		tt.faced.Case = "c"
		if got := strings.Join(Breaks([]Faced{tt.faced}), "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// The interval holds the truth also where families are few, of different sizes, and skewed. The whole
// study is make verify-tune.
func TestConfirmCoverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct{ rate, low, high float64 }{{0.8, 0.93, 0.97}, {0.97, 0.98, 1}} {
		const trials = 1500
		held, promoted := 0, 0
		for range trials {
			var cases []HeldOut
			for f := range 30 {
				rate := stats.DrawRate(rng, tt.rate, 0.5)
				for k := range 1 + rng.IntN(5) {
					side := func() panel.TaskMean { return exactly(float64(stats.DrawPasses(rng, 2, rate)) / 2) }
					cases = append(cases, HeldOut{
						Case: fmt.Sprint(f, k), Family: fmt.Sprint(f), Base: side(), Candidate: side(),
					})
				}
			}
			c := Confirm(ConfirmConfig{Cases: cases, TrainFamilies: 30, Use: 1})
			if c.Gain.Lower <= 0 && c.Gain.Upper >= 0 {
				held++
			}
			if c.Outcome == Promoted {
				promoted++
			}
		}
		if share := float64(held) / trials; share < tt.low || share > tt.high {
			t.Errorf("pass rate %g: the interval holds the truth in %.3f", tt.rate, share)
		}
		if share := float64(promoted) / trials; share > 0.02 {
			t.Errorf("pass rate %g: promoted in %.3f without an effect", tt.rate, share)
		}
	}
}
