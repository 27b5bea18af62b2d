// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	data := os.Getenv("CALLVET_TESTDATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(data, "origins", "seed2")); err != nil {
		t.Skipf("the test data is not here: %v", err)
	}
	var out strings.Builder
	if ok, err := Run(t.Context(), &out, data); err != nil || !ok {
		t.Errorf("%v\n%s", err, out.String())
	}
}
