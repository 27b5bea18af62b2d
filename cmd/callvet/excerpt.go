// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/redact"
	"github.com/callvet/callvet/panel"
)

// excerptSpan is how many lines after its first one a task's lines are looked for.
const excerptSpan = 2000

// excerpt is the text of one example while it is gathered.
type excerpt struct {
	task, target string
	attempt      int
	from         int64
	text         strings.Builder
}

// excerpts reads the lines of the examples again, redacted, by file and line.
func excerpts(open func(name string) (io.ReadCloser, error), list []panel.Example) (map[panel.Example]string, error) {
	red, err := redact.New(redact.Config{})
	if err != nil {
		return nil, err
	}
	out := map[panel.Example]string{}
	files := map[string][]panel.Example{}
	for _, e := range list {
		if e.Line > 0 && e.File != "" {
			files[e.File] = append(files[e.File], e)
		}
	}
	for name, examples := range files {
		f, err := open(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		texts, err := fileExcerpts(f, examples, red)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("read examples again: %w", err)
		}
		for i, e := range examples {
			out[e] = texts[i]
		}
	}
	return out, nil
}

// fileExcerpts skips the blocks in which no example is.
func fileExcerpts(r io.Reader, list []panel.Example, red *redact.Redactor) ([]string, error) {
	wanted, last := make([]excerpt, len(list)), int64(0)
	for i, e := range list {
		wanted[i].task, wanted[i].target, wanted[i].attempt, wanted[i].from = e.Task, e.Target, e.Attempt, e.Line
		last = max(last, e.Line+excerptSpan)
	}
	blocks, err := trace.NewBlocks(r, trace.Options{})
	if err != nil {
		return nil, err
	}
	scan := trace.NewScanner(trace.Options{})
	var buf []byte
	for {
		b, err := blocks.Next(buf)
		if errors.Is(err, io.EOF) || err == nil && b.Line > last {
			break
		}
		if err != nil {
			return nil, err
		}
		buf = b.Data
		end := b.Line + int64(bytes.Count(b.Data, []byte{'\n'}))
		if !touches(wanted, b.Line, end) {
			continue
		}
		err = scan.Scan(b, func(v *trace.View) error {
			for i := range wanted {
				wanted[i].take(v, red)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([]string, len(wanted))
	for i := range wanted {
		out[i] = wanted[i].text.String()
	}
	return out, nil
}

func touches(wanted []excerpt, from, to int64) bool {
	for i := range wanted {
		if wanted[i].from <= to && from <= wanted[i].from+excerptSpan {
			return true
		}
	}
	return false
}

// maxExcerpt bounds the text of one example in bytes.
const maxExcerpt = 8000

func (e *excerpt) take(v *trace.View, red *redact.Redactor) {
	if v.Line < e.from || v.Line > e.from+excerptSpan || e.text.Len() > maxExcerpt ||
		string(v.TaskID) != e.task || v.Attempt != e.attempt || e.target != "" && string(v.Target) != e.target {
		return
	}
	if v.IsTask {
		t, err := v.Task()
		if err != nil {
			return
		}
		if t.Goal != "" {
			fmt.Fprintf(&e.text, "goal: %s\n", red.Text(t.Goal))
		}
		if t.Answer != nil {
			fmt.Fprintf(&e.text, "answer: %s\n", red.Text(*t.Answer))
		}
		if t.Pass != nil {
			fmt.Fprintf(&e.text, "passed: %v\n", *t.Pass)
		}
		return
	}
	s := v.Step()
	args := red.Text(s.ArgsRaw)
	if s.Args != nil {
		args = string(red.JSON(s.Args))
	}
	fmt.Fprintf(&e.text, "%s(%s)", trace.JoinTool(s.Tool, s.ToolVersion), args)
	if s.Status != "" {
		fmt.Fprintf(&e.text, "  %s", s.Status)
	}
	if s.ExecMS != nil {
		fmt.Fprintf(&e.text, "  %g ms", *s.ExecMS)
	}
	if s.Result != nil {
		fmt.Fprintf(&e.text, "\n  → %s", red.JSON(s.Result))
	}
	if s.Error != nil {
		fmt.Fprintf(&e.text, "\n  ! %s", red.JSON(s.Error))
	}
	if g := s.Gold; g != nil {
		e.gold(g, red)
	}
	e.text.WriteString("\n")
}

func (e *excerpt) gold(g *trace.Gold, red *redact.Redactor) {
	var parts []string
	switch {
	case g.Needed != nil && !*g.Needed:
		parts = append(parts, "not needed")
	case g.Tool != "":
		parts = append(parts, red.Text(g.Tool))
	}
	if g.Args != nil {
		parts = append(parts, string(red.JSON(g.Args)))
	}
	if g.ResultCheck != "" {
		parts = append(parts, red.Text(g.ResultCheck))
	}
	if len(parts) > 0 {
		fmt.Fprintf(&e.text, "\n  expected: %s", strings.Join(parts, " "))
	}
}
