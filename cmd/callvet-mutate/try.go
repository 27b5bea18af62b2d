// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/callvet/callvet/internal/parallel"
)

// A change can make a loop endless. memory is what one test process may have, in kilobytes,
// patience how long it may take, and slack what it may compute, beside ten times what the
// tests took without a change. Computing is limited apart, since the machine may be busy.
const (
	memory   = 8 << 20
	patience = time.Minute
	slack    = 3 * time.Second
)

// try finds the tests that reach each mutant and runs them, the fast ones first.
func (b *binary) try(ctx context.Context, jobs int) error {
	took := map[test]time.Duration{}
	for i := range b.suites {
		if err := b.reach(ctx, i, took); err != nil {
			return err
		}
	}
	return parallel.Each(jobs, len(b.mutants), func(i int) error {
		killed, err := b.kill(ctx, i, took)
		b.mutants[i].killed = killed
		return err
	})
}

// reach runs every test of a suite alone without a mutant, notes which mutants it reaches, and
// notes its time.
func (b *binary) reach(ctx context.Context, suite int, took map[test]time.Duration) error {
	out, err := b.command(ctx, suite, patience, "-test.list=.").Output()
	if err != nil {
		return fmt.Errorf("list the tests: %w", err)
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		trail := filepath.Join(b.work, "trail")
		cmd := b.command(ctx, suite, time.Hour, "-test.short", "-test.run=^"+name+"$")
		cmd.Env = append(cmd.Env, "MUTANT_TRAIL="+trail)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s fails without a change: %w\n%s", name, err, out)
		}
		one := test{suite, name}
		took[one] = time.Since(start)
		reached, err := os.ReadFile(trail)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, id := range strings.Fields(string(reached)) {
			i, err := strconv.Atoi(id)
			if err != nil {
				return err
			}
			if m := b.mutants[i]; !slices.Contains(m.tests, one) {
				m.tests = append(m.tests, one)
			}
		}
		if err := os.RemoveAll(trail); err != nil {
			return err
		}
	}
	return nil
}

// kill reports whether a test notices the mutant: it fails, or it does not end.
func (b *binary) kill(ctx context.Context, id int, took map[test]time.Duration) (bool, error) {
	tests := slices.Clone(b.mutants[id].tests)
	slices.SortStableFunc(tests, func(a, b test) int {
		return cmp.Or(cmp.Compare(a.suite, b.suite), cmp.Compare(took[a], took[b]))
	})
	for len(tests) > 0 {
		suite, sum := tests[0].suite, time.Duration(0)
		var names []string
		for _, one := range tests {
			if one.suite != suite || names != nil && sum+took[one] >= 2*time.Second {
				break
			}
			names, sum = append(names, one.name), sum+took[one]
		}
		each, cancel := context.WithTimeout(ctx, patience+10*sum)
		cmd := b.command(each, suite, slack+10*sum, "-test.short", "-test.failfast", "-test.run=^("+strings.Join(names, "|")+")$")
		cmd.Env = append(cmd.Env, "MUTANT="+strconv.Itoa(id))
		err := cmd.Run()
		late := each.Err() != nil
		cancel()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case late || errors.As(err, &exit):
			return true, nil
		case err != nil:
			return false, err
		}
		tests = tests[len(names):]
	}
	return false, ctx.Err()
}

// command runs a test binary in the copy of its package, in a process group of its own.
// It may compute for the given time. Properties are checked with the same values each time.
func (b *binary) command(ctx context.Context, suite int, compute time.Duration, args ...string) *exec.Cmd {
	s := b.suites[suite]
	if slices.Contains(slices.Concat(s.pkg.TestImports, s.pkg.XTestImports), "pgregory.net/rapid") {
		args = append(args, "-rapid.seed=1", "-rapid.nofailfile")
	}
	limits := fmt.Sprintf(`ulimit -v %d && ulimit -t %d && exec "$0" "$@"`, memory, int(compute.Seconds())+1)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limits, s.path}, args...)...)
	cmd.Dir = filepath.Join(b.tree, s.pkg.room)
	cmd.Env = os.Environ()
	cmd.Stdin = bytes.NewReader(nil)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
