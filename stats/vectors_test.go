// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// vectorCase is one reference case; its numbers come from R, SciPy and mpmath.
type vectorCase struct {
	ID       string          `json:"id"`
	Input    json.RawMessage `json:"input"`
	Expected json.RawMessage `json:"expected"`
}

// vectors reads the cases of one reference file and skips the test when the
// reference files are not there.
func vectors(t *testing.T, name string) []vectorCase {
	t.Helper()
	dir := os.Getenv("CALLVET_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "vectors")
	}
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: reference vectors not found in %s; set CALLVET_VECTORS to check against them", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Open, Heldout []vectorCase }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	cases := append(f.Open, f.Heldout...)
	if len(cases) == 0 {
		t.Fatalf("%s holds no cases", name)
	}
	return cases
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func near(t *testing.T, id, what string, got float64, want *float64, tol float64) {
	t.Helper()
	if want == nil {
		return
	}
	if math.IsNaN(got) || math.Abs(got-*want) > tol {
		t.Errorf("%s: %s = %.12g, want %.12g", id, what, got, *want)
	}
}

type clusteredInput struct {
	Values     []float64
	Clusters   []int
	Q          float64
	Confidence float64
}

func TestNeffIntervalVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "neff_interval") {
		in := decode[clusteredInput](t, c.Input)
		want := decode[struct {
			Status                  Status
			Point, SE, Lower, Upper *float64
			NEff                    *float64 `json:"n_eff"`
			N, Clusters             int
		}](t, c.Expected)
		got := NeffInterval(in.Values, in.Clusters, in.Confidence, DefaultRho0)
		if got.Status != want.Status || got.N != want.N || got.Clusters != want.Clusters {
			t.Errorf("%s: got %s n=%d clusters=%d, want %s %d %d", c.ID, got.Status, got.N, got.Clusters, want.Status, want.N, want.Clusters)
		}
		near(t, c.ID, "point", got.Point, want.Point, 1e-8)
		near(t, c.ID, "se", got.SE, want.SE, 1e-8)
		near(t, c.ID, "n_eff", got.NEff, want.NEff, 1e-6)
		near(t, c.ID, "lower", got.Lower, want.Lower, 1e-8)
		near(t, c.ID, "upper", got.Upper, want.Upper, 1e-8)
	}
}

func TestClopperPearsonVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "binom_clopper_pearson") {
		in := decode[struct {
			Successes, N float64
			Confidence   float64
			Side         string
		}](t, c.Input)
		want := decode[struct {
			Lower, Upper *float64
			Error        string
		}](t, c.Expected)
		if want.Error != "" || in.Side != "" || in.N == 0 {
			continue
		}
		lower, upper := betaLimits(in.Successes, in.N, (1-in.Confidence)/2)
		near(t, c.ID, "lower", lower, want.Lower, 1e-9)
		near(t, c.ID, "upper", upper, want.Upper, 1e-9)
	}
}

func TestQuantileVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "quantile_ci_clustered") {
		in := decode[clusteredInput](t, c.Input)
		want := decode[struct {
			Status              Status
			Method              string
			Point, Lower, Upper *float64
			NEff                *float64 `json:"n_eff"`
		}](t, c.Expected)
		obs := make([]Observation, len(in.Values))
		for i, v := range in.Values {
			obs[i] = Observation{Value: v, Cluster: int32(in.Clusters[i])}
		}
		got := QuantileIntervals(obs, in.Confidence, in.Q)[0]
		if got.Status != want.Status || (want.Method != "" && got.Method != want.Method) {
			t.Errorf("%s: %s %s, want %s %s", c.ID, got.Status, got.Method, want.Status, want.Method)
		}
		near(t, c.ID, "point", got.Point, want.Point, 1e-8)
		near(t, c.ID, "n_eff", got.NEff, want.NEff, 1e-6)
		if (want.Lower == nil) != math.IsInf(got.Lower, 0) || (want.Upper == nil) != math.IsInf(got.Upper, 0) {
			t.Errorf("%s: ends %v %v, want %v %v", c.ID, got.Lower, got.Upper, want.Lower, want.Upper)
			continue
		}
		near(t, c.ID, "lower", got.Lower, want.Lower, 1e-8)
		near(t, c.ID, "upper", got.Upper, want.Upper, 1e-8)
	}
}

func TestOrderRankVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "quantile_ci_order") {
		in := decode[clusteredInput](t, c.Input)
		want := decode[struct {
			Lower *int     `json:"lower_rank"`
			Upper *int     `json:"upper_rank"`
			Point *float64 `json:"point_type7"`
		}](t, c.Expected)
		if want.Lower == nil {
			continue
		}
		lo, hi := orderRanks(len(in.Values), in.Q, (1-in.Confidence)/2)
		if lo != *want.Lower || hi != *want.Upper {
			t.Errorf("%s: ranks %d %d, want %d %d", c.ID, lo, hi, *want.Lower, *want.Upper)
		}
		slices.Sort(in.Values)
		p, _ := Percentile(in.Values, in.Q)
		near(t, c.ID, "point", p, want.Point, 1e-9)
	}
}

func TestPercentileVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "percentile_type7") {
		var in struct{ Values, Q []float64 }
		if json.Unmarshal(c.Input, &in) != nil {
			continue // "NaN" among the values: JSON numbers cannot say it, callers drop it
		}
		want := decode[struct {
			Type7 []*float64
			Error string
		}](t, c.Expected)
		slices.Sort(in.Values)
		for i, q := range in.Q {
			got, ok := Percentile(in.Values, q)
			if want.Error != "" {
				if ok {
					t.Errorf("%s: q=%g accepted", c.ID, q)
				}
				continue
			}
			if i < len(want.Type7) && want.Type7[i] != nil {
				near(t, c.ID, "quantile", got, want.Type7[i], 1e-9*(1+math.Abs(got)))
			}
		}
	}
}

func TestClusterRatioVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "cluster_ratio") {
		in := decode[struct {
			Numerators, Denominators []float64
			Confidence               float64
		}](t, c.Input)
		want := decode[struct {
			Status    Status
			Point, SE *float64
			Lower     *float64 `json:"t_lower"`
			Upper     *float64 `json:"t_upper"`
		}](t, c.Expected)
		var r Ratio
		for i := range in.Numerators {
			r.Add(in.Numerators[i], in.Denominators[i])
		}
		got := r.Interval(in.Confidence)
		if got.Status != want.Status {
			t.Errorf("%s: status %s, want %s", c.ID, got.Status, want.Status)
		}
		near(t, c.ID, "point", got.Point, want.Point, 1e-9)
		near(t, c.ID, "se", got.SE, want.SE, 1e-9)
		near(t, c.ID, "lower", got.Lower, want.Lower, 1e-9)
		near(t, c.ID, "upper", got.Upper, want.Upper, 1e-9)
	}
}

func TestMcNemarVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "mcnemar") {
		in := decode[struct {
			B int `json:"pass_to_fail"`
			C int `json:"fail_to_pass"`
		}](t, c.Input)
		want := decode[struct {
			Exact *float64 `json:"exact_p"`
			MidP  *float64 `json:"midp"`
			Error string
		}](t, c.Expected)
		if want.Error != "" {
			continue
		}
		near(t, c.ID, "exact", McNemarExact(in.B, in.C), want.Exact, 1e-10)
		near(t, c.ID, "midp", McNemar(in.B, in.C), want.MidP, 1e-10)
	}
}

func TestNewcombeVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "newcombe_paired") {
		in := decode[struct {
			Pairs
			Confidence float64
		}](t, c.Input)
		want := decode[struct{ Diff, Lower, Upper *float64 }](t, c.Expected)
		got := Newcombe(in.Pairs, in.Confidence)
		near(t, c.ID, "diff", got.Point, want.Diff, 1e-9)
		near(t, c.ID, "lower", got.Lower, want.Lower, 1e-9)
		near(t, c.ID, "upper", got.Upper, want.Upper, 1e-9)
	}
}

