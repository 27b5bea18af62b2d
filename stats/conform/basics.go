// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"math"
	"slices"

	"github.com/callvet/callvet/stats"
)

func basics() map[string]Method {
	return map[string]Method{
		"binom_clopper_pearson": {Run: with(binomial(stats.ClopperPearson))},
		"binom_wilson":          {Run: with(binomial(stats.Wilson))},
		"binom_jeffreys":        {Run: with(binomial(stats.Jeffreys))},
		"binom_midp":            {Run: with(binomial(stats.MidP))},
		"neff_interval":         {Run: with(neff)},
		"clustered_proportion":  {Run: with(design), Ignore: []string{"R_survey_beta_uncapped"}},
		"cluster_ratio":         {Run: with(ratio)},
		"percentile_type7":      {Run: with(percentile)},
		"quantile_ci_order":     {Run: with(orderQuantile)},
		"quantile_ci_clustered": {Run: with(clusteredQuantile)},
		"quantile_min_n":        {Run: with(quantileMinN)},
		"pass_at_k":             {Run: with(passAtK)},
		"pass_hat_k":            {Run: with(passHatK)},
		"incident_upper_bound":  {Run: with(incidents)},
		"bca_deterministic":     {Run: with(bca)},
		"bootstrap_montecarlo": {
			Run: with(bootstrap), Ignore: []string{"scipy", "R_boot", "boot_se"},
			PerCase: "tolerance_abs",
		},
		"special_functions": {Run: with(special)},
	}
}

type binomialInput struct {
	Successes, N int
	Confidence   float64
	Side         stats.Side
}

func binomial(f func(x, n int, conf float64, side stats.Side) stats.Interval) func(binomialInput) Fields {
	return func(in binomialInput) Fields {
		return interval(f(in.Successes, in.N, in.Confidence, in.Side))
	}
}

// interval converts an interval to Fields; an invalid one is a rejected call.
func interval(iv stats.Interval) Fields {
	if iv.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"point": orNil(iv.Defined(), iv.Point), "lower": iv.Lower, "upper": iv.Upper, "status": iv.Status,
		"n": iv.N, "clusters": iv.Clusters, "se": iv.SE, "n_eff": iv.NEff, "method": iv.Method,
	}
}

type clustered struct {
	Values        []float64
	Clusters      []int
	Q, Confidence float64
}

func neff(in clustered) Fields {
	if len(in.Values) != len(in.Clusters) {
		return rejected("invalid_input")
	}
	return interval(stats.NeffInterval(in.Values, in.Clusters, in.Confidence, stats.DefaultRho0))
}

func design(in clustered) Fields {
	d := stats.DesignEffect(in.Values, in.Clusters, in.Confidence)
	if d.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"status": d.Status, "point": d.Point, "n": d.N, "clusters": d.Clusters, "se": d.SE, "deff": d.Effect,
		"icc_anova": d.ICC, "n_eff": d.NEff, "n_eff_kg": d.NEffKG, "t_lower": d.TLower, "t_upper": d.TUpper,
		"kg_lower": d.KGLower, "kg_upper": d.KGUpper, "lower": d.KGLower, "upper": d.KGUpper,
	}
}

func ratio(in struct {
	Numerators, Denominators []float64
	Confidence               float64
},
) Fields {
	if len(in.Numerators) != len(in.Denominators) {
		return rejected("length_mismatch")
	}
	var r stats.Ratio
	for i := range in.Numerators {
		r.Add(in.Numerators[i], in.Denominators[i])
	}
	iv := r.TInterval(in.Confidence)
	return Fields{
		"status": iv.Status, "point": orNil(iv.Defined(), iv.Point), "se": orNil(iv.Usable(), iv.SE),
		"df":      iv.Clusters - 1,
		"t_lower": limit(iv.Lower), "t_upper": limit(iv.Upper),
	}
}

func percentile(in struct{ Values, Q []float64 }) Fields {
	slices.Sort(in.Values)
	out := make([]float64, len(in.Q))
	for i, q := range in.Q {
		x, ok := stats.Percentile(in.Values, q)
		if !ok {
			return rejected("invalid_input")
		}
		out[i] = x
	}
	return Fields{"type7": out}
}

func observations(in clustered) []stats.Observation {
	obs := make([]stats.Observation, len(in.Values))
	for i, v := range in.Values {
		obs[i] = stats.Observation{Value: v, Cluster: int32(i)}
		if in.Clusters != nil {
			obs[i].Cluster = int32(in.Clusters[i])
		}
	}
	return obs
}

func orderQuantile(in clustered) Fields {
	q := stats.Quantiles(observations(in), in.Confidence, in.Q)[0]
	if q.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"lower_rank": q.LowerRank, "upper_rank": q.UpperRank, "exact_coverage": q.Coverage,
		"lower": q.Lower, "upper": q.Upper, "point_type7": orNil(q.Defined(), q.Point), "status": q.Status,
	}
}

func clusteredQuantile(in clustered) Fields {
	if len(in.Values) != len(in.Clusters) {
		return rejected("invalid_input")
	}
	q := stats.Quantiles(observations(in), in.Confidence, in.Q)[0]
	if q.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"status": q.Status, "method": q.Method, "point": orNil(q.Defined(), q.Point), "n_eff": q.NEff,
		"p_lower": q.FLower, "p_upper": q.FUpper, "lower_rank": q.LowerRank,
		"upper_rank": orNil(q.UpperRank <= len(in.Values), q.UpperRank), "lower": limit(q.Lower),
		"upper": limit(q.Upper),
	}
}

