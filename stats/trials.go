// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

// PassAtK is the chance that at least one of k trials passes, estimated without
// bias from c passes in n trials: 1 - C(n-c,k)/C(n,k). In [0,1]; ok is false
// when k is not in 1..n or c not in 0..n.
// Source: Chen et al. 2021.
func PassAtK(n, c, k int) (float64, bool) {
	if k < 1 || k > n || c < 0 || c > n {
		return 0, false
	}
	return 1 - chooseRatio(n-c, n, k), true
}

// PassHatK is the chance that all of k trials pass, estimated without bias from
// c passes in n trials: C(c,k)/C(n,k). It is not the k-th power of the pass
// rate, which is too low when trials of a case are alike. In [0,1]; ok is false
// when k is not in 1..n or c not in 0..n.
// Source: Yao et al. 2024.
func PassHatK(n, c, k int) (float64, bool) {
	if k < 1 || k > n || c < 0 || c > n {
		return 0, false
	}
	return chooseRatio(c, n, k), true
}

// chooseRatio is C(a,k)/C(n,k) for a <= n.
func chooseRatio(a, n, k int) float64 {
	if a < k {
		return 0
	}
	r := 1.0
	for i := range k {
		r *= float64(a-i) / float64(n-i)
	}
	return r
}

// Trials counts the trials of one case and how many passed.
type Trials struct {
	N, Passed int
}

// MeanPassHatK is the mean over cases of PassHatK with its interval, and the
// number of cases left out because they had fewer than k trials. k below 1, or
// impossible counts: StatusInvalid.
// Source: Yao et al. 2024; Statistics specification, section 3.
func MeanPassHatK(cases []Trials, k int, conf, rho0 float64) (iv Interval, skipped int) {
	var c Clusters
	for _, t := range cases {
		if k < 1 || t.N < 0 || t.Passed < 0 || t.Passed > t.N {
			return invalid("neff_clopper_pearson", conf), 0
		}
		p, ok := PassHatK(t.N, t.Passed, k)
		if !ok {
			skipped++
			continue
		}
		c.Add(p, 1, p == 0 || p == 1)
	}
	return c.Interval(conf, rho0), skipped
}
