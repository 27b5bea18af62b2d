// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/callvet/callvet/panel"
)

const (
	repeats  = 9   // in turns: a ratio is the median of those of the turns
	few      = 3   // of files that take long
	lineSize = 520 // bytes, a little more than a generated line has
	maxRSS   = 150 // MB
)

// entrant is one engine on a number of cores with the measurements of its runs.
type entrant struct {
	name  string
	cores int
	run   func(ctx context.Context) (measured, error)
	runs  []measured
}

func (e *entrant) wall() float64 {
	return medianOf(e.runs, func(m measured) float64 { return m.wall.Seconds() })
}

func (e *entrant) cpu() float64 {
	return medianOf(e.runs, func(m measured) float64 { return m.cpu.Seconds() })
}

// best is the shortest wall time in seconds: other work on the machine only adds to it.
func (e *entrant) best() float64 {
	least := e.runs[0].wall.Seconds()
	for _, m := range e.runs {
		least = min(least, m.wall.Seconds())
	}
	return least
}

// rss is the highest peak of all runs in MB.
func (e *entrant) rss() float64 {
	top := 0.0
	for _, m := range e.runs {
		top = max(top, m.rssMB)
	}
	return top
}

func medianOf(runs []measured, of func(measured) float64) float64 {
	xs := make([]float64, 0, len(runs))
	for _, m := range runs {
		xs = append(xs, of(m))
	}
	return median(xs)
}

// traceBench is the measurement of `callvet score` over generated trace files.
type traceBench struct {
	*bench
	tools   string // file with the schemas
	modules string // where DuckDB is; "" if it is not measured
}

// crossed are the slices that correspond to the groups of DuckDB's query.
const crossed = "language*tag"

// traces compares `callvet score` with DuckDB's aggregates of the same file.
func (b *bench) traces(ctx context.Context) error {
	t := traceBench{bench: b, tools: filepath.Join(b.dir, "tools.json")}
	tools, err := traceTools()
	if err != nil {
		return err
	}
	if err := os.WriteFile(t.tools, tools, 0o600); err != nil {
		return err
	}
	if t.modules, err = installDuck(ctx, b.cache); err != nil {
		b.note("DuckDB "+duckVersion, "not measured: "+err.Error())
	}
	b.note("machine", fmt.Sprintf("%d processors, load %s", runtime.NumCPU(), load()))
	if err := b.validation(); err != nil {
		return err
	}
	file, err := t.generate(ctx, "traces.jsonl", b.n, 0)
	if err != nil {
		return err
	}
	small, err := t.compare(ctx, file, false)
	if err != nil {
		return err
	}
	if err := t.identical(ctx, file); err != nil {
		return err
	}
	if err := t.malformed(ctx); err != nil {
		return err
	}
	if !b.big {
		return nil
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	if file, err = t.generate(ctx, "traces-big.jsonl", 10*b.n, 0); err != nil {
		return err
	}
	large, err := t.compare(ctx, file, true)
	if err != nil {
		return err
	}
	ratio := large.rss() / small.rss()
	b.row("memory at ten times the lines", fmt.Sprintf("%.2f (%.0f and %.0f MB)", ratio, small.rss(), large.rss()),
		"<= 1.10", ratio <= 1.1)
	return nil
}

// generate writes n lines, if the disk has space for them.
func (t *traceBench) generate(ctx context.Context, name string, n, broken int) (string, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(t.dir, &fs); err != nil {
		return "", fmt.Errorf("look for free disk: %w", err)
	}
	need := uint64(n)*lineSize*8/7 + 1<<30 // with one of seven parts, and some to spare
	if free := fs.Bavail * uint64(fs.Bsize); free < need {
		return "", fmt.Errorf("write %d traces: %s has %d MB free, %d are needed", n, t.dir, free>>20, need>>20)
	}
	path := filepath.Join(t.dir, name)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := writeTraces(ctx, f, n, 1, broken); err != nil {
		return "", err
	}
	return path, f.Close()
}

// score runs callvet over a file on a number of cores.
func (t *traceBench) score(ctx context.Context, cores int, args ...string) (measured, error) {
	env := append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(cores))
	return measureIn(ctx, env, t.bin, append([]string{"score", "--json"}, args...)...)
}

