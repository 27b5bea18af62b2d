// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// beta draws from Beta(a,b) as a share of two gamma draws.
func beta(r *rand.Rand, a, b float64) float64 {
	x, y := gamma(r, a), gamma(r, b)
	return x / (x + y)
}

// gamma draws by Marsaglia and Tsang, 2000.
func gamma(r *rand.Rand, a float64) float64 {
	if a < 1 {
		return gamma(r, a+1) * math.Pow(r.Float64(), 1/a)
	}
	d := a - 1.0/3
	for {
		z := r.NormFloat64()
		v := 1 + z/math.Sqrt(9*d)
		if v = v * v * v; v > 0 && math.Log(r.Float64()) < z*z/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// TestCoverage draws clustered data with a known rate and counts how often the
// interval holds it. The bound is the nominal 95 % less three Monte Carlo
// standard errors, and less the small deficit known for strong clustering.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const reps = 1500
	for _, tc := range []struct {
		name       string
		cases, per int
		p, icc     float64
	}{
		{"independent", 60, 1, 0.9, 0},
		{"four calls a case", 50, 4, 0.9, 0.3},
		{"strongly alike", 100, 5, 0.8, 0.5},
		{"rare failure", 50, 3, 0.98, 0.2},
	} {
		r := rand.New(rand.NewPCG(7, uint64(tc.cases*tc.per)))
		hit := 0
		for range reps {
			var c Clusters
			for range tc.cases {
				p := tc.p
				if tc.icc > 0 {
					k := 1/tc.icc - 1
					p = beta(r, tc.p*k, (1-tc.p)*k)
				}
				m, s := 1, 0.0
				if tc.per > 1 {
					m = 1 + r.IntN(2*tc.per-1)
				}
				for range m {
					if r.Float64() < p {
						s++
					}
				}
				c.Add(s, m, true)
			}
			if iv := c.Interval(0.95, DefaultRho0); iv.Lower <= tc.p && tc.p <= iv.Upper {
				hit++
			}
		}
		got := float64(hit) / reps
		t.Logf("%s: coverage %.3f", tc.name, got)
		if got < 0.925 || got > 0.9995 {
			t.Errorf("%s: coverage %.3f", tc.name, got)
		}
	}
}

func TestClustersMergeIsOrderFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		values, clusters := make([]float64, n), make([]int, n)
		fractional := rapid.Bool().Draw(t, "fractional")
		for i := range values {
			values[i] = float64(rapid.IntRange(0, 1).Draw(t, "v"))
			if fractional {
				values[i] = rapid.Float64Range(0, 1).Draw(t, "f")
			}
			clusters[i] = rapid.IntRange(0, 9).Draw(t, "c")
		}
		whole := NeffInterval(values, clusters, 0.95, DefaultRho0)
		var even, odd []int
		for i := range values {
			if clusters[i]%2 == 0 {
				even = append(even, i)
			} else {
				odd = append(odd, i)
			}
		}
		pick := func(at []int) Clusters {
			v, c := make([]float64, len(at)), make([]int, len(at))
			for k, i := range at {
				v[k], c[k] = values[i], clusters[i]
			}
			return grouped(v, c)
		}
		a, b := pick(odd), pick(even)
		a.Merge(b)
		merged := a.Interval(0.95, DefaultRho0)
		if diff := cmp.Diff(whole, merged, cmpopts.EquateApprox(1e-6, 1e-9)); diff != "" {
			t.Fatal(diff)
		}
		if !(0 <= whole.Lower && whole.Lower <= whole.Point+1e-9 && whole.Point <= whole.Upper+1e-9 &&
			whole.Upper <= 1) {
			t.Fatalf("not ordered in [0,1]: %+v", whole)
		}
	})
}

func TestIntervalJSON(t *testing.T) {
	t.Parallel()
	var none Clusters
	for _, tc := range []struct {
		iv   Interval
		want string
	}{
		{
			none.Interval(0.95, DefaultRho0),
			`{"point":null,"lower":0,"upper":1,"n":0,"clusters":0,"confidence":0.95,"method":"neff_clopper_pearson","status":"no_data"}`,
		},
		{
			QuantileIntervals([]Observation{{Value: 3}, {Value: 1, Cluster: 1}}, 0.95, 0.5)[0],
			`{"point":2,"lower":null,"upper":null,"n":2,"clusters":2,"confidence":0.95,"method":"order_statistics","status":"ok"}`,
		},
	} {
		b, err := json.Marshal(tc.iv)
		if err != nil || string(b) != tc.want {
			t.Errorf("got %s, %v\nwant %s", b, err, tc.want)
		}
		var back Interval
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(back); string(again) != tc.want {
			t.Errorf("read back as %s", again)
		}
	}
}

