// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/callvet/callvet/value"
)

// testData is the folder of downloaded test sets.
func testData(t testing.TB) string {
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NOT RUN: no test data at %s (set CALLVET_TESTDATA)", dir)
	}
	return dir
}

func readLines(t testing.TB, path string, each func(line []byte)) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		each(sc.Bytes())
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

type suiteGroup struct {
	Draft, File, Description string
	Optional                 bool
	Schema                   json.RawMessage
	Tests                    []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func suiteRemotes(t testing.TB, dir string) map[string]map[string]any {
	out := map[string]map[string]any{}
	readLines(t, filepath.Join(dir, "remotes.jsonl.gz"), func(line []byte) {
		var r struct {
			Path   string
			Schema json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		t.Logf("remote %s", r.Path)
	})
	return out
}

func TestSuiteAgrees(t *testing.T) {
	dir := filepath.Join(testData(t), "sets", "json_schema_suite")
	suiteRemotes(t, dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*", "draft*.jsonl.gz"))
	sort.Strings(files)
	total, differ, slow, expected := 0, 0, 0, 0
	for _, f := range files {
		readLines(t, f, func(line []byte) {
			var g suiteGroup
			if err := json.Unmarshal(line, &g); err != nil {
				t.Fatal(err)
			}
			doc, err := readSchema(g.Schema)
			if err != nil {
				t.Errorf("%s %s %q: %v", g.Draft, g.File, g.Description, err)
				return
			}
			s, err := compile(g.Schema, doc, nil)
			if err != nil {
				t.Logf("%s %s %q: %v", g.Draft, g.File, g.Description, err)
				return
			}
			if s.fast == nil {
				slow++
			}
			for _, c := range g.Tests {
				total++
				v, err := value.Parse(c.Data)
				if err != nil {
					t.Logf("%s %q: %v", g.File, c.Description, err)
					continue
				}
				lib := libraryValid(s.lib, v)
				if got := s.Valid(v); got != lib {
					differ++
					t.Errorf("%s %s %q %q: fast %v, library %v: %s", g.Draft, g.File, g.Description, c.Description, got, lib, c.Data)
				}
				if n := len(s.Check(v)); (n == 0) != lib {
					t.Errorf("%s %q: Check gave %d violations, library %v", g.File, c.Description, n, lib)
				}
				if lib != c.Valid {
					expected++
					t.Logf("%s %s opt=%v %q %q: library %v, suite %v", g.Draft, g.File, g.Optional, g.Description, c.Description, lib, c.Valid)
				}
			}
		})
	}
	t.Logf("%d assertions: %d differ between fast path and library, %d library against the suite, %d groups slow (%s)",
		total, differ, expected, slow, strings.Join(files, " "))
}
