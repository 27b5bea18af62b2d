// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// A change can make a loop endless. memory bounds one test process in kilobytes, patience its time.
// slack bounds its CPU time, in addition to ten times the CPU time of the unchanged tests. CPU time
// has its own limit, since the machine may be busy.
const (
	memory   = 8 << 20
	patience = time.Minute
	slack    = 3 * time.Second
)

// draw draws the mutants to try at random, without replacement: n of them, all for 0.
func (b *binary) draw(n int, seed uint64) {
	all := len(b.mutants)
	if n == 0 || n > all {
		n = all
	}
	b.drawn = rand.New(rand.NewPCG(seed, 0)).Perm(all)[:n]
	slices.Sort(b.drawn)
}

// try finds the tests that reach each mutant and runs them, the fast ones first.
func (b *binary) try(ctx context.Context, jobs int) error {
	took := map[test]time.Duration{}
	for i := range b.suites {
		reached, err := b.reach(ctx, jobs, i)
		if err != nil {
			return err
		}
		for _, r := range reached {
			took[r.test] = r.took
			for _, id := range r.ids {
				if m := b.mutants[id]; !slices.Contains(m.tests, r.test) {
					m.tests = append(m.tests, r.test)
				}
			}
		}
	}
	return sys.InParallel(jobs, len(b.drawn), func(i int) error {
		id := b.drawn[i]
		killed, err := b.kill(ctx, id, took)
		b.mutants[id].killed = killed
		return err
	})
}

// reached is a test, the mutants that it reaches, and its time.
type reached struct {
	test
	ids  []int
	took time.Duration
}

// reach runs every test of a suite alone without a mutant.
func (b *binary) reach(ctx context.Context, jobs, suite int) ([]reached, error) {
	out, err := b.command(ctx, suite, patience, "-test.list=.").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests: %w", err)
	}
	names := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool {
		return strings.HasPrefix(name, "Benchmark")
	})
	runs := make([][]reached, len(names))
	err = sys.InParallel(jobs, len(names), func(i int) error {
		one, parts, err := b.alone(ctx, test{suite, names[i]})
		switch {
		case err != nil && b.suites[suite].pkg != b.pkg && ctx.Err() == nil: // only fewer changes are killed
			line, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Fprintf(os.Stderr, "callvet-mutate: left out: %s\n", line)
			return nil
		case err != nil:
			return err
		}
		runs[i] = []reached{one}
		if one.took < b.long || len(parts) == 0 {
			return nil
		}
		var each []reached
		for _, name := range parts {
			part, _, err := b.alone(ctx, test{suite, name})
			if err != nil {
				return ctx.Err() // the test needs its subtests together
			}
			each = append(each, part)
		}
		runs[i] = each
		return nil
	})
	return slices.Concat(runs...), err
}

var subtest = regexp.MustCompile(`(?m)^=== RUN +([^/\s]+/[^/\s]+)`)

// alone runs one test without a mutant, and finds its subtests.
func (b *binary) alone(ctx context.Context, of test) (r reached, parts []string, err error) {
	trail := filepath.Join(b.work, fmt.Sprintf("trail-%d-%x", of.suite, of.name))
	defer os.RemoveAll(trail)
	cmd := b.command(ctx, of.suite, time.Hour, "-test.short", "-test.v", "-test.run="+of.pattern())
	cmd.Env = append(cmd.Env, "MUTANT_TRAIL="+trail)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return r, nil, fmt.Errorf("%s fails without a change: %w\n%s", of.name, err, out)
	}
	r.test, r.took = of, time.Since(start)
	for _, m := range subtest.FindAllSubmatch(out, -1) {
		if name := string(m[1]); !slices.Contains(parts, name) {
			parts = append(parts, name)
		}
	}
	seen, err := os.ReadFile(trail)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return r, nil, err
	}
	for _, word := range strings.Fields(string(seen)) {
		id, err := strconv.Atoi(word)
		if err != nil {
			return r, nil, err
		}
		r.ids = append(r.ids, id)
	}
	return r, parts, nil
}

// kill reports whether a test notices the mutant: it fails, or it does not end.
func (b *binary) kill(ctx context.Context, id int, took map[test]time.Duration) (bool, error) {
	tests := slices.Clone(b.mutants[id].tests)
	slices.SortStableFunc(tests, func(a, b test) int {
		return cmp.Or(cmp.Compare(a.suite, b.suite), cmp.Compare(took[a], took[b]))
	})
	for len(tests) > 0 {
		suite, sum := tests[0].suite, time.Duration(0)
		var patterns []string
		for _, one := range tests {
			if one.suite != suite || patterns != nil && sum+took[one] >= 2*time.Second {
				break
			}
			patterns, sum = append(patterns, one.pattern()), sum+took[one]
		}
		each, cancel := context.WithTimeout(ctx, patience+10*sum)
		cmd := b.command(each, suite, slack+10*sum, "-test.short", "-test.failfast",
			"-test.run="+strings.Join(patterns, "|"))
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
		tests = tests[len(patterns):]
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