func TestCensoredQuantile(t *testing.T) {
	t.Parallel()
	obs := make([]Observation, 10)
	for i := range obs {
		obs[i] = Observation{Value: float64(i + 1), Cluster: int32(i)}
	}
	obs[2].Censored, obs[2].Value = true, 30
	obs[3].Censored, obs[3].Value = true, 30
	if iv := QuantileIntervals(obs, 0.95, 0.9)[0]; iv.Status != StatusCensored || iv.Point != 30 ||
		!math.IsInf(iv.Upper, 1) {
		t.Errorf("p90 with 20 %% timeouts: %+v", iv)
	}
	if iv := QuantileIntervals(obs, 0.95, 0.5)[0]; iv.Status != StatusOK || iv.Point != 7.5 {
		t.Errorf("p50 with 20 %% timeouts: %+v", iv)
	}
}

func BenchmarkPanelOfIntervals(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var c Clusters
	for range 400 {
		c.Add(float64(r.IntN(4)), 3, true)
	}
	for b.Loop() {
		for range 1500 { // 50 metrics x 30 slices
			c.Interval(0.95, DefaultRho0)
		}
	}
}

// The hybrid interval of two independent rates is their Wilson intervals, squared
// and added.
func TestCombineIsNewcombe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 200).Draw(t, "n"), rapid.IntRange(1, 200).Draw(t, "m")
		x, y := rapid.IntRange(0, n).Draw(t, "x"), rapid.IntRange(0, m).Draw(t, "y")
		want := NewcombeIndependent(x, n, y, m, 0.95)
		got := Combine([]float64{1, -1}, []Interval{Wilson(x, n, 0.95, TwoSided), Wilson(y, m, 0.95, TwoSided)})
		if math.Abs(got.Lower-want.Lower) > 1e-12 || math.Abs(got.Upper-want.Upper) > 1e-12 || got.Status != StatusOK {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
	none := Combine([]float64{1, 1}, []Interval{Wilson(1, 2, 0.95, TwoSided), Wilson(0, 0, 0.95, TwoSided)})
	if none.Status != StatusNoData {
		t.Errorf("a part without data: %+v", none)
	}
}

// Clopper-Pearson holds its level for every rate, as the others need not.
func TestExactCoverage(t *testing.T) {
	t.Parallel()
	coverage := func(f func(x, n int, conf float64, side Side) Interval, n int, p float64) (two, falsePass float64) {
		for x := range n + 1 {
			iv, w := f(x, n, 0.95, TwoSided), BinomialPMF(x, n, p)
			if iv.Lower <= p && p <= iv.Upper {
				two += w
			}
			if iv.Lower > p {
				falsePass += w
			}
		}
		return two, falsePass
	}
	for _, n := range []int{20, 50, 200} {
		for p := 0.701; p < 0.999; p += 0.013 {
			if two, pass := coverage(ClopperPearson, n, p); two < 0.95-1e-9 || pass > 0.025+1e-9 {
				t.Errorf("n=%d p=%.3f: covers %.4f, passes falsely %.4f", n, p, two, pass)
			}
			if two, pass := coverage(MidP, n, p); two < 0.92 || pass > 0.051 {
				t.Errorf("mid-P, n=%d p=%.3f: covers %.4f, passes falsely %.4f", n, p, two, pass)
			}
		}
	}
}

