// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// near reports whether two numbers are equal but for rounding.
func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-9*math.Abs(want)
}

// holds checks the numbers of an interval that a row names.
func holds(t *testing.T, name string, got, want Interval) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// TestEndsOfRates: none and all are exact ends, on one side and on both.
func TestEndsOfRates(t *testing.T) {
	t.Parallel()
	for name, rate := range map[string]func(x, n int, conf float64, side Side) Interval{
		"Clopper-Pearson": ClopperPearson, "Wilson": Wilson, "Jeffreys": Jeffreys, "mid-P": MidP,
	} {
		none, some, all := rate(0, 8, 0.95, TwoSided), rate(3, 8, 0.95, TwoSided), rate(8, 8, 0.95, TwoSided)
		if none.Lower != 0 || none.Status != StatusBoundary || none.Upper <= 0 {
			t.Errorf("%s: none of 8: %+v", name, none)
		}
		if all.Upper != 1 || all.Status != StatusBoundary || all.Lower >= 1 {
			t.Errorf("%s: all of 8: %+v", name, all)
		}
		if some.Status != StatusOK || some.Point != 0.375 ||
			!(0 < some.Lower && some.Lower < 0.375 && 0.375 < some.Upper && some.Upper < 1) {
			t.Errorf("%s: three of 8: %+v", name, some)
		}
		for _, conf := range []float64{0, 1} {
			if iv := rate(3, 8, conf, TwoSided); iv.Status != StatusInvalid || !math.IsInf(iv.Lower, -1) ||
				!math.IsInf(iv.Upper, 1) {
				t.Errorf("%s with confidence %g: %+v", name, conf, iv)
			}
		}
	}
	want := Interval{
		Lower: -1, Upper: 1, N: 5, Clusters: 5, Confidence: 0.95, Method: "newcombe_independent",
		Status: StatusNoData,
	}
	holds(t, "a run without trials", NewcombeIndependent(0, 0, 2, 5, 0.95), want)
}

// TestEffectiveRate: where all passed or failed the ends are powers of the error.
func TestEffectiveRate(t *testing.T) {
	t.Parallel()
	const tail = 0.025
	whole := ClopperPearson(5, 10, 0.95, TwoSided)
	for name, tc := range map[string]struct {
		p          float64
		n, cases   int
		neff, conf float64
		want       Interval
	}{
		"all": {
			1, 50, 10, 20, 0.95,
			Interval{
				Point: 1, Lower: math.Pow(tail, 1.0/20), Upper: 1, N: 50, Clusters: 10, NEff: 20,
				Status: StatusBoundary,
			},
		},
		"none": {
			0, 50, 10, 20, 0.95,
			Interval{Upper: 1 - math.Pow(tail, 1.0/20), N: 50, Clusters: 10, NEff: 20, Status: StatusBoundary},
		},
		"half": {
			0.5, 10, 1, 10, 0.95,
			Interval{
				Point: 0.5, Lower: whole.Lower, Upper: whole.Upper, N: 10, Clusters: 1, NEff: 10,
				Status: StatusOK,
			},
		},
		"nothing":       {0.5, 0, 0, 0, 0.95, Interval{Upper: 1, Status: StatusNoData}},
		"no case":       {0.5, 10, 0, 10, 0.95, invalid("", 0)},
		"negative":      {0.5, -1, 1, 1, 0.95, invalid("", 0)},
		"below 0":       {-0.1, 10, 1, 10, 0.95, invalid("", 0)},
		"above 1":       {1.1, 10, 1, 10, 0.95, invalid("", 0)},
		"worth nothing": {0.5, 10, 1, 0, 0.95, invalid("", 0)},
		"worth more":    {0.5, 10, 1, 11, 0.95, invalid("", 0)},
		"sure":          {0.5, 10, 1, 10, 1, invalid("", 0)},
	} {
		tc.want.Confidence, tc.want.Method = tc.conf, "neff_clopper_pearson"
		holds(t, name, EffectiveRate(tc.p, tc.n, tc.cases, tc.neff, tc.conf), tc.want)
	}
}

