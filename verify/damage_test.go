// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// write puts a tree below a new folder and returns the folder that checks read.
func (tr tree) write(t *testing.T) place {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "data", "sets"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range tr {
		path := filepath.Join(root, "data", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return place{
		data: filepath.Join(root, "data"), part: part, vectors: filepath.Join(root, "vectors"),
		examples: filepath.Join("..", "examples"), splits: 1,
	}
}

// verdict runs a check to its last line.
func verdict(t *testing.T, name string, p place) (bool, string) {
	t.Helper()
	run, ok := find(append([]string{name}, p.args...))
	if !ok {
		t.Fatalf("there is no check %s", name)
	}
	var out bytes.Buffer
	agree, err := verify(t.Context(), &out, run, p)
	if err != nil {
		t.Fatal(err)
	}
	return agree, out.String()
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

// figure is the form of the last line of every check.
var figure = regexp.MustCompile(`^[a-z0-9-]+: (\d+) of (\d+) compared agree(, \d+ [a-z ]+)*$`)

// TestWhole: a check of agreeing data passes, with any name of the part.
func TestWhole(t *testing.T) {
	t.Parallel()
	for name, build := range trees() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, out := verdict(t, name, build(t).write(t))
			m := figure.FindStringSubmatch(lastLine(out))
			if !ok || m == nil || m[1] != m[2] || m[1] == "0" {
				t.Errorf("%v\n%s", ok, out)
			}
		})
	}
}

// TestUnracedDamaged: every file of the data, and every row, is needed. A check of data without a
// file, without its last row, with a file cut off or empty, fails and prints how many agree.
func TestUnracedDamaged(t *testing.T) {
	t.Parallel()
	for name, build := range trees() {
		whole := build(t)
		for _, file := range slices.Sorted(maps.Keys(whole)) {
			for kind, content := range damages(file, whole[file]) {
				t.Run(name+"/"+kind+"/"+file, func(t *testing.T) {
					t.Parallel()
					tr := maps.Clone(whole)
					if tr[file] = content; kind == "gone" {
						delete(tr, file)
					}
					if ok, out := verdict(t, name, tr.write(t)); ok || !figure.MatchString(lastLine(out)) {
						t.Errorf("%v\n%s", ok, out)
					}
				})
			}
		}
	}
}

// damages returns damaged versions of a file, by the kind of damage.
func damages(file, content string) map[string]string {
	out := map[string]string{"gone": "", "empty": "", "cut off": content[:len(content)/2]}
	if lines := strings.SplitAfter(content, "\n"); strings.HasSuffix(file, ".jsonl") && len(lines) > 2 {
		out["without the last row"] = strings.Join(lines[:len(lines)-2], "")
		if !strings.Contains(file, "/cases/") { // cases are looked up by their id
			out["a row twice"] = content + lines[0]
		}
		out["a row twice in place of another"] = strings.Join(lines[:len(lines)-2], "") + lines[0]
	}
	return out
}

// TestUnracedAnotherFigure: every published figure without a reason to leave it out is compared: a
// changed number fails.
func TestUnracedAnotherFigure(t *testing.T) {
	t.Parallel()
	for name, build := range trees() {
		whole := build(t)
		for _, file := range slices.Sorted(maps.Keys(whole)) {
			if !strings.HasSuffix(file, ".json") || strings.HasPrefix(file, "origins") ||
				strings.HasSuffix(file, "/bank.json") || strings.HasSuffix(file, "/p_v1.json") ||
				strings.HasPrefix(file, "..") {
				continue
			}
			own := file
			if strings.HasPrefix(filepath.Base(file), "EXPECTED_") {
				continue // changed together with the set's own file, below
			}
			for at, changed := range otherNumbers(whole[file]) {
				if name == "bfcl" && strings.Contains(at, "multi_turn") {
					continue // compared by bfcl-multiturn
				}
				t.Run(name+"/"+own+"/"+at, func(t *testing.T) {
					t.Parallel()
					tr := maps.Clone(whole)
					tr[own] = changed
					key := strings.TrimPrefix(own, "sets/")
					const index = "sets/EXPECTED_" + part + ".json"
					var entries map[string]json.RawMessage
					// a change of only one would differ from the index
					if json.Unmarshal([]byte(tr[index]), &entries) == nil && entries[key] != nil {
						entries[key] = json.RawMessage(changed)
						b, err := json.Marshal(entries)
						if err != nil {
							t.Fatal(err)
						}
						tr[index] = string(b)
					}
					if ok, out := verdict(t, name, tr.write(t)); ok {
						t.Errorf("another figure is taken\n%s", out)
					}
				})
			}
		}
	}
}

// leftOut are figures that checks list as not compared: settings, other parts, means over unrecorded
// data, leaderboards.
var leftOut = regexp.MustCompile(`^(config|bm25|all)\b|autumn|other\||mrr|map|exec:|ast_summary|leaderboard`)

// otherNumbers returns versions of the document with one changed number, by the path of the number.
func otherNumbers(doc string) map[string]string {
	out := map[string]string{}
	var root any
	if json.Unmarshal([]byte(doc), &root) != nil {
		return out
	}
	var walk func(v any, path string, set func(any))
	walk = func(v any, path string, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for k, m := range v {
				walk(m, path+k+" ", func(x any) { v[k] = x })
			}
		case []any:
			for i, m := range v {
				walk(m, path+string(rune('0'+i))+" ", func(x any) { v[i] = x })
			}
		case float64:
			if leftOut.MatchString(path) {
				return
			}
			changed := v + 1
			if v != float64(int(v)) {
				changed = v * 1.1
			}
			set(changed)
			if b, err := json.Marshal(root); err == nil {
				out[strings.TrimSpace(path)] = string(b)
			}
			set(v)
		}
	}
	walk(root, "", func(any) {})
	return out
}

// TestNoData: without data nothing was verified, and no check passes.
func TestNoData(t *testing.T) {
	t.Parallel()
	for _, c := range checks() {
		if c.needs != "" || c.simulates {
			continue // they need no data
		}
		p := place{
			data: filepath.Join(t.TempDir(), "data"), vectors: filepath.Join(t.TempDir(), "vectors"),
			examples: filepath.Join("..", "examples"), splits: 1,
		}
		if c.name == "labelled-set" { // its data are an example
			p.examples = t.TempDir()
		}
		if ok, out := verdict(t, c.name, p); ok ||
			lastLine(out) != c.name+": 0 of 0 compared agree, 2 failed otherwise" {
			t.Errorf("%s: %v\n%s", c.name, ok, out)
		}
	}
}
