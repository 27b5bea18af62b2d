// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import "testing"

func TestCompareAttempts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		before, n, now, m int
		verdict           string
		flaky             bool
	}{
		{5, 5, 0, 5, CaseWorse, false},
		{0, 5, 5, 5, CaseBetter, false},
		{10, 10, 3, 10, CaseWorse, true},
		{5, 5, 4, 5, CaseFlaky, true},
		{3, 5, 3, 5, CaseFlaky, true},
		{1, 1, 0, 1, CaseUnproven, false},
		{3, 3, 0, 3, CaseUnproven, false},
		{1, 20, 11, 20, CaseBetter, true},
		{2, 4, 3, 6, CaseFlaky, true},
		{5, 5, 3, 3, CaseUnchanged, false},
		{0, 2, 0, 4, CaseUnchanged, false},
	} {
		got := CompareAttempts(tt.before, tt.n, tt.now, tt.m)
		if got.Verdict != tt.verdict || got.Flaky != tt.flaky || !(got.P > 0 && got.P <= 1) {
			t.Errorf("%d of %d, then %d of %d: %+v", tt.before, tt.n, tt.now, tt.m, got)
		}
	}
}
