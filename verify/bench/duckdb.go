// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed duckdb.mjs
var duckScript []byte

// duckVersion is the release of @duckdb/node-api that is measured.
const duckVersion = "1.5.6-r.1"

// installDuck installs DuckDB's package under cache, unless it is there, and returns the folder.
// The project itself does not contain it.
func installDuck(ctx context.Context, cache string) (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("%s is not installed", tool)
		}
	}
	dir, err := filepath.Abs(filepath.Join(cache, "duckdb-"+duckVersion))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@duckdb", "node-api")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(cache, "duckdb-part-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts",
		"--prefix", part, "@duckdb/node-api@"+duckVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm did not install @duckdb/node-api: %s", npmReason(string(out)))
	}
	return dir, os.Rename(part, dir)
}

// npmReason returns the first error of npm's output; the rest is about logs.
func npmReason(out string) string {
	for line := range strings.Lines(out) {
		if why, ok := strings.CutPrefix(line, "npm error "); ok {
			return strings.TrimSpace(why)
		}
	}
	return lastLine(out)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// duck is a process that keeps DuckDB open, so that its start is not measured.
type duck struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *json.Decoder
	errs bytes.Buffer
}

// duckAnswer is the time and the result of one query.
type duckAnswer struct {
	Version string  `json:"version"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"` // seconds
	RSS     float64 `json:"rss_mb"`
	Groups  []duckGroup
}

type duckGroup struct {
	Language, Family string
	Calls, Unneeded  int
}

// openDuck starts DuckDB over the file; one query has warmed it up.
func openDuck(ctx context.Context, modules, dir, file string, threads int) (*duck, error) {
	script := filepath.Join(dir, "duckdb.mjs")
	if err := os.WriteFile(script, duckScript, 0o600); err != nil {
		return nil, err
	}
	d := &duck{cmd: exec.CommandContext(ctx, "node", script, file, modules, strconv.Itoa(threads))}
	d.cmd.Stderr = &d.errs
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = json.NewDecoder(out)
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	if _, err := d.query(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *duck) query() (duckAnswer, error) {
	var a duckAnswer
	if _, err := io.WriteString(d.in, "query\n"); err != nil {
		return a, fmt.Errorf("ask DuckDB: %w", err)
	}
	if err := d.out.Decode(&a); err != nil {
		return a, fmt.Errorf("read DuckDB's answer: %w", err)
	}
	return a, nil
}

// close ends the process; the error contains its messages.
func (d *duck) close() error {
	_ = d.in.Close()
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("end DuckDB: %w: %s", err, lastLine(d.errs.String()))
	}
	return nil
}