func TestPairedMeanVectors(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, c := range vectors(t, "paired_difference") {
		in := decode[struct {
			Candidate, Baseline []float64
			Clusters            []int
			Confidence          float64
		}](t, c.Input)
		if in.Clusters != nil {
			continue // one difference a case here
		}
		checked++
		want := decode[struct {
			Status       Status
			Diff         *float64 `json:"mean_diff"`
			SE           *float64
			Lower, Upper *float64
			P            *float64 `json:"p_two_sided"`
		}](t, c.Expected)
		diffs := make([]float64, len(in.Candidate))
		for i := range diffs {
			diffs[i] = in.Candidate[i] - in.Baseline[i]
		}
		got, p := PairedMean(diffs, in.Confidence)
		if got.Status != want.Status {
			t.Errorf("%s: status %s, want %s", c.ID, got.Status, want.Status)
		}
		near(t, c.ID, "diff", got.Point, want.Diff, 1e-9)
		near(t, c.ID, "se", got.SE, want.SE, 1e-9)
		near(t, c.ID, "lower", got.Lower, want.Lower, 1e-9)
		near(t, c.ID, "upper", got.Upper, want.Upper, 1e-9)
		near(t, c.ID, "p", p, want.P, 1e-9)
	}
	if checked == 0 {
		t.Error("no case without clusters")
	}
}

func TestSignFlipVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "signflip_permutation") {
		in := decode[struct{ Differences []float64 }](t, c.Input)
		want := decode[struct {
			P *float64 `json:"p_two_sided"`
		}](t, c.Expected)
		if got, ok := SignFlip(in.Differences); ok {
			near(t, c.ID, "p", got, want.P, 1e-12)
		}
	}
}

func TestTrialVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "pass_at_k") {
		in := decode[struct{ N, C, K int }](t, c.Input)
		want := decode[struct {
			P     *float64 `json:"pass_at_k"`
			Error string
		}](t, c.Expected)
		got, ok := PassAtK(in.N, in.C, in.K)
		if ok != (want.Error == "" && want.P != nil) {
			t.Errorf("%s: ok = %v", c.ID, ok)
		}
		near(t, c.ID, "pass@k", got, want.P, 1e-12)
	}
	for _, c := range vectors(t, "pass_hat_k") {
		in := decode[struct {
			Tasks [][2]int
			K     int
		}](t, c.Input)
		want := decode[struct {
			P    *float64 `json:"pass_hat_k"`
			Used int      `json:"tasks_used"`
		}](t, c.Expected)
		sum, used := 0.0, 0
		for _, nc := range in.Tasks {
			if p, ok := PassHatK(nc[0], nc[1], in.K); ok {
				sum, used = sum+p, used+1
			}
		}
		if used != want.Used {
			t.Errorf("%s: %d tasks used, want %d", c.ID, used, want.Used)
		} else if used > 0 {
			near(t, c.ID, "pass^k", sum/float64(used), want.P, 1e-12)
		}
	}
}

func TestHolmVectors(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, c := range vectors(t, "multiple_testing") {
		var in struct {
			P []float64 `json:"p"`
		}
		if json.Unmarshal(c.Input, &in) != nil {
			continue // not a list of numbers: the caller's mistake, not ours to type
		}
		want := decode[struct {
			Holm []float64 `json:"holm_adjusted"`
		}](t, c.Expected).Holm
		got := Holm(in.P)
		for i := range want {
			near(t, c.ID, "holm", got[i], &want[i], 1e-12)
			checked++
		}
	}
	if checked == 0 {
		t.Error("nothing checked")
	}
}

func TestFisherVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors(t, "judge_drift_fisher") {
		in := decode[struct {
			A int `json:"ref_tp"`
			N int `json:"ref_pass"`
			B int `json:"new_tp"`
			M int `json:"new_pass"`
		}](t, c.Input)
		want := decode[struct {
			P *float64 `json:"p_sensitivity"`
		}](t, c.Expected)
		near(t, c.ID, "p", Fisher(in.A, in.N, in.B, in.M), want.P, 1e-9)
	}
}
