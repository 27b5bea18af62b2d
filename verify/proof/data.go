// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// DefaultPart is the part of the data that is read when none is named.
const DefaultPart = "open"

// Data is a folder of test data and the part of every set that is read.
type Data struct {
	Root string // has the folders sets and origins
	Part string
}

// Open returns the data of a folder. A folder without sets is an error: nothing could be verified.
func Open(root, part string) (Data, error) {
	if part == "" {
		part = DefaultPart
	}
	if part != filepath.Base(part) || part == "." || part == ".." {
		return Data{}, fmt.Errorf("open test data: %w: the part %q is no name of a folder; set CALLVET_PART to one",
			callvet.ErrInvalid, part)
	}
	if _, err := os.Stat(filepath.Join(root, "sets")); err != nil {
		return Data{}, fmt.Errorf(
			"open test data: %w: there is no folder sets in %s; set CALLVET_TESTDATA to the folder that has it",
			callvet.ErrNotFound, root)
	}
	return Data{Root: root, Part: part}, nil
}

// Set is the folder of a set.
func (d Data) Set(set string) string { return filepath.Join(d.Root, "sets", set) }

// In is a path within the part of a set.
func (d Data) In(set string, elem ...string) string {
	return filepath.Join(append([]string{d.Set(set), d.Part}, elem...)...)
}

// Files lists the files of the part of a set that match a pattern, sorted. No file is an error.
func (d Data) Files(set, pattern string) ([]string, error) {
	return found(d.In(set, pattern))
}

// Anywhere lists the files that match a pattern in the part of a set, or without any in its other
// parts. Data for learning and single files are in one part only.
func (d Data) Anywhere(set, pattern string) ([]string, error) {
	if files, err := d.Files(set, pattern); err == nil {
		return files, nil
	}
	return found(filepath.Join(d.Set(set), "*", pattern))
}

func found(pattern string) ([]string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", pattern, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("list %s: %w: no such file", pattern, callvet.ErrNotFound)
	}
	slices.Sort(files)
	return files, nil
}

// Rows finds the file of rows with a name, gzipped or not. No file is an error.
func Rows(stem string) (string, error) {
	for _, ending := range []string{".jsonl.gz", ".jsonl"} {
		if _, err := os.Stat(stem + ending); err == nil {
			return stem + ending, nil
		}
	}
	return "", fmt.Errorf("find rows: %w: neither %s.jsonl.gz nor %s.jsonl", callvet.ErrNotFound, stem,
		filepath.Base(stem))
}

// Published reads the official figures of a set from the index of the part,
// EXPECTED_<part>.json. It is an error if the set's own file of figures is missing
// or differs.
func (d Data) Published(set string) (*Figures, error) {
	index := filepath.Join(d.Root, "sets", "EXPECTED_"+d.Part+".json")
	b, err := os.ReadFile(index)
	if err != nil {
		return nil, fmt.Errorf("read published figures: %w", err)
	}
	var files map[string]json.RawMessage
	if err := json.Unmarshal(b, &files); err != nil {
		return nil, fmt.Errorf("read published figures %s: %w", index, err)
	}
	for key, figures := range files {
		if !strings.HasPrefix(key, set+"/"+d.Part+"/") {
			continue
		}
		own, err := os.ReadFile(filepath.Join(d.Root, "sets", filepath.FromSlash(key)))
		if err != nil {
			return nil, fmt.Errorf("read published figures: %w", err)
		}
		if same, err := SameJSON(figures, own); err != nil || !same {
			return nil, fmt.Errorf("read published figures: %w: %s has other figures than %s", callvet.ErrInvalid, key,
				filepath.Base(index))
		}
		return ParseFigures(filepath.Base(index), figures)
	}
	return nil, fmt.Errorf("read published figures: %w: %s names no file of %s", callvet.ErrNotFound,
		filepath.Base(index), set)
}

// SameJSON reports whether two documents have the same values, however they are written.
func SameJSON(a, b []byte) (bool, error) {
	read := func(doc []byte) (v any, err error) {
		dec := json.NewDecoder(bytes.NewReader(doc))
		dec.UseNumber()
		err = dec.Decode(&v)
		return v, err
	}
	x, err := read(a)
	if err != nil {
		return false, err
	}
	y, err := read(b)
	return reflect.DeepEqual(x, y), err
}

// ReadFigures reads figures from a file of JSON.
func ReadFigures(path string) (*Figures, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	return ParseFigures(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), b)
}
