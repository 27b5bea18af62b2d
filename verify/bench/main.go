// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Command callvet-bench compares the speed of callvet with its limits: a model server and a raw
// loop on the same machine at the same time. Ratios and CPU seconds matter; absolute times depend
// on the machine.
//
//	go run -C verify ./bench ./callvet
//	go run -C verify ./bench -only select ./callvet
//	go run -C verify ./bench -only traces -big ./callvet
//
// The second measures the search for tools in this process; the third measures `callvet score` over
// generated trace files and DuckDB, which npm installs into a cache folder; without npm it is not
// measured.
//
// Every row is one line: a name, the figure, the limit, and ok or SHORT. The exit code is 1 if a
// limit was missed.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && (os.Args[1] == "-serve" || os.Args[1] == "-raw" || os.Args[1] == "-write") {
		os.Exit(child(os.Args[1:]))
	}
	quick := flag.Bool("quick", false, "leave out the rows that take minutes")
	only := flag.String("only", "",
		"one group: startup, throughput, linear, latency, scoring, select or traces (only when named)")
	n := flag.Int("n", 1_000_000, "lines of the trace file")
	big := flag.Bool("big", false, "also a trace file with ten times as many lines (5 GB on disk)")
	cache := flag.String("cache", ".cache", "folder for the peers that are measured as well")
	flag.Parse()
	if flag.NArg() != 1 || *n < 1000 {
		fmt.Fprintln(os.Stderr,
			"usage: callvet-bench [-quick] [-only GROUP] [-n LINES, at least 1000] [-big] PATH-TO-CALLVET")
		os.Exit(2)
	}
	b := bench{
		out: os.Stdout, quick: *quick, only: *only, n: *n, big: *big, cache: *cache,
		data: cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "shared", "data")),
		part: cmp.Or(os.Getenv("CALLVET_PART"), "open"),
	}
	// After an interrupt it still removes its files.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.run(ctx, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "callvet-bench:", err)
		os.Exit(1)
	}
	if b.short > 0 {
		os.Exit(1)
	}
}

// child is the server (-serve), the raw loop (-raw) or the suite writer (-write
// DIR) in a separate process, so that its CPU time is measured separately.
func child(args []string) int {
	fs := flag.NewFlagSet("child", flag.ExitOnError)
	serve := fs.Bool("serve", false, "")
	raw := fs.Bool("raw", false, "")
	write := fs.String("write", "", "")
	addr := fs.String("addr", "127.0.0.1:0", "")
	latency := fs.Duration("latency", 0, "")
	url := fs.String("url", "", "")
	n := fs.Int("n", 1000, "")
	c := fs.Int("c", 64, "")
	_ = fs.Parse(args)
	switch {
	case *write != "":
		path, err := writeSuite(*write, *n)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(path)
	case *serve:
		s, err := startServer(*addr, *latency)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(s.url)
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent goes away
		s.close()
	case *raw:
		passed, err := rawLoop(context.Background(), *url, *n, *c)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(passed)
	}
	return 0
}

// measured is the time and memory of one process.
type measured struct {
	wall  time.Duration
	cpu   time.Duration
	rssMB float64
	out   string
	errs  string
}

func measure(name string, args ...string) (measured, error) {
	return measureIn(context.Background(), nil, name, args...)
}

// measureIn runs a program in an environment; nil is the environment of this process.
func measureIn(ctx context.Context, env []string, name string, args ...string) (measured, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	m := measured{wall: time.Since(start), out: out.String(), errs: errs.String()}
	if err != nil {
		return m, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, errs.String())
	}
	ps := cmd.ProcessState
	m.cpu = ps.UserTime() + ps.SystemTime()
	if ru, ok := ps.SysUsage().(*syscall.Rusage); ok {
		m.rssMB = float64(ru.Maxrss) / 1024
	}
	return m, nil
}

type bench struct {
	out   io.Writer
	quick bool
	short int
	dir   string
	bin   string
	self  string
	data  string // public evaluation data
	part  string // of it that is read
	only  string
	n     int    // lines of the trace file
	big   bool   // one with ten times as many, too
	cache string // where peers are installed
}

// row prints one figure with its limit; ok: the limit is met.
func (b *bench) row(what, figure, bar string, ok bool) {
	verdict := "ok"
	if !ok {
		verdict = "SHORT"
		b.short++
	}
	fmt.Fprintf(b.out, "%-44s %-34s %-34s %s\n", what, figure, bar, verdict)
}

// note prints a figure without a limit.
func (b *bench) note(what, figure string) { fmt.Fprintf(b.out, "%-44s %s\n", what, figure) }

func (b *bench) run(ctx context.Context, bin string) (err error) {
	if b.bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "callvet-bench-*"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"startup", b.startup},
		{"throughput", b.throughput},
		{"linear", b.linear},
		{"latency", b.latency},
		{"scoring", b.scoring},
		{"select", func() error { return b.selecting(ctx) }},
		{"traces", func() error { return b.traces(ctx) }},
	} {
		if b.only != step.name && (b.only != "" || step.name == "traces") {
			continue
		}
		if err := step.run(); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.out, "%d figures below their bar\n", b.short)
	return nil
}

// serve starts the model server and returns its URL and a function that ends it.
func (b *bench) serve(latency time.Duration) (string, func(), error) {
	cmd := exec.CommandContext(context.Background(), b.self, "-serve", "-latency", latency.String())
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	var url string
	if _, err := fmt.Fscanln(out, &url); err != nil {
		return "", nil, fmt.Errorf("start model server: %w", err)
	}
	return url, func() { _ = in.Close(); _ = cmd.Wait() }, nil
}

// evaluate runs callvet over n cases with a separate database and checks its report: 80 % are right.
func (b *bench) evaluate(url string, n, c int) (measured, error) {
	// In a separate process: Linux counts the memory of a parent process in the peak of its child, and
	// writing a large suite needs much memory.
	w, err := measure(b.self, "-write", b.dir, "-n", fmt.Sprint(n))
	if err != nil {
		return measured{}, err
	}
	suite := strings.TrimSpace(w.out)
	db := filepath.Join(b.dir, "bench.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(db + suffix)
	}
	m, err := measure(b.bin, "run", suite, "-m", "openai/bench-1", "--base-url", url, "-c", fmt.Sprint(c), "--db", db,
		"-o", filepath.Join(b.dir, "report.html"))
	if err != nil {
		return m, err
	}
	list, err := measure(b.bin, "runs", "--db", db, "--json")
	if err != nil {
		return m, err
	}
	var doc struct {
		Runs []struct {
			Verdicts struct{ Pass, Fail, Error int }
		}
	}
	if err := json.Unmarshal([]byte(list.out), &doc); err != nil {
		return m, fmt.Errorf("read callvet's JSON: %w", err)
	}
	if rs := doc.Runs; len(rs) != 1 || rs[0].Verdicts.Pass+rs[0].Verdicts.Fail != n ||
		(n%20 == 0 && rs[0].Verdicts.Pass != n*4/5) {
		return m, fmt.Errorf("callvet reports %+v over %d cases, the server was right in 80 %%", rs, n)
	}
	return m, nil
}
