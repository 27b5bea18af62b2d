// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// TestLostWithCorrelation: what lost attempts may change is found by the same correlation.
func TestLostWithCorrelation(t *testing.T) {
	t.Parallel()
	interval := func(tasks, attempts int) stats.Interval {
		var c stats.Clusters
		for range tasks {
			c.AddAttempts(float64(attempts), attempts, true, stats.AttemptsOf(attempts, attempts))
		}
		return c.Interval(.95, stats.DefaultRho0)
	}
	m := panel.Metric{
		Name: panel.MetricPass, Unit: panel.UnitRate, Of: "attempts", Interval: interval(30, 3), Values: 90,
		Lost: &panel.LostRange{N: 1, Of: 90, Low: interval(30, 3), High: interval(30, 3)},
	}
	out := m.Correlated(3, &stats.Correlation{Upper: .5, Runs: 5})
	if out.Interval.NEff != 45 || out.Lost.Low.NEff != 45 || out.Lost.High.NEff != 45 || out.Values != 0 ||
		out.Seen() != 90 {
		t.Errorf("%+v, lost %+v", out, out.Lost)
	}
	if m.Interval.NEff != 30 || m.Lost.Low.NEff != 30 || m.Values != 90 {
		t.Errorf("the metric itself changed: %+v", m)
	}
}

// TestLowerEndsInOrder: where the number of attempts is not believed, the lower end of pass^k is not above
// that of the pass rate, and that is not above the one of pass@k.
func TestLowerEndsInOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 5))
	checked := 0
	for range 3000 {
		tasks, attempts := 5+rng.IntN(60), 2+rng.IntN(5)
		k := 2 + rng.IntN(attempts-1)
		var pass, at, hat stats.Clusters
		for range tasks {
			y := stats.DrawPasses(rng, attempts, stats.DrawRate(rng, .95, .6))
			pass.AddAttempts(float64(y), attempts, true, stats.AttemptsOf(y, attempts))
			a, _ := stats.PassAtK(attempts, y, k)
			h, _ := stats.PassHatK(attempts, y, k)
			at.Add(a, 1, a == 0 || a == 1)
			hat.Add(h, 1, h == 0 || h == 1)
		}
		p := pass.Interval(.95, stats.DefaultRho0)
		if p.Status != stats.StatusCapped && p.Status != stats.StatusBoundary {
			continue
		}
		checked++
		a, h := at.Interval(.95, stats.DefaultRho0), hat.Interval(.95, stats.DefaultRho0)
		if h.Lower > p.Lower+1e-12 || p.Lower > a.Lower+1e-12 {
			t.Fatalf("%d tasks of %d, k %d: pass^k %+v, pass %+v, pass@k %+v", tasks, attempts, k, h, p, a)
		}
	}
	if checked < 500 {
		t.Errorf("only %d samples in which the cap holds", checked)
	}
}
