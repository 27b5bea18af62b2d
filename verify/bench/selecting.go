// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/retrieve"
)

// selecting measures the time of one question over catalogs of four sizes, and the time and memory
// of their indexes. The figures are medians, with the p90.
func (b *bench) selecting(ctx context.Context) error {
	b.note("load average before", loadAverage())
	sizes := []int{100, 1_000, 10_000, 100_000}
	if b.quick {
		sizes = sizes[:3]
	}
	for _, n := range sizes {
		c := newCatalog(n)
		if err := b.words(n, c); err != nil {
			return err
		}
		b.cosines(n)
		if err := b.pipeline(ctx, n, c); err != nil {
			return err
		}
	}
	b.note("load average after", loadAverage())
	return nil
}

func loadAverage() string {
	line, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(line))[:3], " ") + fmt.Sprintf(" on %d cores", runtime.NumCPU())
}

// bars are the limits of a median by size; sizes without a limit are only printed.
type bars map[int]time.Duration

// median prints the median of times with its bar.
func (b *bench) median(what string, n int, times []time.Duration, limits bars) {
	short := func(d time.Duration) string {
		return d.Round(max(d/200, 10*time.Nanosecond)).String()
	}
	m := median(times)
	figure := fmt.Sprintf("%s (p90 %s)", short(m), short(quantile(times, 0.9)))
	if limit, ok := limits[n]; ok {
		b.row(what, figure, "<= "+limit.String(), m <= limit)
		return
	}
	b.note(what, figure)
}

func quantile(times []time.Duration, q float64) time.Duration {
	s := slices.Sorted(slices.Values(times))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// timed calls do for i from 0 to n, after a tenth as many to warm up.
func timed(n int, do func(i int) error) ([]time.Duration, error) {
	for i := range max(1, n/10) {
		if err := do(i); err != nil {
			return nil, err
		}
	}
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		if err := do(i); err != nil {
			return nil, err
		}
		times[i] = time.Since(start)
	}
	return times, nil
}

