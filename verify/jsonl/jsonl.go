// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package jsonl answers one question: which rows does a file of JSON Lines have, gzipped or not? It is
// the only reader of the data sets of callvet-verify.
package jsonl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MaxLine is the longest line in bytes.
const MaxLine = 64 << 20

// Lines calls do for every line that is not blank; do may keep the bytes. A file named .gz is
// gzipped. Errors of reading name the file, and the first error of do ends it.
func Lines(path string, do func(line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read set: %w", err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			return fmt.Errorf("read set %s: %w", path, err)
		}
		r = z
	}
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), MaxLine)
	for s.Scan() {
		if line := bytes.TrimSpace(s.Bytes()); len(line) > 0 {
			if err := do(bytes.Clone(line)); err != nil {
				return err
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("read set %s: %w", path, err)
	}
	return nil
}

// Each calls do for the value of every line.
func Each[T any](path string, do func(T) error) error {
	n := 0
	return Lines(path, func(line []byte) error {
		n++
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("read set %s: row %d: %w", path, n, err)
		}
		return do(row)
	})
}

// Stem is the name of a file without its endings.
func Stem(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".jsonl")
}
