// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("SKIPPED: reference vectors not found in %s; set CALLVET_VECTORS to check against them", dir)
	}
	methods := Methods()
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		m, ok := methods[name]
		if !ok {
			if name != "argument_fidelity" { // a matter of matching: callvet-verify stats checks it
				t.Errorf("no method for %s", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("SKIPPED: gone")
			} else if err != nil {
				t.Fatal(err)
			}
			r, err := Check(name, data, m)
			if err != nil {
				t.Fatal(err)
			}
			if r.Compared == 0 {
				t.Error("nothing compared")
			}
			for _, p := range r.Problems {
				t.Errorf("%s: %s", p.Case, p.Detail)
			}
		})
	}
}
