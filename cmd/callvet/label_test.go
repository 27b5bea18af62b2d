// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/labels"
)

// TestAskAll: on a terminal each answer is in the file before the next task is shown, and texts of
// a trace or a judge cannot mislead the user.
func TestAskAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "labels.jsonl")
	var out bytes.Buffer
	a := &cli{
		in: strings.NewReader("what\npass\nn wrong city\nf\ns\nq\n"), out: &out, err: &out, dir: dir,
		now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	said := true
	var todo []runs.Todo
	for _, id := range []string{"t1", "t2", "t3", "t4", "t5"} {
		l := labels.Label{
			Key: labels.Key{TaskID: id, Unit: labels.Task}, By: "ana", Role: labels.Calibrating, Stratum: labels.Random,
			Frame:  &labels.Frame{JudgePass: 5},
			Judged: []labels.Verdict{{Judge: labels.Judge{Name: "task-judge"}, Pass: &said}},
		}
		todo = append(todo, runs.Todo{
			Label: l,
			Shown: runs.ShownTask{Goal: "turned \u202e around\x1b[2J", Steps: []string{"a {}", "b {}"}},
		})
	}
	if err := a.askAll(todo, "labels.jsonl"); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		"[1 of 5] t1", "turned \\u202e around\\u001b[2J", "  a {}\n  b {}", "[4 of 5] t4",
		"2 labels written to labels.jsonl",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, not := range []string{"task-judge", "judge_pass", "[5 of 5]"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is in\n%s", not, text)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ls, problems, err := labels.Read(bytes.NewReader(b), path)
	if err != nil || problems != nil || len(ls) != 2 {
		t.Fatal(ls, problems, err)
	}
	if !*ls[0].Pass || *ls[1].Pass || ls[1].Note != "wrong city" || ls[1].TaskID != "t2" ||
		ls[1].Frame.JudgePass != 5 || len(ls[0].Judged) != 1 {
		t.Errorf("%s", b)
	}
}

// TestLabelNextOnATerminal: it asks the person; with a named file it writes that file and does not
// ask.
func TestLabelNextOnATerminal(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{"": "did it do what was asked?", "todo.jsonl": "", "-": `"pass":null`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "traces.jsonl"),
			[]byte(`{"type":"task","task_id":"t1","goal":"book it","pass":true}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var shown, stderr bytes.Buffer
		a := &cli{
			in: strings.NewReader("q\n"), out: &shown, err: &stderr, dir: dir,
			getenv: func(string) string { return "" }, now: time.Now,
		}
		req := runs.LabelNextRequest{
			Side: app.Side{Traces: "traces.jsonl"}, Labels: "labels.jsonl", N: 1,
			Strategy: "random", Role: "calibration",
		}
		if err := a.labelNext(t.Context(), req, out, true); err != nil {
			t.Fatal(err)
		}
		if text := shown.String(); !strings.Contains(text, want) || want == "" && text != "" {
			t.Errorf("-o %q: %q", out, text)
		}
		b, err := os.ReadFile(filepath.Join(dir, "todo.jsonl"))
		if wrote := err == nil && bytes.Contains(b, []byte(`"goal":"book it"`)); wrote != (out == "todo.jsonl") {
			t.Errorf("-o %q: the file: %q %v", out, b, err)
		}
	}
}
