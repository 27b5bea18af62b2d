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
