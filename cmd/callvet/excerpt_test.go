// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/redact"
	"github.com/callvet/callvet/panel"
)

// TestExcerptsByMarks: reading from mark to mark shows what reading all does, also
// where a task goes on behind a mark.
func TestExcerptsByMarks(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	var list []panel.Example
	for i := range 20_000 {
		fmt.Fprintf(&file, `{"task_id":"t%d","call_id":"c%d","tool":"f","args":{"n":%d}}`+"\n", i/3, i, i)
		if i%6000 == 3 {
			list = append(list, panel.Example{Task: fmt.Sprint("t", i/3), Line: int64(i + 1)})
		}
	}
	blocks, err := trace.NewBlocks(bytes.NewReader(file.Bytes()), trace.Options{Block: 8 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var marks []measure.Mark
	for {
		b, err := blocks.Next(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, measure.Mark{Line: b.Line, Offset: b.Offset})
	}
	red, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := fileExcerpts(io.NopCloser(bytes.NewReader(file.Bytes())), list, nil, red)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fileExcerpts(bytes.NewReader(file.Bytes()), list, marks, red)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(marks) < 50 {
		t.Error(len(marks), diff)
	}
	for i, text := range got {
		if n := bytes.Count([]byte(text), []byte("\n")); n != 3 {
			t.Errorf("example %d has %d lines: %s", i, n, text)
		}
	}
}

// TestExcerptsOfChangedFiles: a file that is another one by now is no reason to fail.
func TestExcerptsOfChangedFiles(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	var marks []measure.Mark
	for i := range 5000 {
		if i%50 == 0 {
			marks = append(marks, measure.Mark{Line: int64(i + 1), Offset: int64(file.Len())})
		}
		fmt.Fprintf(&file, `{"task_id":"t%d","tool":"f","args":{"n":%d}}`+"\n", i, i)
	}
	red, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	list := []panel.Example{{Task: "t10", Line: 11}, {Task: "t4990", Line: 4991}}
	all := file.Bytes()
	for _, c := range []struct {
		text []byte
		want [2]bool
	}{
		{all, [2]bool{true, true}},
		{append(bytes.Clone(all), all...), [2]bool{true, true}},
		{all[:len(all)/2], [2]bool{true, false}},
		{all[:7], [2]bool{}},
		{nil, [2]bool{}},
		{bytes.Repeat([]byte("{\"\xff"), len(all)/3), [2]bool{}},
	} {
		got, err := fileExcerpts(bytes.NewReader(c.text), list, marks, red)
		if err != nil || (got[0] != "") != c.want[0] || (got[1] != "") != c.want[1] {
			t.Errorf("%d bytes: %q (%v), want %v", len(c.text), got, err, c.want)
		}
	}
}
