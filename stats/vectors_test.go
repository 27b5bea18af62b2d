// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"os"
	"testing"

	"github.com/callvet/callvet/internal/conformtest"
)

// TestStatsVectors: the values of other software.
func TestStatsVectors(t *testing.T) {
	t.Parallel()
	conformtest.Vectors(t, os.Getenv, "binom_*", "bca_*", "bootstrap_*", "cluster*", "incident_*", "neff_*", "pass_*",
		"percentile_*", "quantile_*", "mcnemar", "multiple_testing", "newcombe_*", "paired_*", "signflip_*", "tango_*",
		"lang_*", "judge_drift_fisher", "sample_size_comparison")
}