// TestCap: where fewer than five cases fail or pass, n over 1 + (size-1)*rho is the most
// that the values are worth.
func TestCap(t *testing.T) {
	t.Parallel()
	rare := func(cases, rare int, sum, other float64) Interval {
		var c Clusters
		c.Add(0, 0, true) // no case
		for i := range cases {
			if i < rare {
				c.Add(sum, 2, true)
			} else {
				c.Add(other, 2, true)
			}
		}
		return c.Interval(0.95, DefaultRho0)
	}
	for name, tc := range map[string]struct {
		iv     Interval
		n      int
		status Status
	}{
		"four pass":      {rare(60, 4, 1, 0), 60, StatusCapped},
		"five pass":      {rare(60, 5, 1, 0), 60, StatusOK},
		"four fail":      {rare(60, 4, 1, 2), 60, StatusCapped},
		"five fail":      {rare(60, 5, 1, 2), 60, StatusOK},
		"two cases":      {rare(2, 1, 0, 2), 2, StatusOK},
		"two like cases": {rare(2, 1, 1, 1), 2, StatusZeroVariance},
		"one case":       {rare(1, 1, 1, 1), 1, StatusSingleCluster},
	} {
		if tc.iv.Status != tc.status || tc.iv.Clusters != tc.n || tc.status == StatusCapped &&
			!near(tc.iv.NEff, 120/1.3) {
			t.Errorf("%s: %+v", name, tc.iv)
		}
	}
	// Ten tasks of four trials: half pass one of four, half three, the variance of a
	// task's rate is 1/16 and that of a single trial 1/4: worth 4*(10-1) trials.
	mixed, either := make([]Trials, 10), make([]Trials, 10)
	for i := range 10 {
		mixed[i], either[i] = Trials{N: 4, Passed: 1 + 2*(i%2)}, Trials{N: 4, Passed: 4 * (i % 2)}
	}
	if iv, skipped := MeanPassHatK(append(mixed, Trials{}), 1, 0.95, DefaultRho0); !near(iv.NEff, 36) || skipped != 1 {
		t.Errorf("one or three of four: %+v, %d skipped", iv, skipped)
	}
	iv, _ := MeanPassHatK(either, 2, 0.95, DefaultRho0)
	want := ClopperPearson(5, 10, 0.95, TwoSided)
	want.Method, want.SE = iv.Method, 1.0/6
	holds(t, "none or four of four", iv, want)
}

// TestRounding: what rounding leaves of no variance is none, and a small variance is one.
func TestRounding(t *testing.T) {
	t.Parallel()
	for rate := 0.01; rate < 1; rate += 0.01 {
		var c Clusters
		var r Ratio
		for m := 1; m <= 60; m++ {
			c.Add(rate*float64(m), m, false)
			r.Add(1000*rate*float64(m), float64(m))
		}
		if iv := c.Interval(0.95, DefaultRho0); iv.SE != 0 || iv.Status != StatusZeroVariance {
			t.Errorf("cases of rate %g: %+v", rate, iv)
		}
		if iv := r.TInterval(0.95); iv.SE != 0 || iv.Status != StatusZeroVariance {
			t.Errorf("amounts of %g: %+v", 1000*rate, iv)
		}
	}
	var c Clusters
	var r Ratio
	for i := range 40 {
		m := 1 + 25*i
		y := 1e-9 * float64(m*(1+i%2))
		c.Add(y, m, false)
		r.Add(y, float64(m))
	}
	if c.Interval(0.95, DefaultRho0).SE == 0 || r.Interval(0.95).Status != StatusOK {
		t.Errorf("a small variance is none: %+v, %+v", c.Interval(0.95, DefaultRho0), r.Interval(0.95))
	}
}