// entrants are callvet's ways to score the file, each with the limit of its wall time relative to
// DuckDB's, on each number of cores.
func (t *traceBench) entrants(file string, cores []int) (es []*entrant, bars []float64) {
	for _, k := range []struct {
		name string
		bar  float64
		args []string
	}{
		{"callvet, everything", 1.5, []string{file, "--tools", t.tools}},
		{"callvet, everything, 30 groups", 1.5, []string{file, "--tools", t.tools, "--slice", crossed}},
		{"callvet, no validation", 1.5, []string{file}},
		{"callvet, no validation, 30 groups", 1.5, []string{file, "--slice", crossed}},
	} {
		for _, c := range cores {
			run := func(ctx context.Context) (measured, error) { return t.score(ctx, c, k.args...) }
			es, bars = append(es, &entrant{name: k.name, cores: c, run: run}), append(bars, k.bar)
		}
	}
	return es, bars
}

// compare runs all entrants in turn over the file and prints their rows. It returns callvet with all
// features on two cores. Brief measures only two cores.
func (t *traceBench) compare(ctx context.Context, file string, brief bool) (*entrant, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	mb := float64(info.Size()) / 1e6
	t.note("trace file", fmt.Sprintf("%.0f MB", mb))
	cores := []int{1, 2}
	if brief {
		cores = cores[1:]
	}
	ours, bars := t.entrants(file, cores)
	var peers []*entrant
	var groups []duckGroup
	for _, c := range cores {
		e, end := t.peer(ctx, file, c, &groups)
		defer end()
		if e != nil {
			peers = append(peers, e)
		}
	}
	all := slices.Concat(peers, ours)
	turns := repeats
	if brief {
		turns = few
	}
	for range turns {
		for _, e := range all {
			m, err := e.run(ctx)
			if err != nil {
				return nil, err
			}
			e.runs = append(e.runs, m)
		}
	}
	for _, e := range all {
		t.note(fmt.Sprintf("%s, %s", e.name, onCores(e.cores)),
			fmt.Sprintf("%.2f s, CPU %.2f s, %.0f MB/s, %.0f MB", e.wall(), e.cpu(), mb/e.wall(), e.rss()))
	}
	top := 0.0
	for i, e := range ours {
		top = max(top, e.rss())
		for _, p := range peers {
			if p.cores == e.cores {
				t.against(e, p, bars[i])
			}
		}
	}
	t.row("memory", fmt.Sprintf("%.0f MB", top), fmt.Sprintf("<= %d MB", maxRSS), top <= maxRSS)
	if len(peers) > 0 {
		if err := t.agree(ours[2*len(cores)-1].runs[0].out, groups); err != nil {
			return nil, err
		}
	}
	return ours[len(cores)-1], nil
}

// ratio is the median over the turns of the time of e relative to p in the same turn, since a slow
// phase of the machine slows both.
func (e *entrant) ratio(p *entrant, of func(measured) time.Duration) float64 {
	xs := make([]float64, 0, len(e.runs))
	for i, m := range e.runs {
		xs = append(xs, of(m).Seconds()/of(p.runs[i]).Seconds())
	}
	return median(xs)
}

// against prints the ratios of the wall times, with a limit on two cores, of the shortest times and
// of the processor times.
func (t *traceBench) against(e, p *entrant, bar float64) {
	what := fmt.Sprintf("  %s / DuckDB, %s", strings.TrimPrefix(e.name, "callvet, "), onCores(e.cores))
	ratio := e.ratio(p, func(m measured) time.Duration { return m.wall })
	figure := fmt.Sprintf("%.2f (best %.2f, CPU %.2f)", ratio, e.best()/p.best(),
		e.ratio(p, func(m measured) time.Duration { return m.cpu }))
	if e.cores == 1 {
		t.note(what, figure)
		return
	}
	t.row(what, figure, fmt.Sprintf("<= %.2f", bar), ratio <= bar)
}

func onCores(n int) string {
	if n == 1 {
		return "1 core"
	}
	return strconv.Itoa(n) + " cores"
}

// peer is DuckDB over the file, or nil if it cannot be measured.
func (t *traceBench) peer(ctx context.Context, file string, cores int, groups *[]duckGroup) (*entrant, func()) {
	if t.modules == "" {
		return nil, func() {}
	}
	d, err := openDuck(ctx, t.modules, t.dir, file, cores)
	if err != nil {
		t.note("DuckDB "+duckVersion, "not measured: "+err.Error())
		return nil, func() {}
	}
	return &entrant{name: "DuckDB " + duckVersion, cores: cores, run: func(context.Context) (measured, error) {
		a, err := d.query()
		*groups = a.Groups
		return measured{wall: seconds(a.Seconds), cpu: seconds(a.CPU), rssMB: a.RSS}, err
	}}, func() { _ = d.close() }
}

