// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package versions compares two versions of callvet byte by byte: the output, the exit code and the files of each
// command, over suites, traces and catalogues.
package versions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/verify/proof"
)

// Config names the versions and the inputs.
type Config struct {
	// Module is the checkout with the newer version, Reference the commit of the older one.
	Module, Reference string
	// Examples is a folder with suites, Data are folders with files of any form.
	Examples string
	Data     []string
	// Wanted is a file with the intended differences: one regular expression per line, for
	// "WALK: COMMAND LINE" or "WALK: FILE". Lines that begin with # are comments; "": none.
	Wanted string
}

// Least is the smallest number of comparisons that make a verdict.
const Least = 3000

// patience is the time limit of one command.
const patience = 2 * time.Minute

// Verify builds both versions and compares them.
func Verify(ctx context.Context, c *proof.Check, cfg Config) (err error) {
	wanted, err := readWanted(cfg.Wanted)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "same")
	if err != nil {
		return fmt.Errorf("verify same: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		return fmt.Errorf("verify same: %w", err)
	}
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	if err := checkout(ctx, cfg.Module, cfg.Reference, tree); err != nil {
		return fmt.Errorf("verify same: %w", err)
	}
	if err := errors.Join(build(ctx, tree, before), build(ctx, cfg.Module, after)); err != nil {
		return fmt.Errorf("verify same: %w", err)
	}
	all, err := walks(cfg.Examples, cfg.Data)
	if err != nil {
		return fmt.Errorf("verify same: %w", err)
	}
	results := make([][2]map[string][]byte, len(all))
	err = sys.InParallel(runtime.GOMAXPROCS(0), len(all), func(i int) error {
		for side, binary := range []string{before, after} {
			// both versions run in a folder of the same name: paths are part of the output
			did, err := all[i].do(ctx, binary, filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				return err
			}
			results[i][side] = did
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("verify same: %w", err)
	}
	due, codes := 0, map[string]int{}
	for i := range all {
		due += expected(&all[i], results[i][0], wanted)
		compare(c, &all[i], results[i][0], results[i][1], wanted)
		for name, text := range results[i][1] {
			if code, _, _ := strings.Cut(string(text), "\n"); !strings.HasPrefix(name, "file ") {
				codes[code]++
			}
		}
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		c.Printf("%d commands with %s\n", codes[code], code)
	}
	c.Due("outputs and files", max(due, Least), "the reference, and fewer are no proof")
	return nil
}

// expected is the number of compared outputs and files of the reference.
func expected(w *walk, before map[string][]byte, wanted []*regexp.Regexp) int {
	n := 0
	for name := range before {
		if !isWanted(w, name, wanted) {
			n++
		}
	}
	return n
}

// isWanted reports whether a difference in an output or file is on the reviewed list.
func isWanted(w *walk, name string, wanted []*regexp.Regexp) bool {
	return slices.ContainsFunc(wanted, func(r *regexp.Regexp) bool { return r.MatchString(w.name + ": " + name) })
}

// compare compares the outputs and files of two versions in a walk.
func compare(c *proof.Check, w *walk, before, after map[string][]byte, wanted []*regexp.Regexp) {
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, has := before[name]; !has {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if isWanted(w, name, wanted) {
			continue
		}
		was, had := before[name]
		is, has := after[name]
		c.Compare("outputs and files", w.name+": "+name, had == has && bytes.Equal(was, is), "%s", firstLine(was, is))
	}
}

// firstLine returns the first line that differs in two texts.
func firstLine(before, after []byte) string {
	a, b := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			from := max(0, at-40)
			cut := func(s string) string { return s[min(from, len(s)):min(at+80, len(s))] }
			return fmt.Sprintf("line %d: before %q, after %q", i+1, cut(x), cut(y))
		}
	}
	return "no line differs"
}

// do runs the command lines of a walk in a new folder, and returns the output and the exit code of each, and the files
// at the end. The folder is removed.
func (w *walk) do(ctx context.Context, binary, dir string) (did map[string][]byte, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	did = map[string][]byte{}
	for i, line := range w.lines {
		args := strings.Fields(line)
		for k := range args {
			args[k] = strings.ReplaceAll(args[k], "{}", w.input)
		}
		each, cancel := context.WithTimeout(ctx, patience)
		cmd := exec.CommandContext(each, binary, args...)
		cmd.Dir = dir
		cmd.Env = []string{
			"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TZ=UTC", "LANG=C.UTF-8", "COLUMNS=120", "GOMAXPROCS=1",
			"USER=tester",
			"CALLVET_DB=runs.db", "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir,
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		cancel()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return nil, fmt.Errorf("run %s: %w", line, err)
		}
		did[fmt.Sprintf("%02d %s", i, line)] = masked(fmt.Appendf(nil, "exit %d\n%s--- errors\n%s",
			cmd.ProcessState.ExitCode(), out.Bytes(), errs.Bytes()))
	}
	return did, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "runs.db") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		did["file "+name] = masked(text)
		return err
	})
}

// masks match texts that differ between two runs of one version.
var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`"(wall_ms|latency_ms|ttft_ms|cpu_ms|ms|seconds)":\s*[0-9.e+-]+`), `"$1": 0`},
	{regexp.MustCompile(`[0-9]+(\.[0-9]+)?( ?ms|µs)\b`), "0 ms"},
}

func masked(text []byte) []byte {
	for _, m := range masks {
		text = m.what.ReplaceAll(text, []byte(m.with))
	}
	return text
}

// readWanted reads the intended differences.
func readWanted(file string) ([]*regexp.Regexp, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read wanted differences: %w", err)
	}
	var all []*regexp.Regexp
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("read wanted differences: %s:%d: %w", file, i+1, err)
		}
		all = append(all, r)
	}
	return all, nil
}
