// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Nine in ten agree, but nearly all pass: kappa falls below zero, AC1 does not.
func TestKappaParadox(t *testing.T) {
	t.Parallel()
	table := RatingTable{{90, 5}, {5, 0}}
	k, g := Kappa(table, Unweighted, 0.95), AC1(table, 0.95)
	if math.Abs(k.Point+0.0526) > 1e-3 || math.Abs(g.Point-0.8895) > 1e-3 || k.Observed != 0.9 {
		t.Errorf("kappa %.4f, AC1 %.4f", k.Point, g.Point)
	}
}

func TestWeightedKappa(t *testing.T) {
	t.Parallel()
	// The definition, summed cell by cell.
	table := RatingTable{{11, 3, 1}, {1, 8, 2}, {0, 1, 13}}
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
		if want := (observed - chance) / (1 - chance); math.Abs(got.Point-want) > 1e-12 || got.SE <= 0 ||
			got.Lower >= got.Point {
			t.Errorf("%s: %+v, want %.7f", name, got, want)
		}
	}
}

func TestUndefined(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		got  Agreement
		want Status
	}{
		"one category":     {Kappa(RatingTable{{9, 0}, {0, 0}}, Unweighted, 0.95), NoVariation},
		"no task":          {Kappa(RatingTable{{0, 0}, {0, 0}}, Unweighted, 0.95), StatusNoData},
		"not square":       {Kappa(RatingTable{{1, 2}}, Unweighted, 0.95), StatusInvalid},
		"negative":         {AC1(RatingTable{{1, -2}, {3, 4}}, 0.95), StatusInvalid},
		"empty":            {AC1(nil, 0.95), StatusInvalid},
		"AC1 of one label": {AC1(RatingTable{{9, 0}, {0, 0}}, 0.95), StatusOK},
		"AC1 of one task":  {AC1(RatingTable{{1, 0}, {0, 0}}, 0.95), StatusTooFew},
	} {
		if tc.got.Status != tc.want {
			t.Errorf("%s: %+v, want %s", name, tc.got, tc.want)
		}
	}
	nan := math.NaN()
	for name, tc := range map[string]struct {
		r     Ratings
		level Level
		want  Status
	}{
		"ragged": {Ratings{{1, 2}, {1}}, Nominal, StatusInvalid}, "level": {Ratings{{1}, {1}}, "x", StatusInvalid},
		"below 0": {Ratings{{-1, 2}, {1, 2}}, RatioLevel, StatusInvalid}, "no rater": {nil, Nominal, StatusNoData},
		"one rater": {Ratings{{1, 2}, {nan, nan}}, Nominal, StatusNoData},
		"alike":     {Ratings{{1, 1}, {1, 1}}, Ordinal, NoVariation},
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
	if a.Lower != b.Lower || a.Upper != b.Upper || a.Status != StatusOK {
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
		x := RatingTable{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
		y := RatingTable{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
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
			if a.Status != b.Status ||
				(a.Status == StatusOK && (math.Abs(a.Point-b.Point) > 1e-9 || math.Abs(a.SE-b.SE) > 1e-9)) {
				t.Fatalf("%+v %+v", a, b)
			}
		}
	})
}

// The worked example of Krippendorff 2011: four observers, twelve units, with gaps.
func TestAlphaReference(t *testing.T) {
	t.Parallel()
	x := math.NaN()
	r := Ratings{
		{1, 2, 3, 3, 2, 1, 4, 1, 2, x, x, x},
		{1, 2, 3, 3, 2, 2, 4, 1, 2, 5, x, 3},
		{x, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, x},
		{1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, x},
	}
	for level, want := range map[Level]float64{
		Nominal: 0.743, Ordinal: 0.815, IntervalLevel: 0.849,
		RatioLevel: 0.797,
	} {
		if got, status := Alpha(r, level); !(math.Abs(got-want) < 6e-4) || status != StatusOK {
			t.Errorf("%s: %.4f, %s, want %.3f", level, got, status, want)
		}
	}
	// Ratios of 0 are defined: two zeros are the same, and 0 is as far from 1 as from 9.
	if got, status := Alpha(Ratings{{0, 1, 9}, {0, 1, 9}}, RatioLevel); got != 1 || status != StatusOK {
		t.Errorf("ratio with 0: %g, %s", got, status)
	}
}

func TestQuadratic(t *testing.T) {
	t.Parallel()
	// The share of agreement of categories i and j of q is 1-((i-j)/(q-1))^2.
	for _, tc := range []struct {
		i, j, q int
		want    float64
	}{
		{0, 0, 1, 1},
		{0, 1, 2, 0},
		{1, 1, 2, 1},
		{0, 1, 3, 0.75},
		{2, 1, 3, 0.75},
		{0, 2, 3, 0},
		{2, 2, 3, 1},
		{1, 4, 5, 7. / 16},
	} {
		if got := Quadratic(tc.i, tc.j, tc.q); math.Abs(got-tc.want) > 1e-15 || math.IsNaN(got) {
			t.Errorf("%+v: %g", tc, got)
		}
	}
}

// A coefficient without an interval may be anything from -1 to 1.
func TestNoInterval(t *testing.T) {
	t.Parallel()
	table := RatingTable{{4, 1}, {2, 5}}
	none := map[string]Agreement{
		"no task":      Kappa(RatingTable{{0, 0}, {0, 0}}, Unweighted, 0.95),
		"one task":     AC1(RatingTable{{1, 0}, {0, 0}}, 0.95),
		"alpha of one": AlphaInterval(Ratings{{1}, {2}}, Nominal, 0.95, [2]uint64{1, 2}),
	}
	for _, conf := range []float64{0, 1, -0.5, 2, math.NaN()} {
		for _, a := range []Agreement{Kappa(table, Unweighted, conf), AC1(table, conf)} {
			if a.Status != StatusInvalid || a.Lower != -1 || a.Upper != 1 {
				t.Errorf("confidence %g: %+v", conf, a)
			}
		}
	}
	for name, a := range none {
		if a.Status == StatusOK || a.Lower != -1 || a.Upper != 1 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// What rounding leaves of two equal sums counts as 0, at any size of the sums.
func TestDifference(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ a, b, want float64 }{
		{1e6, 1e6 - 1e-9, 0},
		{1, math.Nextafter(1, 0), 0},
		{1, 2, 0},
		{0, 0, 0},
		{0.75, 0.25, 0.5},
		{1e-3, 0, 1e-3},
		{1e-20, 0, 1e-20},
	} {
		if got := difference(tc.a, tc.b); got != tc.want {
			t.Errorf("%g less %g: %g, want %g", tc.a, tc.b, got, tc.want)
		}
	}
}
