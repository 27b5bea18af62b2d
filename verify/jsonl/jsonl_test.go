// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package jsonl_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/verify/jsonl"
)

func TestEach(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	text := `{"id":"a"}` + "\n\n \r\n" + `{"id":"` + long + `"}`
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"rows.jsonl": []byte(text), "rows.jsonl.gz": z.Bytes(),
		"bad.jsonl": []byte(text + "\n{"), "cut.jsonl.gz": z.Bytes()[:z.Len()-9],
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		err := jsonl.Each(path, func(row struct{ ID string }) error {
			got = append(got, row.ID)
			return nil
		})
		if damaged := strings.HasPrefix(name, "bad") || strings.HasPrefix(name, "cut"); damaged {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if d := cmp.Diff([]string{"a", long}, got); d != "" || err != nil || jsonl.Stem(path) != "rows" {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
	stop := errors.New("enough")
	if err := jsonl.Each(filepath.Join(dir, "rows.jsonl"),
		func(struct{}) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if err := jsonl.Lines(filepath.Join(dir, "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
