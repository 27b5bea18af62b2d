// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestIntervalByHand: what is written by hand is what package json writes.
func TestIntervalByHand(t *testing.T) {
	t.Parallel()
	number := rapid.OneOf(
		rapid.Float64(), rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{
			0, 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 1e-6, 1e-7, 9.999999999999e-7, 1e21,
			1e20, 1e300, 5e-324, 123456789012345, 1e-9,
		}),
	)
	rounded := func(x float64) *float64 {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil
		}
		r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
		if err != nil {
			r = x
		}
		return &r
	}
	rapid.Check(t, func(t *rapid.T) {
		iv := Interval{
			Point: number.Draw(t, "point"), Lower: number.Draw(t, "lower"), Upper: number.Draw(t, "upper"),
			SE: number.Draw(t, "se"),
			N:  rapid.Int().Draw(t, "n"), Clusters: rapid.IntRange(0, 9).Draw(t, "clusters"),
			NEff:       number.Draw(t, "neff"),
			Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
			Method: rapid.SampledFrom([]string{"neff_clopper_pearson", "", "a<b>&\"\\", "ü\u2028", "A-1"}).Draw(t,
				"method"),
			Status: rapid.SampledFrom([]Status{StatusOK, StatusNoData, ""}).Draw(t, "status"),
		}
		j := intervalJSON{
			Lower: rounded(iv.Lower), Upper: rounded(iv.Upper), N: iv.N, Clusters: iv.Clusters,
			NEff: or(rounded(iv.NEff), 0), Confidence: iv.Confidence, Method: iv.Method, Status: iv.Status,
		}
		if iv.Defined() {
			j.Point = rounded(iv.Point)
		}
		if iv.SE > 0 {
			j.SE = rounded(iv.SE)
		}
		want, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(iv); err != nil || string(got) != string(want) {
			t.Fatalf("%s (%v), not %s", got, err, want)
		}
	})
	if b, err := json.Marshal(Interval{Confidence: math.NaN()}); err == nil {
		t.Errorf("an interval without a confidence is %s", b)
	}
}
