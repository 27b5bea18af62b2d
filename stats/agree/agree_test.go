// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agree

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/callvet/callvet/stats"
)

// Nine in ten agree, but nearly all pass: kappa falls below zero, AC1 does not.
func TestKappaParadox(t *testing.T) {
	t.Parallel()
	table := Table{{90, 5}, {5, 0}}
	k, g := Kappa(table, Unweighted, 0.95), AC1(table, 0.95)
	if math.Abs(k.Point+0.0526) > 1e-3 || math.Abs(g.Point-0.8895) > 1e-3 || k.Observed != 0.9 {
		t.Errorf("kappa %.4f, AC1 %.4f", k.Point, g.Point)
	}
}

func TestWeightedKappa(t *testing.T) {
	t.Parallel()
	// The definition, summed cell by cell.
	table := Table{{11, 3, 1}, {1, 8, 2}, {0, 1, 13}}
	for name, w := range map[string]Weights{"plain": Unweighted, "quadratic": Quadratic} {
		var observed, chance, n float64
		rows, cols := [3]float64{}, [3]float64{}
		for i, row := range table {
			for j, x := range row {
				n += float64(x)
				rows[i] += float64(x)
				cols[j] += float64(x)
			}
		}
		for i, row := range table {
			for j, x := range row {
				observed += w(i, j, 3) * float64(x) / n
				chance += w(i, j, 3) * rows[i] * cols[j] / n / n
			}
		}
		got := Kappa(table, w, 0.95)
		if want := (observed - chance) / (1 - chance); math.Abs(got.Point-want) > 1e-12 || got.SE <= 0 || got.Lower >= got.Point {
			t.Errorf("%s: %+v, want %.7f", name, got, want)
		}
	}
}

func TestUndefined(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		got  Agreement
		want stats.Status
	}{
		"one category":     {Kappa(Table{{9, 0}, {0, 0}}, Unweighted, 0.95), NoVariation},
		"no task":          {Kappa(Table{{0, 0}, {0, 0}}, Unweighted, 0.95), stats.StatusNoData},
		"not square":       {Kappa(Table{{1, 2}}, Unweighted, 0.95), stats.StatusInvalid},
		"negative":         {AC1(Table{{1, -2}, {3, 4}}, 0.95), stats.StatusInvalid},
		"empty":            {AC1(nil, 0.95), stats.StatusInvalid},
		"AC1 of one label": {AC1(Table{{9, 0}, {0, 0}}, 0.95), stats.StatusOK},
		"AC1 of one task":  {AC1(Table{{1, 0}, {0, 0}}, 0.95), stats.StatusTooFew},
	} {
		if tc.got.Status != tc.want {
			t.Errorf("%s: %+v, want %s", name, tc.got, tc.want)
		}
	}
	nan := math.NaN()
	for name, tc := range map[string]struct {
		r     Ratings
		level Level
		want  stats.Status
	}{
		"ragged": {Ratings{{1, 2}, {1}}, Nominal, stats.StatusInvalid}, "level": {Ratings{{1}, {1}}, "x", stats.StatusInvalid},
		"below 0": {Ratings{{-1, 2}, {1, 2}}, Ratio, stats.StatusInvalid}, "nobody": {nil, Nominal, stats.StatusNoData},
		"one rater": {Ratings{{1, 2}, {nan, nan}}, Nominal, stats.StatusNoData}, "alike": {Ratings{{1, 1}, {1, 1}}, Ordinal, NoVariation},
	} {
		if a, got := Alpha(tc.r, tc.level); got != tc.want || !math.IsNaN(a) {
			t.Errorf("%s: %g, %s", name, a, got)
		}
	}
}

func TestAlphaInterval(t *testing.T) {
	t.Parallel()
	r := Ratings{make([]float64, 60), make([]float64, 60)}
	for i := range 60 {
		r[0][i], r[1][i] = float64(i%2), float64(i%2)
		if i%10 == 0 {
			r[1][i] = 1 - r[0][i]
		}
	}
	a, b := AlphaInterval(r, Nominal, 0.95, [2]uint64{1, 2}), AlphaInterval(r, Nominal, 0.95, [2]uint64{1, 2})
	if a.Lower != b.Lower || a.Upper != b.Upper || a.Status != stats.StatusOK {
		t.Errorf("not the same twice: %+v %+v", a, b)
	}
	if !(0.5 < a.Lower && a.Lower < a.Point && a.Point < a.Upper && a.Upper <= 1) {
		t.Errorf("%+v", a)
	}
}

// Who is called first does not matter.
func TestSymmetry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := Table{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
		y := Table{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
		for i := range 3 {
			for j := range 3 {
				x[i][j] = rapid.IntRange(0, 30).Draw(t, "count")
				y[j][i] = x[i][j]
			}
		}
		for _, pair := range [][2]Agreement{
			{Kappa(x, Quadratic, 0.9), Kappa(y, Quadratic, 0.9)}, {AC1(x, 0.9), AC1(y, 0.9)},
		} {
			a, b := pair[0], pair[1]
			if a.Status != b.Status || (a.Status == stats.StatusOK && (math.Abs(a.Point-b.Point) > 1e-9 || math.Abs(a.SE-b.SE) > 1e-9)) {
				t.Fatalf("%+v %+v", a, b)
			}
		}
	})
}