// words measures BM25 alone: names and descriptions, questions of eight words, ten tools.
func (b *bench) words(n int, c catalogs) error {
	documents := make([]retrieve.BM25Document, n)
	for i := range c.entries {
		t := &c.entries[i].Tool
		documents[i] = retrieve.BM25Document{
			ID:     t.Name,
			Fields: [][]string{retrieve.Words(t.Name), retrieve.Words(t.Description)},
		}
	}
	x, err := retrieve.NewBM25(retrieve.BM25Options{
		K1:     1.2,
		Fields: []retrieve.BM25Field{{Name: "name", Weight: 2, B: 0.5}, {Name: "description", Weight: 1, B: 0.75}},
	})
	if err != nil {
		return err
	}
	if err := x.Update(documents, nil); err != nil {
		return err
	}
	questions := make([][]retrieve.TermGroup, len(c.questions))
	for i, q := range c.questions {
		questions[i] = retrieve.WordGroups(strings.Fields(q)[2:])
	}
	times, err := timed(500, func(i int) error {
		if len(x.Search(questions[i%len(questions)], 10)) == 0 {
			return fmt.Errorf("BM25 finds nothing for %q", c.questions[i%len(questions)])
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.median(fmt.Sprintf("%d tools: BM25 alone", n), n, times,
		bars{10_000: 60 * time.Microsecond, 100_000: 500 * time.Microsecond})
	return nil
}

// cosines measures the exact product of one vector with all vectors.
func (b *bench) cosines(n int) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var m retrieve.VectorMatrix
	first, err := m.Extend(n, retrieve.NGramWidth)
	for row := first; err == nil && row < n; row++ {
		v := m.Row(row)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		retrieve.NormalizeVector(v)
	}
	out := make([]float32, n)
	times, _ := timed(200, func(i int) error { m.Cosines(m.Row(i%n), out); return nil })
	b.median(fmt.Sprintf("%d tools: cosine with every vector of %d", n, retrieve.NGramWidth), n, times,
		bars{10_000: 350 * time.Microsecond, 100_000: 6 * time.Millisecond})
}

// pipeline measures the whole work of the default preset: route, agents, tools with the parts of
// their scores, and the comparison of the right tool with the winner.
func (b *bench) pipeline(ctx context.Context, n int, c catalogs) error {
	settings, err := retrieve.DefaultRules()
	if err != nil {
		return err
	}
	rules, err := retrieve.NewRules(settings)
	if err != nil {
		return err
	}
	cfg := catalog.RetrieverConfig{
		Name: "bench", Entries: c.entries, Agents: c.agents, Options: retrieve.Default(), K: 10,
		Routes: rules,
	}
	var x *catalog.Retriever
	var mb int64
	var walls, cpus []time.Duration
	for range 3 {
		x = nil //nolint:ineffassign,wastedassign // the memory of the last one must be free before the next is measured
		before, cpu, start := liveMB(), usedCPU(), time.Now()
		if x, _, err = catalog.OpenRetriever(ctx, cfg); err != nil {
			return err
		}
		walls, cpus = append(walls, time.Since(start)), append(cpus, usedCPU()-cpu)
		mb = liveMB() - before
	}
	built := slices.Min(walls)
	took := fmt.Sprintf("%v (CPU %v)", built.Round(time.Millisecond), slices.Min(cpus).Round(time.Millisecond))
	what := fmt.Sprintf("%d tools: ", n)
	decide, err := timed(200, func(i int) error {
		d, err := x.Decide(ctx, c.questions[i%len(c.questions)])
		if err == nil && len(d.Tools) == 0 {
			err = fmt.Errorf("nothing is found for %q", c.questions[i%len(c.questions)])
		}
		return err
	})
	if err != nil {
		return err
	}
	b.median(what+"whole pipeline", n, decide, bars{10_000: time.Millisecond, 100_000: 10 * time.Millisecond})
	explain, err := timed(100, func(i int) error {
		_, err := x.Explain(ctx, c.questions[i%len(c.questions)], c.right[i%len(c.questions)])
		return err
	})
	if err != nil {
		return err
	}
	b.median(what+"  Explain of the right one", n, explain, nil)
	if n < 100_000 {
		b.note(what+"index", fmt.Sprintf("%s, %d MB", took, mb))
	} else {
		b.row(what+"index built, best of three", took, "<= 2s", built <= 2*time.Second)
		b.row(what+"index in memory", fmt.Sprintf("%d MB", mb), "<= 400 MB", mb <= 400)
	}
	runtime.KeepAlive(x)
	return nil
}

// usedCPU is the CPU time of this process so far, on all cores.
func usedCPU() time.Duration {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

func liveMB() int64 {
	runtime.GC()
	runtime.GC() // what pools held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc >> 20)
}

// catalog has tools, agents, and questions with the tool that is right for each.
type catalogs struct {
	entries   []retrieve.Entry
	agents    []retrieve.Agent
	questions []string
	right     []string
}

// newCatalog makes n tools with a name of four words, a description of 18 to 33 words and two
// parameters, and 200 questions of ten words. The vocabulary has 20,000 words, with frequencies as
// uneven as in a language.
func newCatalog(n int) catalogs {
	r := rand.New(rand.NewPCG(13, uint64(n)))
	zipf := rand.NewZipf(r, 1.15, 4, 19_999)
	word := func() string { return spell(int(zipf.Uint64())) }
	verbs := []string{"get", "list", "create", "update", "delete", "search", "send", "cancel"}
	c := catalogs{entries: make([]retrieve.Entry, n)}
	for i := range c.entries {
		noun, domain := spell(200+r.IntN(4000)), spell(5000+r.IntN(200))
		description := []string{"Returns", noun, domain}
		for range 15 + r.IntN(16) {
			description = append(description, word())
		}
		c.entries[i] = retrieve.Entry{Tool: callvet.Tool{
			Name:        fmt.Sprintf("%s_%s_%s_%d", verbs[r.IntN(len(verbs))], noun, domain, i),
			Description: strings.Join(description, " "),
			Parameters: fmt.Appendf(nil,
				`{"type":"object","properties":{"%s":{"type":"string"},"%s_id":{"type":"integer"}}}`, word(), noun),
		}}
		if len(c.questions) < 200 {
			c.questions = append(c.questions,
				strings.Join([]string{
					"what", "about", noun, domain, description[5], description[7], description[9],
					word(), word(), word(),
				}, " "))
			c.right = append(c.right, c.entries[i].Tool.Name)
		}
	}
	for i := range 20 {
		c.agents = append(c.agents,
			retrieve.Agent{Name: "agent_" + spell(i), Description: "Answers questions about " + spell(5000+i) +
				" and " + spell(200+i), Keywords: []string{spell(5000 + i)}})
	}
	return c
}

// spell writes a number as syllables.
func spell(i int) string {
	const first, second = "bdfghjklmnprstvwz", "aeiouy"
	var b []byte
	for i += 40; i > 0; i /= len(first) * len(second) {
		b = append(b, first[i%len(first)], second[i/len(first)%len(second)])
	}
	return string(b)
}