// TestSums: sums that were made elsewhere are the sums that Add makes, also where more
// cases come to them.
func TestSums(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	const cases = 50
	s, m, y := make([]float64, cases), make([]float64, cases), make([]float64, cases)
	var whole, rest Clusters
	var ratio, restOfRatio, parts Ratio
	var counts, restOfCounts, merged Counts
	var events CountSums
	var first Sums
	for i := range cases {
		m[i] = float64(1 + r.IntN(9))
		s[i], y[i] = m[i]*r.Float64(), m[i]*math.Exp(r.NormFloat64())
		if i%10 != 3 {
			y[i] = 0
		}
		whole.Add(s[i], int(m[i]), false)
		ratio.Add(s[i]*s[i], m[i])
		counts.Add(y[i], m[i], false)
		if i >= 30 {
			rest.Add(s[i], int(m[i]), false)
			restOfRatio.Add(s[i]*s[i], m[i])
			restOfCounts.Add(y[i], m[i], false)
		} else {
			parts.Add(s[i]*s[i], m[i])
			merged.Add(y[i], m[i], false)
			first.Cases++
			first.N += int(m[i])
			first.Sum += s[i]
			first.Sizes2 += m[i] * m[i]
			first.Failing++
			first.Succeeding++
			first.Fractional = true
			events.Differ = true
			if y[i] > 0 {
				events.Having++
			}
		}
	}
	// products are the sums of the products of deviations from the means.
	products := func(y, x []float64) RatioSums {
		p := RatioSums{Cases: len(y), Y: sum(y), X: sum(x)}
		for i := range y {
			dy, dx := y[i]-mean(y), x[i]-mean(x)
			p.YY, p.YX, p.XX = p.YY+dy*dy, p.YX+dy*dx, p.XX+dx*dx
			p.YYY, p.YYX, p.YXX, p.XXX = p.YYY+dy*dy*dy, p.YYX+dy*dy*dx, p.YXX+dy*dx*dx, p.XXX+dx*dx*dx
		}
		return p
	}
	squares := make([]float64, cases)
	for i := range s {
		squares[i] = s[i] * s[i]
	}
	approx := cmp.Options{
		cmp.AllowUnexported(Clusters{}, sums{}, Ratio{}, Counts{}),
		cmpopts.IgnoreFields(Counts{}, "once"), cmpopts.EquateApprox(1e-9, 1e-9),
	}

	of := products(s[:30], m[:30])
	first.SS, first.SM, first.MM = of.YY, of.YX, of.XX
	fromSums := first.Clusters()
	fromSums.Merge(rest)
	if diff := cmp.Diff(whole, fromSums, approx); diff != "" {
		t.Errorf("rates: %s", diff)
	}
	fromRatio := products(squares[:30], m[:30]).Ratio()
	fromRatio.Merge(restOfRatio)
	if diff := cmp.Diff(products(squares, m).Ratio(), ratio, approx); diff != "" {
		t.Errorf("amounts, one by one: %s", diff)
	}
	parts.Merge(restOfRatio)
	if diff := cmp.Diff([]Ratio{ratio, ratio}, []Ratio{fromRatio, parts}, approx); diff != "" {
		t.Errorf("amounts, in parts: %s", diff)
	}
	events.RatioSums = products(y[:30], m[:30])
	fromCounts := events.Counts()
	fromCounts.Merge(restOfCounts)
	merged.Merge(restOfCounts)
	if diff := cmp.Diff([]Counts{counts, counts}, []Counts{fromCounts, merged}, approx); diff != "" {
		t.Errorf("counts: %s", diff)
	}
	if diff := cmp.Diff([]any{Clusters{}, Ratio{}, Counts{}},
		[]any{Sums{}.Clusters(), RatioSums{}.Ratio(), CountSums{}.Counts()}, approx); diff != "" {
		t.Errorf("nothing: %s", diff)
	}
}

