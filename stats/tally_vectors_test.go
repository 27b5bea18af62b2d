// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats_test

import (
	"os"
	"testing"

	"github.com/callvet/callvet/internal/conformtest"
)

// TestTallyVectors: the values of other software.
func TestTallyVectors(t *testing.T) {
	t.Parallel()
	conformtest.Vectors(t, os.Getenv, "composite_score", "confusion_matrix", "match_and_jaccard", "multi_turn_score",
		"overcall_rate", "retrieval_metrics", "selection_table")
}
