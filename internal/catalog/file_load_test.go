// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// catalogfileMemory are files in memory; a name that ends in a slash is a folder.
type catalogfileMemory map[string]string

// Read implements Files.
func (m catalogfileMemory) Read(name string, _ int64) ([]byte, error) {
	if names, ok := m[name+"/"]; ok {
		return nil, &Folder{Name: name, Names: strings.Fields(names)}
	}
	if s, ok := m[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A catalogue may be in any form that tools are written in.
func TestLoad(t *testing.T) {
	t.Parallel()
	files := catalogfileMemory{
		"a.json":   "\ufeff" + `[{"name":"a","description":"x"}]`,
		"b.json":   "// tools\n" + `[{"name":"a","description":"x"},]`,
		"a.yaml":   "tools:\n- name: a\n  description: x\n",
		"a.jsonl":  "{\"name\":\"a\",\"description\":\"x\"}\n",
		"a.gz":     zipped(t, `[{"name":"a","description":"x"}]`),
		"bad.yaml": "tools:\n- name: a\n  description:\n    5\n- name: a\n",
		"bad.gz":   "\x1f\x8bx",
		"bad.csv":  "a,b",
	}
	for _, name := range []string{"a.json", "b.json", "a.yaml", "a.jsonl", "a.gz"} {
		c, problems, err := LoadFile(name, files)
		if err != nil || len(problems) > 0 || len(c.Entries) != 1 || c.Entries[0].Tool.Description != "x" {
			t.Errorf("%s: %+v %v %v", name, c, problems, err)
		}
	}
	for name, say := range map[string]string{
		"bad.yaml": "read catalogue: invalid: bad.yaml:4: tool a: description is 5, not text, and 1 mistake more",
		"bad.gz":   "read bad.gz: read gzip", "bad.csv": "bad.csv", "none": "file does not exist",
	} {
		if _, _, err := LoadFile(name, files); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of a folder the newest version of each tool is read, and a folder without tools is not
// there.
func TestFolder(t *testing.T) {
	t.Parallel()
	files := catalogfileMemory{
		"d/":          "d/a.v1.json d/a.v2.json d/b.json",
		"d/a.v1.json": `[{"name":"a","description":"old"}]`, "d/a.v2.json": `[{"name":"a","description":"new"}]`,
		"d/b.json": `[{"name":"b","description":"x"}]`, "none/": "",
	}
	c, _, err := LoadFile("d", files)
	if err != nil || len(c.Entries) != 2 || c.Entries[0].Tool.Description != "new" {
		t.Errorf("%+v %v", c, err)
	}
	if _, _, err := LoadFile("none", files); !errors.Is(err, callvet.ErrNotFound) {
		t.Error(err)
	}
}

// Plain JSON keeps every byte, with its mark aside; other forms report their form.
func TestPlain(t *testing.T) {
	t.Parallel()
	const list = `[{"name":"a"}]`
	for name, c := range map[string]struct{ text, form, mark string }{
		"json": {list, "", ""}, "marked": {"\ufeff" + list, "", "\ufeff"},
		"gzip": {zipped(t, list), FormCompressed, ""}, "yaml": {"- name: a\n", formYAML, ""},
		"comments": {"// x\n" + list, formLines, ""},
	} {
		got, err := PlainText("c", []byte(c.text))
		if err != nil || got.Form != c.form || string(got.Mark) != c.mark || c.form == "" && string(got.JSON) != list {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	if _, err := PlainText("c", []byte("[")); !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
	// What would mend a file that is compressed in another way is no other form of catalogue.
	_, _, err := LoadFile("c", catalogfileMemory{"c": "\x28\xb5\x2f\xfd"})
	var h *callvet.Hinted
	if !errors.As(err, &h) || !strings.Contains(h.Hint, "zstd") {
		t.Errorf("%v, try %+v", err, h)
	}
}