// TestBursts: what few events are worth, by hand.
func TestBursts(t *testing.T) {
	t.Parallel()
	const z = 1.959963984540054
	count := func(cases, having int) Interval {
		var c Counts
		c.Add(0, 0, true) // no case
		for i := range cases {
			n := min(1, having/(i+1))
			c.Add(float64(n), 3, n == 0)
		}
		return c.Interval(0.95)
	}
	// 180 attempts by threes are worth 60, and half of that in bursts of two. Four events in
	// 180 are 2/3 in 30.
	four := count(60, 4)
	_, upper := PoissonLimits(2./3, 0.025)
	if want := upper/30 + (1+2*z*z)/6*(180/30.-1)/180; four.Status != StatusCapped || four.Clusters != 60 ||
		!near(four.NEff, 30) || !near(four.Upper, want) {
		t.Errorf("four cases: %+v, want an upper end of %g", four, want)
	}
	if five := count(60, 5); five.Status != StatusOK || five.NEff <= 30 {
		t.Errorf("five cases: %+v", five)
	}
	if two := count(2, 1); !two.Usable() || math.IsInf(two.Upper, 1) {
		t.Errorf("two cases: %+v", two)
	}
}

// TestTailsByHand holds the ends of skewed amounts against the residuals themselves.
func TestTailsByHand(t *testing.T) {
	t.Parallel()
	// skewness is the adjusted third moment of values with mean 0.
	skewness := func(residuals []float64) float64 {
		n, second, third := float64(len(residuals)), 0.0, 0.0
		for _, r := range residuals {
			second += r * r / n
			third += r * r * r / n
		}
		return third / (second * math.Sqrt(second)) * math.Sqrt(n*(n-1)) / (n - 2)
	}
	for name, tc := range map[string]struct {
		dear float64
		long bool // more skewed than a lognormal amount
	}{"one dear case": {20, true}, "one very dear case": {90, false}, "one cheap case": {-2.5, false}} {
		var r Ratio
		var y, x []float64
		for i := range 24 {
			size := float64(1 + (i%3)*(i%3))
			x, y = append(x, size), append(y, 3*size+0.5*float64(i%2))
		}
		y[5] += tc.dear
		for i := range y {
			r.Add(y[i], x[i])
		}
		p, residuals, squares := sum(y)/sum(x), make([]float64, len(y)), 0.0
		for i := range y {
			residuals[i] = y[i] - p*x[i]
			squares += residuals[i] * residuals[i]
		}
		se := math.Sqrt(24.0/23*squares) / sum(x)
		cv := se / p * math.Sqrt(24)
		own, implied := skewness(residuals), 3*cv+cv*cv*cv
		if long := own > implied; long != tc.long {
			t.Errorf("%s: skewness %g, that of a lognormal %g", name, own, implied)
		}
		holds(t, name, r.Interval(0.95), Interval{
			Point: p, SE: se, Lower: p - se*Tail(24, -own, 0.95), Upper: p + se*Tail(24, max(own, implied), 0.95),
			N: 24, Clusters: 24, Confidence: 0.95, Method: "ratio_of_totals_skewed_t", Status: StatusOK,
		})
		// As differences they have the mean 0.
		iv, _ := PairedSkewed(residuals, 0.95)
		paired := math.Sqrt(squares / 23 / 24)
		if !near(iv.Lower, -paired*Tail(24, -own, 0.95)) || !near(iv.Upper, paired*Tail(24, own, 0.95)) ||
			iv.Method != "paired_mean_skewed_t" {
			t.Errorf("%s: differences: %+v", name, iv)
		}
	}
	if iv, p := PairedSkewed([]float64{1, 1, 1}, 0.95); iv.Status != StatusZeroVariance || iv.Lower != 1 ||
		iv.Upper != 1 || p != 0 {
		t.Errorf("the same difference thrice: %+v, p %g", iv, p)
	}
	if iv, p := PairedMean([]float64{0, 0}, 0.95); iv.Status != StatusZeroVariance || p != 1 {
		t.Errorf("no difference: %+v, p %g", iv, p)
	}
	if iv, p := PairedMean([]float64{2}, 0.95); iv.Status != StatusTooFew || !math.IsInf(iv.Lower, -1) ||
		!math.IsInf(iv.Upper, 1) || p != 1 {
		t.Errorf("one difference: %+v, p %g", iv, p)
	}
	var r Ratio
	if iv := r.Interval(0.95); iv.Status != StatusNoData || !math.IsInf(iv.Lower, -1) || !math.IsInf(iv.Upper, 1) {
		t.Errorf("no case: %+v", iv)
	}
	r.Add(1, 1)
	r.Add(3, 1)
	// One degree of freedom: the t quantile is that of Cauchy, and one case more or
	// less is the standard error.
	if iv := r.TInterval(0.95); !near(iv.Upper, 2+1/math.Tan(0.025*math.Pi)) {
		t.Errorf("two cases: %+v", iv)
	}
	// Two values have no skewness, {0, 0, 1} has the square root of 3.
	for _, tc := range []struct{ n, squares, cubes, want float64 }{
		{2, 0.5, 0.25, 0},
		{3, 2.0 / 3, 2.0 / 9, math.Sqrt(3)},
		{5, 0, 0, 0},
	} {
		if got := sampleSkewness(tc.n, tc.squares, tc.cubes); !near(got, tc.want) {
			t.Errorf("skewness of %g values: %g, want %g", tc.n, got, tc.want)
		}
	}
}

