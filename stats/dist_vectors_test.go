// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"os"
	"testing"

	"github.com/callvet/callvet/internal/conformtest"
)

// TestDistVectors: the values of other software.
func TestDistVectors(t *testing.T) {
	t.Parallel()
	conformtest.Vectors(t, os.Getenv, "special_functions", "binom_*", "incident_*", "quantile_ci_*",
		"sample_size_comparison", "confidence_sequence_*", "e_values")
}
