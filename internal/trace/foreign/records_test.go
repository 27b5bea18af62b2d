// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/mutate"
	"github.com/callvet/callvet/internal/trace"
)

// TestBadRecords leaves out and replaces members of a line of a trace of every form: nothing
// panics, an attempt is no abstention while its calls are in the file, and what was read can be
// written as lines and read again with the same outcome.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	count := mutate.Count(os.Getenv, 40)
	for _, file := range fixtures(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasPrefix(text, []byte("\x1f\x8b")) || filepath.Ext(file) == ".pb" {
				return // its spans are also there as JSON
			}
			// Each request of it repeats the calls before it, so that a lost call is still in the file.
			repeats := strings.Contains(file, "trace-per-request")
			lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
			if filepath.Ext(file) == ".json" {
				lines = [][]byte{text}
			}
			for i, line := range lines {
				for c := range mutate.Some(line, max(count/len(lines), 1), mutate.Huge(count), uint64(i)) {
					changed := slices.Clone(lines)
					changed[i] = c.Text
					all := bytes.Join(changed, []byte("\n"))
					as, _, err := importBytes(all, Options{})
					if err != nil {
						continue
					}
					reported := bytes.Contains(all, []byte("Oslo")) && bytes.Contains(all, []byte("12A"))
					// An id of a trace that changed makes two of one.
					if reported && !repeats && len(as) > 0 &&
						!slices.ContainsFunc(as,
							func(a trace.Attempt) bool { return a.Trace.Outcome != callvet.OutcomeAbstained }) {
						t.Errorf("line %d, %s: abstained", i+1, c.String())
					}
					for k := range as {
						comesBack(t, &as[k], c.String())
					}
				}
			}
		})
	}
}

// comesBack writes an attempt as lines and reads it again.
func comesBack(t *testing.T, a *trace.Attempt, what string) {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	if err := w.Attempt(a); err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(&b, trace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for back, err := range r.Attempts(trace.NewGrouper(0)) {
		if n++; err != nil {
			t.Errorf("%s: read again: %v", what, err)
			return
		}
		if back.Trace.Outcome != a.Trace.Outcome || len(back.Trace.Calls()) != len(a.Trace.Calls()) {
			t.Errorf("%s: %s with %d calls, and read again %s with %d", what, a.Trace.Outcome, len(a.Trace.Calls()),
				back.Trace.Outcome, len(back.Trace.Calls()))
		}
	}
	if n != 1 {
		t.Errorf("%s: %d attempts were read again", what, n)
	}
}
