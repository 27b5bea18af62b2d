// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"

	"github.com/spf13/cobra"
)

// TestUnknownCommands types words that are no commands: each must end with exit code 2 and a hint
// with existing commands and flags.
func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	words := strings.Fields(
		`judges import export history staleness eval test compare baseline validate server single invalidate-cache
		cache sweep cancel resume delete sample metrics models experiment timeline`)
	for _, word := range words {
		lines := [][]string{{word}, {word, "x"}, {"--json", word}, {"help", word}}
		for _, args := range lines {
			a, _, errs := plainApp()
			if code := a.run(t.Context(), a.rootCommand(), args); code != exitUsage ||
				!strings.Contains(errs.String(), `there is no command "`+word+`"`) {
				t.Errorf("%v ends with %d and says %q", args, code, errs)
			}
		}
		hint := calledHere(word)
		if hint == "" {
			t.Errorf("%s has no hint", word)
		}
		a, _, _ := plainApp()
		root := a.rootCommand()
		for _, line := range regexp.MustCompile(`callvet((?: [^ ,;]+)+)`).FindAllStringSubmatch(hint, -1) {
			c, rest, err := root.Find(strings.Fields(line[1]))
			if err != nil || !c.Runnable() {
				t.Errorf("%s: the hint %q names no command: %v", word, line[0], err)
				continue
			}
			for _, arg := range rest {
				if name, ok := strings.CutPrefix(arg, "--"); ok && c.Flag(name) == nil {
					t.Errorf("%s: callvet %s has no flag %s", word, c.Name(), arg)
				}
			}
		}
	}
}

// TestUnknownSubcommands walks all commands that hold others.
func TestUnknownSubcommands(t *testing.T) {
	t.Parallel()
	a, _, _ := plainApp()
	var paths [][]string
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		// select has a suite as the first argument, and presets lists what the store has
		if c.HasSubCommands() && c.Name() != "select" && c.Name() != "presets" {
			paths = append(paths, path)
		}
		for _, s := range c.Commands() {
			walk(s, append(append([]string{}, path...), s.Name()))
		}
	}
	walk(a.rootCommand(), nil)
	if len(paths) < 5 {
		t.Fatalf("only %d commands hold others: %v", len(paths), paths)
	}
	for _, p := range paths {
		a, _, errs := plainApp()
		args := append(append([]string{}, p...), "nosuchword")
		if code := a.run(t.Context(), a.rootCommand(), args); code != exitUsage ||
			!strings.Contains(errs.String(), "nosuchword") {
			t.Errorf("%v ends with %d and says %q", args, code, errs)
		}
		a, out, _ := plainApp()
		if code := a.run(t.Context(), a.rootCommand(), p); code != exitOK || out.Len() == 0 {
			t.Errorf("%v alone ends with %d and says %q", p, code, out)
		}
	}
}

// plainApp is a process without an environment, with its two streams.
func plainApp() (a *cli, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &cli{
		out: out, err: errs, now: time.Now, process: sys.UnwatchedProcess(out, errs),
		getenv: func(string) string { return "" },
	}, out, errs
}

// TestArgumentsAreNamed: too many or too few arguments end with exit code 2, and with what the
// command takes.
func TestArgumentsAreNamed(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"diff a b c":       "try: callvet diff BASELINE [CANDIDATE]",
		"show":             "try: callvet show RUN [CASE]",
		"gates init a b":   "try: callvet gates init [FILE]",
		"trace check a b":  "try: callvet trace check FILE",
		"lint":             "try: callvet lint SUITE…",
		"select sweep a b": "try: callvet select sweep SUITE",
	} {
		a, _, errs := plainApp()
		if code := a.run(t.Context(), a.rootCommand(), strings.Fields(line)); code != exitUsage ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s ends with %d and says %q, want %q", line, code, errs, want)
		}
	}
}
