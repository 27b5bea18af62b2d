// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGateTrueSuccess: a gate on true success passes behind a good judge and is
// inconclusive, in words, behind one that guesses, one of another version, and
// without a calibration.
func TestGateTrueSuccess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, n int, line func(i int) string) {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i) + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	label := func(says func(i int) bool) func(i int) string {
		return func(i int) string {
			return fmt.Sprintf(`{"task_id":"l%d","by":"ana","pass":%v,"stratum":"random","judged":[{"judge":"j","model":"one","pass":%v}]}`, i, i%2 == 0, says(i))
		}
	}
	write("good.labels", 400, label(func(i int) bool { return i%2 == 0 && i%100 != 0 || i%40 == 1 }))
	write("guess.labels", 400, label(func(i int) bool { return i/2%2 == 0 }))
	for _, model := range []string{"one", "two"} {
		write(model+".jsonl", 400, func(i int) string {
			return fmt.Sprintf(`{"type":"task","task_id":"t%d","judged":[{"judge":"j","model":"%s","pass":%v}]}`, i, model, i%20 != 0)
		})
	}
	write("gates.yaml", 1, func(int) string { return "- true_success >= 0.85" })
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		a := &app{
			in: strings.NewReader(""), out: &out, err: &out, dir: dir, getenv: func(string) string { return "" },
			now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		}
		return a.run(context.Background(), a.rootCommand(), args), out.String()
	}
	for _, name := range []string{"good", "guess"} {
		if code, text := run("calibrate", name+".labels", "--judge", "j", "-o", name+".json"); code != 0 {
			t.Fatal(code, text)
		}
	}
	for _, tc := range []struct {
		traces, calibration string
		code                int
		says                string
	}{
		{"one.jsonl", "good.json", 0, "passed: 1 of 1 check passed"},
		{"one.jsonl", "guess.json", 4, "the judge is no better than chance"},
		{"two.jsonl", "good.json", 4, "it was made for j@"},
		{"one.jsonl", "", 4, "it needs verdicts of a judge and a calibration of that judge"},
	} {
		args := []string{"gate", tc.traces, "--gates", "gates.yaml"}
		if tc.calibration != "" {
			args = append(args, "--calibration", tc.calibration)
		}
		if code, text := run(args...); code != tc.code || !strings.Contains(text, tc.says) {
			t.Errorf("%s with %q: exit %d, want %d and %q in\n%s", tc.traces, tc.calibration, code, tc.code, tc.says, text)
		}
	}
}
