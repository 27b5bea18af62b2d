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
	"testing/synctest"
	"time"

	"github.com/callvet/callvet/internal/app/traces"
)

// TestFollow lets a file grow under the command and reads along what it writes.
func TestFollow(t *testing.T) {
	t.Parallel()
	chat := func(say string) string {
		return `{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"` + say + `"}]}` + "\n"
	}
	step := func(task, call string) string {
		return `{"task_id":"` + task + `","call_id":"` + call + `","tool":"` + call + `","args":{}}` + "\n"
	}
	closed := func(task string) string {
		return `{"type":"task","version":1,"task_id":"` + task + `","steps":1}` + "\n"
	}
	for name, tc := range map[string]struct {
		to   string
		grow [3]string // what is appended, and the words known after each; ">" rotates the file first
		want [3]string
		last string // what the interrupt adds
	}{
		"conversations": {
			"callvet",
			[3]string{"", chat("one")[:30], chat("one")[30:] + chat("two")},
			[3]string{"", "", "one two"},
			"one two",
		},
		"trace lines": {
			"otlp",
			[3]string{step("a", "one") + closed("a"), step("b", "two"), step("c", "three")[:20]},
			[3]string{"one", "one", "one"},
			"one two",
		},
		"rotated": {
			"callvet",
			[3]string{chat("one"), ">" + chat("two"), ">" + chat("three")},
			[3]string{"one", "one two", "one two three"},
			"one two three",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "out.jsonl")
			file, err := os.Create(in)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			words := func() string {
				b, _ := os.ReadFile(out) // there is none before the first line is read
				var seen []string
				for _, w := range []string{"one", "two", "three"} {
					if bytes.Contains(b, []byte(w)) {
						seen = append(seen, w)
					}
				}
				return strings.Join(seen, " ")
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				a, done := &cli{dir: dir, err: &bytes.Buffer{}}, make(chan error)
				req := traces.ImportRequest{Traces: in, To: tc.to, Follow: true}
				go func() { done <- a.importTraces(ctx, req, out) }()
				for i, more := range tc.grow {
					if rest, rotates := strings.CutPrefix(more, ">"); rotates {
						if more, err = rest, os.Rename(in, fmt.Sprint(in, ".", i)); err != nil {
							t.Fatal(err)
						}
						old := file
						defer old.Close()
						if file, err = os.Create(in); err != nil {
							t.Fatal(err)
						}
					}
					if _, err := file.WriteString(more); err != nil {
						t.Fatal(err)
					}
					time.Sleep(3 * traces.FollowEvery)
					synctest.Wait()
					if got := words(); got != tc.want[i] {
						t.Errorf("after part %d the output has %q, want %q", i, got, tc.want[i])
					}
				}
				interrupt()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if got := words(); got != tc.last {
					t.Errorf("after the interrupt the output has %q, want %q", got, tc.last)
				}
			})
		})
	}
}