func quantileMinN(in clustered) Fields {
	upper, lower, ok := stats.QuantileMinN(in.Q, in.Confidence)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"min_n_upper_bound": upper, "min_n_lower_bound": lower}
}

func passAtK(in struct{ N, C, K int }) Fields {
	p, ok := stats.PassAtK(in.N, in.C, in.K)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"pass_at_k": p}
}

func passHatK(in struct {
	Tasks [][2]int
	K     int
},
) Fields {
	cases := make([]stats.Trials, len(in.Tasks))
	for i, t := range in.Tasks {
		cases[i] = stats.Trials{N: t[0], Passed: t[1]}
	}
	iv, skipped := stats.MeanPassHatK(cases, in.K, 0.95, stats.DefaultRho0)
	if iv.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"pass_hat_k": orNil(iv.Defined(), iv.Point), "tasks_used": iv.N, "tasks_skipped": skipped,
		"se": orNil(iv.Usable(), iv.SE), "status": iv.Status,
	}
}

func incidents(in struct {
	Incidents  int
	N          int
	TargetRate *float64 `json:"target_rate"`
	Confidence float64
},
) Fields {
	if in.TargetRate != nil {
		exact, three, ok := stats.ExposureFor(*in.TargetRate, in.Confidence)
		if !ok {
			return rejected("invalid_input")
		}
		return Fields{"n_required_exact": exact, "n_rule_of_three": three}
	}
	e := stats.Incidents(in.Incidents, in.N)
	if e.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"status": e.Status, "rate": e.Rate, "upper95_one_sided": e.Upper95, "upper975_one_sided": e.Upper975,
		"rule_of_three": e.RuleOfThree, "poisson_upper95": e.Poisson95,
	}
}

type bootstrapInput struct {
	Mode             string
	Method           string
	Data, Replicates []float64
	Confidence       float64
}

func bca(in bootstrapInput) Fields {
	round := func(x float64) float64 { return x }
	if in.Mode == "enumerate_all" {
		round = func(x float64) float64 { return math.Round(x*1e12) / 1e12 }
		in.Replicates = allResamples(in.Data, round)
	}
	jack := make([]float64, len(in.Data))
	for i := range in.Data {
		jack[i] = average(slices.Delete(slices.Clone(in.Data), i, i+1))
	}
	b := stats.BCaFrom(round(average(in.Data)), jack, in.Replicates, in.Confidence)
	return bootstrapFields(b)
}

// allResamples are the means of all n^n ordered resamples.
func allResamples(data []float64, round func(float64) float64) []float64 {
	n, total := len(data), 1
	for range n {
		total *= n
	}
	out := make([]float64, total)
	pick := make([]float64, n)
	for i := range out {
		for j, k := 0, i; j < n; j, k = j+1, k/n {
			pick[j] = data[k%n]
		}
		out[i] = round(average(pick))
	}
	return out
}

func average(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s / float64(len(xs))
}

func averageAt(data []float64, units []int) float64 {
	s := 0.0
	for _, u := range units {
		s += data[u]
	}
	return s / float64(len(units))
}

func bootstrap(in bootstrapInput) Fields {
	// The references have 200,000 resamples.
	b := stats.Bootstrap(len(in.Data), 200_000, in.Confidence, [2]uint64{1, 2}, func(units []int) float64 {
		return math.Round(averageAt(in.Data, units)*1e12) / 1e12
	})
	out := bootstrapFields(b)
	if in.Method == "percentile" {
		out["lower"], out["upper"] = b.PercentileLower, b.PercentileUpper
	}
	return out
}

func bootstrapFields(b stats.BCa) Fields {
	if b.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"theta": b.Point, "acceleration": b.Acceleration, "frac_below": b.Below, "status": b.Status, "z0": b.Bias,
		"alpha1": b.Alpha1, "alpha2": b.Alpha2, "lower": b.Lower, "upper": b.Upper,
		"pct_lower": b.PercentileLower, "pct_upper": b.PercentileUpper,
	}
}

func special(in struct {
	Fn   string
	Args []float64
},
) Fields {
	a := in.Args
	functions := map[string]func() float64{
		"norm_ppf":   func() float64 { return stats.NormalQuantile(a[0]) },
		"norm_cdf":   func() float64 { return stats.Normal(a[0]) },
		"betainc":    func() float64 { return stats.Beta(a[0], a[1], a[2]) },
		"betaincinv": func() float64 { return stats.BetaQuantile(a[0], a[1], a[2]) },
		"t_ppf":      func() float64 { return stats.TQuantile(a[0], a[1]) },
		"t_cdf":      func() float64 { return stats.T(a[0], a[1]) },
		"chi2_ppf":   func() float64 { return stats.ChiSquaredQuantile(a[0], a[1]) },
		"chi2_sf":    func() float64 { return stats.ChiSquaredUpper(a[0], a[1]) },
		"binom_cdf":  func() float64 { return stats.BinomialCDF(int(a[0]), int(a[1]), a[2]) },
		"binom_pmf":  func() float64 { return stats.BinomialPMF(int(a[0]), int(a[1]), a[2]) },
		"lgamma":     func() float64 { return stats.LogGamma(a[0]) },
		"lbeta":      func() float64 { return stats.LogBeta(a[0], a[1]) },
	}
	f, ok := functions[in.Fn]
	if !ok {
		return rejected("unknown function " + in.Fn)
	}
	return Fields{"value": f()}
}