// TestDesign: how alike the values of a case are, by hand.
func TestDesign(t *testing.T) {
	t.Parallel()
	// Two cases of two: all of the spread is between them.
	if d := DesignEffect([]float64{1, 1, 0, 0}, []int{1, 1, 2, 2}, 0.95); d.Status != StatusOK || !near(d.ICC, 1) ||
		!near(d.Effect, 4) {
		t.Errorf("two cases: %+v", d)
	}
	for name, d := range map[string]Design{
		"one value a case": DesignEffect([]float64{1, 0, 0}, []int{1, 2, 3}, 0.95),
		"all alike":        DesignEffect([]float64{1, 1, 1, 1}, []int{1, 1, 2, 2}, 0.95),
		"all a half":       DesignEffect([]float64{0.5, 0.5, 0.5, 0.5}, []int{1, 1, 2, 2}, 0.95),
	} {
		if !math.IsNaN(d.ICC) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	// 100 values of 50 cases at a half: a standard error of 0.05 is that of independent
	// ones, one of 0.06 has 1.44 of its variance.
	for name, tc := range map[string]struct {
		iv  Interval
		icc float64
		ok  bool
	}{
		"independent": {Interval{Point: 0.5, SE: 0.05, N: 100, Clusters: 50, Status: StatusOK}, 0, true},
		"alike":       {Interval{Point: 0.5, SE: 0.06, N: 100, Clusters: 50, Status: StatusOK}, 0.44, true},
		"four a case": {
			Interval{Point: 0.2, SE: 0.06, N: 100, Clusters: 25, Status: StatusOK},
			(0.0036/0.0016 - 1) / 3, true,
		},
		"more than alike":  {Interval{Point: 0.5, SE: 0.09, N: 100, Clusters: 50, Status: StatusOK}, 1, true},
		"less than by lot": {Interval{Point: 0.5, SE: 0.04, N: 100, Clusters: 50, Status: StatusOK}, 0, true},
		"three of two":     {Interval{Point: 0.5, SE: 0.1, N: 75, Clusters: 50, Status: StatusOK}, 1, true},
		"few more":         {Interval{Point: 0.5, SE: 0.06, N: 74, Clusters: 50, Status: StatusOK}, 0, false},
		"all":              {Interval{Point: 1, SE: 0.06, N: 100, Clusters: 50, Status: StatusOK}, 0, false},
		"no error":         {Interval{Point: 0.5, N: 100, Clusters: 50, Status: StatusZeroVariance}, 0, false},
		"one case": {
			Interval{Point: 0.5, SE: 0.06, N: 100, Clusters: 1, Status: StatusSingleCluster},
			0,
			false,
		},
	} {
		if got, ok := tc.iv.Alike(); !(math.Abs(got.Correlation-tc.icc) <= 1e-12) || ok != tc.ok {
			t.Errorf("%s: %g, %v, want %g, %v", name, got, ok, tc.icc, tc.ok)
		}
	}
}

// TestExactNumbers: numbers of cases that come out whole are not rounded up.
func TestExactNumbers(t *testing.T) {
	t.Parallel()
	type answer struct {
		A, B int
		OK   bool
	}
	ask := func(a, b int, ok bool) answer { return answer{a, b, ok} }
	for name, tc := range map[string]struct{ got, want answer }{
		"a half of a half":      {ask(ExposureFor(0.5, 0.75)), answer{2, 6, true}},
		"certain incidents":     {ask(ExposureFor(1, 0.75)), answer{}},
		"the median":            {ask(QuantileMinN(0.5, 0.75)), answer{3, 3, true}},
		"the smallest":          {ask(QuantileMinN(0, 0.75)), answer{}},
		"the largest":           {ask(QuantileMinN(1, 0.75)), answer{}},
		"the median, unsure":    {ask(QuantileMinN(0.5, 0)), answer{}},
		"the p90 of Hahn's 36 ": {ask(QuantileMinN(0.9, 0.95)), answer{36, 2, true}},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, tc.got, tc.want)
		}
	}
	if e := Incidents(0, 0); e.Status != StatusNoData || e.Upper95 != 1 {
		t.Errorf("no case: %+v", e)
	}
	if e := Incidents(-1, 2); e.Status != StatusInvalid {
		t.Errorf("fewer than none: %+v", e)
	}
}