func TestRejectsNonsense(t *testing.T) {
	t.Parallel()
	paired, p := PairedMeanClustered([]float64{1, 2}, []int{1}, 0.95)
	for name, s := range map[string]Status{
		"more passes":    ClopperPearson(3, 2, 0.95, TwoSided).Status,
		"confidence":     Wilson(1, 2, 1, TwoSided).Status,
		"negative pairs": Tango(Pairs{Both: -1}, 0.95).Status,
		"lengths":        paired.Status,
		"quantile":       QuantileIntervals([]Observation{{}}, 0.95, 1.5)[0].Status,
		"bootstrap":      BCaFrom(1, nil, []float64{math.NaN()}, 0.95).Status,
		"incidents":      Incidents(3, 2).Status,
		"combine":        Combine([]float64{1}, nil).Status,
		"design":         DesignEffect([]float64{2}, []int{1}, 0.95).Status,
	} {
		if s != StatusInvalid {
			t.Errorf("%s: %q", name, s)
		}
	}
	if p != 1 || Holm([]float64{0.1, math.NaN()}) != nil || BH([]float64{2}) != nil {
		t.Error("p values from nonsense")
	}
	if _, _, ok := ExposureFor(0, 0.95); ok {
		t.Error("an exposure for no rate")
	}
	if b := Bootstrap(0, 10, 0.95, [2]uint64{}, nil); b.Status != StatusNoData {
		t.Errorf("%+v", b)
	}
	if b := BCaFrom(1, []float64{1, 1, 1}, []float64{1, 1}, 0.95); b.Status != StatusDegenerate || b.Lower != 1 {
		t.Errorf("%+v", b)
	}
}

// TestAverage: estimates that may go up and down together have an average with the mean of their ends.
func TestAverage(t *testing.T) {
	t.Parallel()
	part := func(point, lower, upper float64, n, cases int, status Status) Interval {
		return Interval{
			Point: point, Lower: lower, Upper: upper, N: n, Clusters: cases, Confidence: 0.95, Method: "m",
			Status: status,
		}
	}
	a, b, one := part(0.5, 0.25, 0.75, 20, 10, StatusOK), part(1, 0.75, 1, 8, 8, StatusBoundary),
		part(0, 0, 1, 1, 1, StatusSingleCluster)
	if got := Average(a); got != a {
		t.Errorf("of one: %+v", got)
	}
	want := Interval{
		Point: 0.75, Lower: 0.5, Upper: 0.875, N: 28, Clusters: 8, Confidence: 0.95,
		Method: "mean_of_intervals", Status: StatusOK,
	}
	if got := Average(a, b); got != want {
		t.Errorf("of two: %+v, want %+v", got, want)
	}
	if got := Average(a, one); got.Usable() || got.Point != 0.25 {
		t.Errorf("with one that has no interval: %+v", got)
	}
	if got := Average(); got.Defined() {
		t.Errorf("of none: %+v", got)
	}
}

// TestCaseQuantiles: attempts at a case count no more than one of them, and one attempt a case counts
// as before.
func TestCaseQuantiles(t *testing.T) {
	t.Parallel()
	sample := func(cases, attempts int) *observations {
		var obs []Observation
		for i := range cases {
			for k := range attempts {
				obs = append(obs, Observation{Value: float64((i*7 + k*31) % 101), Cluster: int32(i)})
			}
		}
		return observed(obs)
	}
	loose, capped := sampleQuantiles(sample(60, 5), 0.95, false, []float64{0.9})[0],
		CaseQuantiles(sample(60, 5), 0.95, 0.9)[0]
	if !(loose.NEff > 60) || capped.NEff != 60 || !(capped.Upper > loose.Upper) || capped.Point != loose.Point {
		t.Errorf("five attempts: n_eff %g, upper %g; of values %g, %g", capped.NEff, capped.Upper, loose.NEff,
			loose.Upper)
	}
	if iv := CaseQuantiles(sample(35, 10), 0.95, 0.9)[0]; !math.IsInf(iv.Upper, 1) {
		t.Errorf("35 cases have an upper end: %+v", iv)
	}
	same := make([]Observation, 0, 300)
	for i := range 60 {
		for range 5 {
			same = append(same, Observation{Value: float64(i * 7 % 101), Cluster: int32(i)})
		}
	}
	if a, b := CaseQuantiles(sample(60, 1), 0.95, 0.9)[0],
		CaseQuantiles(observed(same), 0.95, 0.9)[0]; a.Lower != b.Lower || a.Upper != b.Upper {
		t.Errorf("five copies of one attempt: %+v, one: %+v", b, a)
	}
	if a, b := sampleQuantiles(sample(60, 1), 0.95, false, []float64{0.9})[0],
		CaseQuantiles(sample(60, 1), 0.95, 0.9)[0]; a.Interval != b.Interval {
		t.Errorf("one attempt: %+v, %+v", a, b)
	}
}
