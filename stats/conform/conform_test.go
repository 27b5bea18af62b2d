// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import "testing"

// TestCoverage runs each study with few trials; make verify-coverage runs 10,000.
func TestCoverage(t *testing.T) {
	t.Parallel()
	trials := 300
	if testing.Short() {
		trials = 100
	}
	for _, s := range Studies() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if o := s.Run(trials, 7); !o.OK {
				t.Errorf("held in %.3f of %d trials, want %.3f to %.3f", o.Share, o.Trials, s.Low, s.High)
			}
		})
	}
}

// A check that cannot fail proves nothing: values off by a little must be found.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	file := []byte(
		`{"tolerance":{"abs":1e-9},"autumn":[{"id":"x","input":{"successes":5,"n":4,"confidence":0.95},"expected":{"point":1}}],"spring":[{"id":"a","input":{"successes":1,"n":4,"confidence":0.95},
		"expected":{"point":0.2500001,"status":"ok","extra":null}},{"id":"b","input":{"successes":5,"n":4,"confidence":0.95},"expected":{"error":"invalid_input"}},
		{"id":"c","input":{"successes":5,"n":4,"confidence":0.95},"expected":{"point":1}}]}`)
	r, err := Check("binom_wilson", "spring", file, Methods()["binom_wilson"])
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, p := range r.Problems {
		found[p.Case]++
	}
	if len(r.Cases) != 3 || found["a"] != 1 || found["b"] != 0 || found["c"] != 2 || r.OK() {
		t.Errorf("cases %v, problems %v", r.Cases, r.Problems)
	}
	if _, err := Check("x", "spring", []byte("{"), Method{}); err == nil {
		t.Error("a broken file was read")
	}
}
