// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testdata is the directory of the shared test data, or a loud skip.
func testdata(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("SKIPPED: no test data at %s (set CALLVET_TESTDATA)", dir)
	}
	return dir
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t testing.TB, data []byte) any {
	t.Helper()
	src, err := open(data, "")
	if err != nil {
		t.Fatalf("decode: %v\n%s", err, data)
	}
	var out []any
	for _, n := range src.values {
		var v any
		if err := json.Unmarshal(n.raw, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// Every file of the four origins comes out as the document that went in.
func TestRoundTripOrigins(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testdata(t), "origins")
	n := 0
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data := readFile(t, path)
		name := Detect(data, path)
		if name == "" {
			return nil
		}
		s, _, err := Import(name, data, path, Options{})
		if err != nil {
			return nil // refused templates are pinned by TestFamilies
		}
		out, problems, err := Export(name, s)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if diff := cmp.Diff(decode(t, data), decode(t, out)); diff != "" {
			t.Errorf("%s changed (-was +now):\n%s", path, diff)
		}
		if len(problems) > 0 {
			t.Errorf("%s: an unchanged suite loses %v", path, problems)
		}
		n++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 33 {
		t.Errorf("only %d files were checked", n)
	}
}
