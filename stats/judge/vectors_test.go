// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge_test

import (
	"os"
	"testing"

	"github.com/callvet/callvet/internal/conformtest"
)

// TestVectors: the values of other software.
func TestVectors(t *testing.T) {
	t.Parallel()
	conformtest.Vectors(t, os.Getenv, "auc_delong", "begg_greenes", "calibration_*", "isotonic", "judge_drift_fisher",
		"label_allocation", "lang_*", "ppi_mean", "rogan_gladen")
}

// TestVectorsOfTrueSuccess: the same for success corrected for the errors of a judge, where
// each value is an integral.
func TestVectorsOfTrueSuccess(t *testing.T) {
	t.Parallel()
	conformtest.Vectors(t, os.Getenv, "ts_*")
}
