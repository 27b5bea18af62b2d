// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Command callvet-mutate changes one operator at a time and prints which changes no test notices.
//
// Usage: callvet-mutate [-C module] [-survivors file] [-floor share] [-jobs n] [-file names]
// [-since commit] [-tests packages] [-sample n [-seed n]] package...
//
// All changes of a package are compiled into one test binary, each behind a switch that an
// environment variable turns on. A change is tried with the tests of its own package that
// reach it, under -short, and then with those of the packages that -tests names. It is killed
// when a test fails or does not end. A change that no test reaches survives. The subtests of a
// long test run one by one.
//
// The operators are those that go-gremlins has on by default: + - * / %, comparisons at and next to
// their bounds, == and !=, ++ and --, and signs. Changes that cannot compile (a sum of strings turned
// into a difference) and constant declarations are left out.
//
// A file lists the known survivors, each with the reason. The command fails when a survivor
// is not listed there, when a listed one is gone, and when the share killed is below the
// floor. -file is for work on a test: only these files are changed, and neither the floor nor the
// listed survivors of other files are checked. -since changes only the
// lines that are new since a commit, and holds them to the floor. -sample tries changes that are
// drawn at random from the changes of each package, and prints the interval of the share killed. The
// share in the sample is held to the floor.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/callvet/callvet/stats"
)

func main() {
	c := config{long: 5 * time.Second}
	flag.StringVar(&c.module, "C", ".", "folder of the module")
	flag.StringVar(&c.survivors, "survivors", "", "file of the known survivors")
	flag.Float64Var(&c.floor, "floor", 0.85, "smallest share killed, per package")
	flag.IntVar(&c.jobs, "jobs", runtime.NumCPU(), "test processes at the same time")
	flag.Func("file", "change only this `file`, gold.go; several with commas between", func(names string) error {
		c.files = strings.Split(names, ",")
		return nil
	})
	flag.StringVar(&c.since, "since", "", "change only the lines that are new since this commit")
	flag.Func("tests", "`packages` with tests to run after those of the changed one, with commas between",
		func(names string) error {
			c.tests = strings.Split(names, ",")
			return nil
		})
	flag.IntVar(&c.sample, "sample", 0, "changes of a package to try, drawn at random; 0: all")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the sample")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, c, flag.Args(), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "callvet-mutate:", err)
		os.Exit(1)
	}
}

type config struct {
	module, survivors string
	floor             float64
	jobs              int
	files             []string      // names of the files to change; none: all
	since             string        // only lines changed since this commit; "": all lines
	tests             []string      // further packages with tests to run
	sample            int           // the number of tried changes of a package; 0: all
	seed              uint64        // of the sample
	long              time.Duration // a test that takes longer is tried by its subtests
}

// whole reports whether all lines of a package are changed.
func (c *config) whole() bool { return c.files == nil && c.since == "" && c.sample == 0 }

// run tries the packages one after the other and writes one line for each.
func run(ctx context.Context, c config, patterns []string, out io.Writer) error {
	if c.sample < 0 {
		return fmt.Errorf("sample is %d: want 1 or more", c.sample)
	}
	known, err := readKnown(c.survivors)
	if err != nil {
		return err
	}
	pkgs, err := list(ctx, c.module, patterns)
	if err != nil {
		return err
	}
	for _, name := range c.files {
		if !slices.ContainsFunc(pkgs, func(p *pkg) bool { return slices.Contains(p.GoFiles, name) }) {
			return fmt.Errorf("no package has a file %s", name)
		}
	}
	var tests []*pkg
	if c.tests != nil {
		if tests, err = list(ctx, c.module, c.tests); err != nil {
			return err
		}
	}
	only, err := c.choose(ctx)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	tree := filepath.Join(work, "tree")
	if err := copyTree(tree, c.module); err != nil {
		return fmt.Errorf("copy the module: %w", err)
	}
	bad := 0
	var rows []string
	for i, p := range pkgs {
		b := &binary{
			pkg: p, tests: append([]*pkg{p}, tests...), work: filepath.Join(work, fmt.Sprint(i)), tree: tree,
			long: c.long,
		}
		err := b.build(ctx, c.module, only)
		if err != nil {
			return fmt.Errorf("build the mutants of %s: %w", p.room, err)
		}
		b.draw(c.sample, c.seed)
		if len(b.drawn) > 0 {
			if err := b.try(ctx, c.jobs); err != nil {
				return fmt.Errorf("test the mutants of %s: %w", p.room, err)
			}
			row, n := c.report(out, b, known)
			bad += n
			rows = append(rows, row)
			fmt.Fprintln(out, strings.ReplaceAll(row, "\t", "  "))
		}
		if c.whole() {
			bad += known.gone(out, c.survivors, func(room string) bool { return room == p.room })
		}
	}
	bad += known.gone(out, c.survivors, func(room string) bool {
		_, err := os.Stat(filepath.Join(tree, room))
		return err != nil
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\npackage\tmutants\tkilled\tlive\tof these not covered\tand listed\tshare killed\t\n%s\t\n",
		strings.Join(rows, "\t\n"))
	if err := w.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d findings: write a test, or list the survivor with its reason in %s", bad, c.survivors)
	}
	return nil
}

// report writes the survivors of a package that are not listed, counts them, with one more when the
// package is below the floor, and returns its row of the table.
func (c config) report(out io.Writer, b *binary, known *known) (row string, bad int) {
	killed, uncovered, listed := 0, 0, 0
	for _, i := range b.drawn {
		m, how := b.mutants[i], "lives"
		switch {
		case m.killed:
			killed++
			continue
		case len(m.tests) == 0:
			how = "not covered"
			uncovered++
		}
		if known.has(m) {
			listed++
			continue
		}
		bad++
		fmt.Fprintf(out, "%s:%d: %s\t%s\n", m.file, m.line, how, m.key())
	}
	n := len(b.drawn)
	share := float64(killed) / float64(n)
	row = fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%.1f %%", b.pkg.room, n, killed, n-killed, uncovered, listed, 100*share)
	if all := len(b.mutants); n < all {
		iv := stats.ClopperPearson(killed, n, 0.95, stats.TwoSided)
		row += fmt.Sprintf("\t95 %% interval %.1f to %.1f %%, a sample of %d, seed %d", 100*iv.Lower, 100*iv.Upper,
			all, c.seed)
	}
	if share < c.floor && c.files == nil {
		bad++
		row += fmt.Sprintf("\tbelow %.0f %%", 100*c.floor)
	}
	return row, bad
}

// copyTree copies a module for the tests to run in: changed code may write anywhere in it.
// Folders with a dot are left out.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		switch {
		case d.IsDir() && below != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, b, info.Mode().Perm()|0o200)
	})
}
