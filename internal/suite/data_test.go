// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/google/go-cmp/cmp"
)

// testdata is the folder of public data, or "" with a skip.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no public data: set CALLVET_TESTDATA (%v)", err)
	}
	return dir
}

// TestEveryOriginLoadsOrReportsWhy reads every public file of the seeds' formats
// and of others: a suite survives the way through callvet's own format, and
// what is no suite is refused with a message and a hint.
func TestEveryOriginLoadsOrReportsWhy(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	loaded, refused := 0, 0
	for _, root := range []string{filepath.Join(data, "origins"), filepath.Join(data, "..", "formats")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, ".md") {
				return err
			}
			s, problems, err := Load(path, Options{KeepTokens: true})
			if err != nil {
				refused++
				var h *callvet.Hinted
				if !errors.As(err, &h) || h.Hint == "" {
					t.Logf("%s is refused without a hint: %v", path, err)
				}
				return nil
			}
			loaded++
			for _, format := range []string{"yaml", "json"} {
				b, err := Export(s, format)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
				again, more, err := parse(b, "x."+format, Options{KeepTokens: true})
				if err != nil || (HasErrors(more) && !HasErrors(problems)) {
					t.Errorf("%s: %v %v", path, err, more[:min(len(more), 3)])
					continue
				}
				if diff := cmp.Diff(s, again, exact(), cmp.Comparer(sameJSON)); diff != "" {
					t.Errorf("%s as %s: -want +got\n%s", path, format, diff[:min(len(diff), 1500)])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files loaded, %d refused", loaded, refused)
	if loaded < 40 {
		t.Errorf("only %d files loaded", loaded)
	}
}

// sameJSON compares values as callvet writes them: importers keep the spaces of
// their files.
func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	x, bad := doc.ReadJSON("", a)
	if bad != nil {
		return false
	}
	y, bad := doc.ReadJSON("", b)
	return bad == nil && bytes.Equal(x.Root.JSON(), y.Root.JSON())
}
