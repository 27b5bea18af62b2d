// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/callvet/callvet/verify/proof"
)

const resumeCells = 5000

// resume starts a run of 5,000 cells, kills it without warning several times, resumes it each time and
// counts the cells of the finished run.
func resume(ctx context.Context, c *proof.Check, binary string) error {
	c.Due("cells", resumeCells, "the suite that was made")
	bin, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "callvet-resume-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	suite, script, err := resumeFiles(dir)
	if err != nil {
		return err
	}
	db := filepath.Join(dir, "runs.db")
	args := []string{"run", suite, "-m", "script:" + script, "--db", db, "-c", "32", "--name", "resumed"}
	for kill := 1; kill <= 3; kill++ {
		if err := killMidway(ctx, bin, args, db); err != nil {
			return err
		}
		n, err := storedCells(ctx, bin, db, dir)
		if err != nil {
			return err
		}
		total := 0
		for _, k := range n {
			total += k
		}
		c.Printf("kill -9 number %d: %d of %d cells durable\n", kill, total, resumeCells)
		args = []string{"run", suite, "-m", "script:" + script, "--db", db, "-c", "32", "--resume", "resumed"}
	}
	if b, err := exec.CommandContext(ctx, bin, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("resume: %w\n%s", err, b)
	}
	counts, err := storedCells(ctx, bin, db, dir)
	if err != nil {
		return err
	}
	for cell, n := range counts {
		c.Compare("cells", cell, n == 1, "it is stored %d times", n)
	}
	return nil
}

func resumeFiles(dir string) (suite, script string, err error) {
	cases := make([]any, resumeCells)
	for i := range cases {
		cases[i] = map[string]any{
			"id": fmt.Sprintf("c%04d", i), "prompt": fmt.Sprintf("Look up item %d.", i),
			"expected_tool": "look_up", "expected_params": map[string]any{"item": i},
		}
	}
	doc := map[string]any{"callvet": 1, "name": "resume", "cases": cases, "tools": []any{map[string]any{
		"name": "look_up", "description": "Look up an item.",
		"parameters": map[string]any{
			"type": "object", "required": []string{"item"},
			"properties": map[string]any{"item": map[string]any{"type": "integer"}},
		},
	}}}
	b, err := json.Marshal(doc)
	if err != nil {
		return "", "", err
	}
	suite, script = filepath.Join(dir, "suite.json"), filepath.Join(dir, "script.yaml")
	if err := os.WriteFile(suite, b, 0o600); err != nil {
		return "", "", err
	}
	return suite, script, os.WriteFile(script, []byte(resumeScript), 0o600)
}

// killMidway runs callvet and kills it a while after the first commits.
func killMidway(ctx context.Context, bin string, args []string, db string) error {
	cmd := exec.CommandContext(ctx, bin, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	// The write-ahead log grows with every commit; its size shows how far the run is without
	// touching the database from outside.
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	start, grown := fileSize(db+"-wal")+fileSize(db), time.Duration(0)
	begun := false // the suite is stored before the run
	began := time.Now()
	for {
		select {
		case err := <-done:
			return fmt.Errorf("the run ended before it could be killed: %w\n%s", err, errs.String())
		case <-tick.C:
			if !begun {
				if begun = hasRun(ctx, bin, db); begun {
					start, began = fileSize(db+"-wal")+fileSize(db), time.Now()
				}
				continue
			}
			if grown == 0 && fileSize(db+"-wal")+fileSize(db) > start+64<<10 {
				grown = time.Since(began)
			}
			if grown != 0 && time.Since(began) > grown+300*time.Millisecond {
				if err := cmd.Process.Kill(); err != nil {
					return err
				}
				if err := <-done; err == nil {
					return errors.New("the run ended before it could be killed")
				}
				return nil
			}
		}
	}
}

// hasRun reports whether the store lists a run.
func hasRun(ctx context.Context, bin, db string) bool {
	b, err := exec.CommandContext(ctx, bin, "runs", "--db", db, "--json").Output()
	return err == nil && bytes.Contains(b, []byte(`"name":"resumed"`))
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// storedCells counts the rows of each cell in the run, in the JSONL output.
func storedCells(ctx context.Context, bin, db, dir string) (map[string]int, error) {
	path := filepath.Join(dir, "cells.jsonl")
	if b, err := exec.CommandContext(ctx, bin, "report", "resumed", "--db", db, "-o",
		path).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("export cells: %w\n%s", err, b)
	}
	counts := map[string]int{}
	err := attemptsOf(path, func(id, _, _ string) { counts[id]++ })
	return counts, err
}

// resumeScript answers rightly after a delay, so that a run is long enough to be killed in the middle.
const resumeScript = `rules:
  - case: "*"
    calls: [{tool: look_up, args: {item: 1}}]
    delay_ms: 8
`
