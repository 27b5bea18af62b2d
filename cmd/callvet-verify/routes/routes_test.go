// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package routes

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A question may be longer than a scanner takes by itself.
func TestLongRow(t *testing.T) {
	t.Parallel()
	path, long := filepath.Join(t.TempDir(), "rows.jsonl.gz"), strings.Repeat("x", 200<<10)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	fmt.Fprintf(z, "{\"query\": %q, \"route\": \"travel\"}\n{\"query\": \"y\", \"route\": \"oos\"}\n", long)
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	rows, err := readRows(path)
	if err != nil || len(rows) != 2 || rows[0].Text != long || rows[0].Route != "travel" || rows[1].Route != "" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
