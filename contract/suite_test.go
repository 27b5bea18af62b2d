// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/callvet/callvet/value"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"
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

func suiteRemotes(t testing.TB, dir string) map[string]any {
	out := map[string]any{}
	readLines(t, filepath.Join(dir, "remotes.jsonl.gz"), func(line []byte) {
		var r struct {
			Path   string
			Schema json.RawMessage
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		v, err := readSchema(r.Schema)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := decode(v)
		if err != nil {
			t.Fatal(err)
		}
		out["http://localhost:1234/"+r.Path] = doc
	})
	return out
}

// TestSuiteAgrees runs every case of the JSON Schema Test Suite through the fast
// path and the library; they must give the same verdict. Required (not
// optional) cases must also have the suite's own verdict, but for the library's
// known differences.
func TestSuiteAgrees(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testData(t), "sets", "json_schema_suite")
	remotes := suiteRemotes(t, dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*", "draft*.jsonl.gz"))
	sort.Strings(files)
	if len(files) == 0 {
		t.Skip("NOT RUN: json_schema_suite has no drafts")
	}
	var n suiteCount
	for _, f := range files {
		readLines(t, f, func(line []byte) {
			var g suiteGroup
			if err := json.Unmarshal(line, &g); err != nil {
				t.Fatal(err)
			}
			n.group(t, &g, remotes)
		})
	}
	t.Logf(
		"%d assertions: fast path and library differ on %d; against the suite the library differs on %d optional and %d required; of %d groups %d need the library whole, %d need it for reasons only",
		n.total, n.differ, n.optional, n.required, n.groups, n.slow, n.fromText)
	if n.refused > 2 {
		t.Errorf("%d schemas refused", n.refused)
	}
}

// plain compiles the schema from its text where that is possible; the properties must be those of
// the library.
func (n *suiteCount) plain(t *testing.T, g *suiteGroup, doc value.Value, s *Schema) *Schema {
	p := plainRoot(doc)
	if p == nil {
		return nil
	}
	n.fromText++
	p.settle()
	if d := cmp.Diff(s.props, p.props); d != "" {
		t.Errorf("%s %q: properties (-library +text)\n%s", g.File, g.Description, d)
	}
	if d := cmp.Diff(s.order, p.order); d != "" {
		t.Errorf("%s %q: order %s", g.File, g.Description, d)
	}
	if d := cmp.Diff(s.need, p.need, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s %q: required %s", g.File, g.Description, d)
	}
	return p
}

type suiteCount struct{ fromText, groups, total, differ, optional, required, slow, refused int }

func (n *suiteCount) group(t *testing.T, g *suiteGroup, remotes map[string]any) {
	doc, err := readSchema(g.Schema)
	if err != nil {
		t.Errorf("%s %s %q: %v", g.Draft, g.File, g.Description, err)
		return
	}
	with := setup{draft: jsonschema.Draft2020, remotes: remotes}
	if g.Draft == "draft7" {
		with.draft = jsonschema.Draft7
	}
	n.groups++
	s, err := compile(doc, with)
	if err != nil {
		n.refused++
		t.Logf("refused: %s %s %q: %v", g.Draft, g.File, g.Description, err)
		return
	}
	if s.fast == nil {
		n.slow++
	}
	plain := n.plain(t, g, doc, s)
	for _, c := range g.Tests {
		n.total++
		v, err := value.Parse(c.Data)
		if err != nil {
			t.Errorf("%s %q: %v", g.File, c.Description, err)
			continue
		}
		lib := libraryValid(s.lib, v, &meter{left: MaxSteps})
		if got := s.Valid(v); got != lib {
			n.differ++
			t.Errorf("%s %s %q %q: fast %v, library %v: %s", g.Draft, g.File, g.Description, c.Description, got,
				lib, c.Data)
		}
		if plain != nil && plain.Valid(v) != lib {
			t.Errorf("%s %s %q %q: compiled from text %v, library %v: %s", g.Draft, g.File, g.Description,
				c.Description, !lib, lib, c.Data)
		}
		if k := len(s.Check(v)); (k == 0) != lib {
			t.Errorf("%s %q: Check gave %d violations, library %v", g.File, c.Description, k, lib)
		}
		if lib == c.Valid {
			continue
		}
		if g.Optional {
			n.optional++
			continue
		}
		n.required++
		if g.File == "format.json" { // formats are asserted here on purpose
			continue
		}
		t.Errorf("required: %s %s %q %q: library %v, suite %v", g.Draft, g.File, g.Description, c.Description,
			lib, c.Valid)
	}
}