// agree checks that callvet and DuckDB count the same calls and unneeded calls in every group.
func (t *traceBench) agree(out string, groups []duckGroup) error {
	var ps panel.Panels
	if err := json.Unmarshal([]byte(out), &ps); err != nil {
		return fmt.Errorf("read callvet's JSON: %w", err)
	}
	if len(ps.Targets) != 1 {
		return fmt.Errorf("callvet's JSON has %d targets, want 1", len(ps.Targets))
	}
	found := map[string]*panel.Slice{}
	for i := range ps.Targets[0].Slices {
		s := &ps.Targets[0].Slices[i]
		found[s.Key+"="+s.Value] = s
	}
	same := 0
	for _, g := range groups {
		s := found["language*tag="+g.Language+"*"+g.Family]
		if s == nil {
			continue
		}
		m := s.Metric("over_call_rate")
		if m != nil && m.Interval.N == g.Calls && int(m.Interval.Point*float64(g.Calls)+0.5) == g.Unneeded {
			same++
		}
	}
	t.row("groups counted as DuckDB counts them", fmt.Sprintf("%d of %d", same, len(groups)), "all",
		same == len(groups))
	return nil
}

// identical scores the file whole on one and two cores and in seven parts that
// are merged: the JSON must be the same to the byte.
func (t *traceBench) identical(ctx context.Context, file string) error {
	one, err := t.score(ctx, 1, file, "--tools", t.tools)
	if err != nil {
		return err
	}
	two, err := t.score(ctx, 2, file, "--tools", t.tools)
	if err != nil {
		return err
	}
	parts, err := t.parts(ctx, file, 7)
	if err != nil {
		return err
	}
	merged, err := t.score(ctx, 2, parts...)
	if err != nil {
		return err
	}
	verdict := func(same bool) string {
		if same {
			return "yes"
		}
		return "no"
	}
	t.row("identical JSON: 1 and 2 cores", verdict(one.out == two.out), "yes", one.out == two.out)
	t.row("identical JSON: whole and 7 parts merged", verdict(one.out == merged.out), "yes", one.out == merged.out)
	return nil
}

// parts cuts the file at lines, also within a task, and scores each part separately.
func (t *traceBench) parts(ctx context.Context, file string, n int) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var out []string
	cut := filepath.Join(t.dir, "part.jsonl")
	defer os.Remove(cut)
	for i, from := 0, int64(0); i < n; i++ {
		to, err := lineEnd(f, info.Size()*int64(i+1)/int64(n), info.Size())
		if err != nil {
			return nil, err
		}
		if err := writeSection(cut, io.NewSectionReader(f, from, to-from)); err != nil {
			return nil, err
		}
		from = to
		out = append(out, filepath.Join(t.dir, strconv.Itoa(i)+".part"))
		if _, err := t.score(ctx, 1+i%2, cut, "--tools", t.tools, "--partial", out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lineEnd is the first offset at or after at that follows the end of a line.
func lineEnd(f io.ReaderAt, at, size int64) (int64, error) {
	if at >= size {
		return size, nil
	}
	buf := make([]byte, 1<<16)
	n, err := f.ReadAt(buf, at-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("cut traces: %w", err)
	}
	i := bytes.IndexByte(buf[:n], '\n')
	if i < 0 {
		return 0, fmt.Errorf("cut traces: no line ends within %d bytes of %d", n, at)
	}
	return at + int64(i), nil
}

func writeSection(path string, r io.Reader) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, r); err != nil {
		return fmt.Errorf("cut traces: %w", err)
	}
	return f.Close()
}

// malformed checks that every broken line is counted.
func (t *traceBench) malformed(ctx context.Context) error {
	const n, broken = 50_000, 100
	file, err := t.generate(ctx, "broken.jsonl", n, broken)
	if err != nil {
		return err
	}
	m, err := t.score(ctx, 2, file, "--tools", t.tools)
	if err != nil {
		return err
	}
	want := fmt.Sprintf("%d of %d lines are no records", n/broken, n)
	found := strings.Contains(m.errs, want)
	figure := want
	if !found {
		figure = "other: " + lastLine(m.errs)
	}
	t.row("broken lines found", figure, want, found)
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// load is the load average of the last minute; the machine may be shared.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
