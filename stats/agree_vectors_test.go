// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"os"
	"testing"

	"github.com/callvet/callvet/internal/conformtest"
)

// TestVectors: the values of other software.
func TestVectors(t *testing.T) {
	t.Parallel()
	conformtest.Vectors(t, os.Getenv, "cohen_kappa", "gwet_ac1", "krippendorff_alpha")
}