// TestAsJSON: a number and a text are what package json writes, at every border.
func TestAsJSON(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{0, 1, -1, 1e-6, 9.99e-7, 1e20, 1e21, -1e21, 1.5e22, 1e-9, 1e-10, 1e100} {
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := AppendFloat(nil, x); err != nil || string(got) != string(want) {
			t.Errorf("%g: %s (%v), want %s", x, got, err, want)
		}
	}
	for _, s := range []string{
		"", "a", " ", `"`, `\`, "<", ">", "&", "\x01", "\x1f", "\x7f", "~", "ü", "\u2028",
		"\xff", "a b",
	} {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendText(nil, s); string(got) != string(want) {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
	var iv Interval
	if err := json.Unmarshal([]byte(`{"point":null,"lower":null,"upper":null}`), &iv); err != nil ||
		!math.IsInf(iv.Lower, -1) || !math.IsInf(iv.Upper, 1) {
		t.Errorf("%+v, %v", iv, err)
	}
}

// TestLopsided: a weight below 0 turns the ends of its part.
func TestLopsided(t *testing.T) {
	t.Parallel()
	part := Interval{Point: 0.5, Lower: 0.4, Upper: 0.8, N: 9, Clusters: 3, Confidence: 0.95, Status: StatusOK}
	open := Interval{
		Point: 0.5, Lower: math.Inf(-1), Upper: math.Inf(1), N: 1, Clusters: 1, Confidence: 0.95,
		Status: StatusTooFew,
	}
	want := Interval{
		Point: -1, Lower: -1.6, Upper: -0.8, N: 9, Clusters: 3, Confidence: 0.95, Method: "mover",
		Status: StatusOK,
	}
	holds(t, "turned", Combine([]float64{-2}, []Interval{part}), want)
	want.N, want.Clusters, want.Status = 10, 4, StatusTooFew
	holds(t, "with one that does not count", Combine([]float64{-2, 0}, []Interval{part, open}), want)
}

// TestPairsByHand: counts at the limits of the possible, and no pairs.
func TestPairsByHand(t *testing.T) {
	t.Parallel()
	if iv := TangoCounts(3, 3, 4, 0.95); iv.Status != StatusInvalid {
		t.Errorf("six changes of four pairs: %+v", iv)
	}
	if iv := TangoCounts(2, 2, 4, 0.95); iv.Status != StatusOK || iv.Point != 0 || !near(iv.Lower, -iv.Upper) {
		t.Errorf("four changes of four pairs: %+v", iv)
	}
	if iv := TangoCounts(4, 0, 4, 0.95); iv.Point != 1 || iv.Upper != 1 || !(iv.Lower < 1) {
		t.Errorf("all rise: %+v", iv)
	}
	for _, n := range []int{1, 20} { // no change: z²/(n+z²) on either side, as of Wilson
		const z2 = 1.959963984540054 * 1.959963984540054
		if iv := TangoCounts(0, 0, n, 0.95); !near(iv.Upper, z2/(float64(n)+z2)) || !near(iv.Lower, -iv.Upper) {
			t.Errorf("no change of %d: %+v", n, iv)
		}
	}
	for name, iv := range map[string]Interval{"Tango": Tango(Pairs{}, 0.95), "Newcombe": Newcombe(Pairs{}, 0.95)} {
		if iv.Status != StatusNoData || iv.Lower != -1 || iv.Upper != 1 {
			t.Errorf("%s: %+v", name, iv)
		}
	}
}

// TestQuantileRanks: which observations are the ends, by hand.
func TestQuantileRanks(t *testing.T) {
	t.Parallel()
	each := func(n int) []Observation {
		obs := make([]Observation, n)
		for i := range obs {
			obs[i] = Observation{Value: float64(10 * (i + 1)), Cluster: int32(i)}
		}
		return obs
	}
	inf := math.Inf(1)
	// Four cases with the same values, and one has most of them: worth four.
	like := make([]Observation, 100)
	for i := range like {
		like[i] = Observation{Value: 7, Cluster: int32(min(i, 3))}
	}
	two := []Observation{{1, 0, false}, {2, 0, false}, {3, 1, false}, {4, 1, false}}
	for name, tc := range map[string]struct {
		obs         []Observation
		q, conf     float64
		point       float64
		lower       float64
		upper       float64
		method      string
		status      Status
		wantedRanks [2]int
	}{
		"six and their median": {each(6), 0.5, 0.95, 35, 10, 60, "order_statistics", StatusOK, [2]int{1, 6}},
		"five are too few":     {each(5), 0.5, 0.95, 30, -inf, inf, "order_statistics", StatusOK, [2]int{0, 6}},
		"three at exactly 1/8": {each(3), 0.5, 0.75, 20, 10, 30, "order_statistics", StatusOK, [2]int{1, 3}},
		"the smallest":         {each(3), 0, 0.95, 10, -inf, 10, "order_statistics", StatusOK, [2]int{0, 1}},
		"the largest":          {each(3), 1, 0.95, 30, 30, inf, "order_statistics", StatusOK, [2]int{3, 4}},
		"nothing":              {nil, 0.5, 0.95, 0, -inf, inf, "order_statistics", StatusNoData, [2]int{0, 1}},
		"one case": {
			[]Observation{{1, 0, false}, {3, 0, false}},
			0.5, 0.95, 2, -inf, inf,
			"order_statistics", StatusSingleCluster,
			[2]int{0, 3},
		},
		"two cases":             {two, 0.5, 0.95, 2.5, -inf, inf, "woodruff_neff", StatusOK, [2]int{0, 5}},
		"worth four at 1/16":    {like, 0.5, 0.875, 7, 7, 7, "woodruff_neff", StatusOK, [2]int{11, 89}},
		"worth four, but surer": {like, 0.5, 0.9, 7, -inf, inf, "woodruff_neff", StatusOK, [2]int{0, 101}},
		"outside of the quantiles": {
			each(3), -0.1, 0.95, 0, -inf, inf, "order_statistics", StatusInvalid,
			[2]int{0, 4},
		},
	} {
		q := Quantiles(slices.Clone(tc.obs), tc.conf, tc.q)[0]
		if q.Point != tc.point || q.Lower != tc.lower || q.Upper != tc.upper || q.Method != tc.method ||
			q.Status != tc.status {
			t.Errorf("%s: %+v", name, q)
		}
		if got := [2]int{q.LowerRank, q.UpperRank}; got != tc.wantedRanks {
			t.Errorf("%s: ranks %v, want %v", name, got, tc.wantedRanks)
		}
	}
	if c := observed(slices.Clone(two)).AtMost(3); c.Sum() != 3 || c.N() != 4 || c.Cases() != 2 {
		t.Errorf("three of four are at most 3: %+v", c)
	}
}

// TestDrawsByHand: a bootstrap at its borders.
func TestDrawsByHand(t *testing.T) {
	t.Parallel()
	first := func(units []int) float64 { return float64(units[0]) } // of no units there is none
	if b := Bootstrap(1, 3, 0.95, [2]uint64{}, first); b.Status != StatusDegenerate {
		t.Errorf("one unit: %+v", b)
	}
	jack, draws := []float64{1, 2, 3}, []float64{1, 2, 3, 4}
	for name, tc := range map[string]struct{ point, bias float64 }{
		"above all": {9, NormalQuantile(7.0 / 8)}, "below all": {0, NormalQuantile(1.0 / 8)},
		"a tie": {2, NormalQuantile(3.0 / 8)},
	} {
		if b := BCaFrom(tc.point, jack, draws, 0.95); b.Status != StatusOK || !near(b.Bias, tc.bias) {
			t.Errorf("%s: %+v, want a bias of %g", name, b, tc.bias)
		}
	}
	// A level that the acceleration carries beyond the end is the end.
	for name, tc := range map[string]struct{ acceleration, level, want float64 }{
		"up": {1, 0.975, 1}, "down": {-1, 0.025, 0}, "not": {0, 0.3, 0.3},
		"up a little": {0.1, 0.975, Normal(1 / (1/1.959963984540054 - 0.1))},
	} {
		if got := (BCa{Acceleration: tc.acceleration}).level(tc.level); !near(got, tc.want) {
			t.Errorf("%s: %g, want %g", name, got, tc.want)
		}
	}
	// At a million the last digits of a float64 are 1e-10; they are no spread.
	if b := BCaFrom(1e6, []float64{1e6, 1e6 + 1e-7, 1e6 - 1e-7}, draws, 0.95); b.Status != StatusDegenerate {
		t.Errorf("jackknife values that differ by rounding: %+v", b)
	}
}

// TestTables: exact chances, counted.
func TestTables(t *testing.T) {
	t.Parallel()
	twenty := make([]float64, SignFlipMax)
	for i := range twenty {
		twenty[i] = 1
	}
	all, ok := SignFlip(twenty)
	_, tooMany := SignFlip(append(twenty, 1))
	if !ok || all != math.Ldexp(1, -19) || tooMany {
		t.Errorf("20 of one sign: %g, %v; 21: %v", all, ok, tooMany)
	}
	low, _ := SignFlipRegression([]float64{-1, -1, -1, 1})
	for name, tc := range map[string]struct{ got, want float64 }{
		"at most -2 of four":         {low, 5.0 / 16},
		"three cups of four":         {FisherGreater(3, 4, 1, 4), 17.0 / 70},
		"four cups of four":          {FisherGreater(4, 4, 0, 4), 1.0 / 70},
		"no cup":                     {FisherGreater(0, 4, 4, 4), 1},
		"three cups, both ways":      {Fisher(3, 4, 1, 4), 34.0 / 70},
		"none of one side":           {Fisher(0, 0, 3, 9), 1},
		"three changes one way":      {McNemarExact(0, 3), 0.25},
		"fifty changes, half":        {McNemarExact(25, 25), 1},
		"3,000 changes, half":        {McNemarExact(1500, 1500), 1},
		"3,000 changes, nearly half": {McNemarExact(1450, 1550), 2 * BinomialCDF(1450, 3000, 0.5)},
	} {
		if !near(tc.got, tc.want) {
			t.Errorf("%s: %.15g, want %.15g", name, tc.got, tc.want)
		}
	}
}
