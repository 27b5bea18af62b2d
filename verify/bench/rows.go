// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

func median[T int64 | float64 | time.Duration](xs []T) T {
	s := slices.Sorted(slices.Values(xs))
	return s[len(s)/2]
}

func (b *bench) startup() error {
	info, err := os.Stat(b.bin)
	if err != nil {
		return err
	}
	mb := float64(info.Size()) / (1 << 20)
	b.row("binary", fmt.Sprintf("%.1f MB", mb), "<= 60 MB", mb <= 60)
	var walls []time.Duration
	for range 9 {
		m, err := measure(b.bin, "version")
		if err != nil {
			return err
		}
		walls = append(walls, m.wall)
	}
	w := median(walls)
	b.row("callvet version", w.Round(100*time.Microsecond).String(), "<= 15 ms", w <= 15*time.Millisecond)
	url, stop, err := b.serve(0)
	if err != nil {
		return err
	}
	defer stop()
	walls = walls[:0]
	for range 7 {
		m, err := b.evaluate(url, 1, 1)
		if err != nil {
			return err
		}
		walls = append(walls, m.wall)
	}
	w = median(walls)
	b.row("one case with report", w.Round(100*time.Microsecond).String(), "<= 80 ms", w <= 80*time.Millisecond)
	return nil
}

// throughput compares callvet with the raw loop without latency, in alternating runs.
func (b *bench) throughput() error {
	url, stop, err := b.serve(0)
	if err != nil {
		return err
	}
	defer stop()
	n := 20000
	if b.quick {
		n = 5000
	}
	var raw, ours, cpu, rawCPU []float64
	if _, err := measure(b.self, "-raw", "-url", url, "-n", strconv.Itoa(n)); err != nil { // warms the server's answers
		return err
	}
	for range 3 {
		m, err := measure(b.self, "-raw", "-url", url, "-n", strconv.Itoa(n))
		if err != nil {
			return err
		}
		raw, rawCPU = append(raw, float64(n)/m.wall.Seconds()), append(rawCPU, m.cpu.Seconds()*1000/float64(n))
		if m, err = b.evaluate(url, n, 64); err != nil {
			return err
		}
		ours, cpu = append(ours, float64(n)/m.wall.Seconds()), append(cpu, m.cpu.Seconds()*1000/float64(n))
	}
	r, o := median(raw), median(ours)
	b.row(fmt.Sprintf("0 ms, %d cases, c=64: attempts/s", n), fmt.Sprintf("%.0f", o), ">= 10000", o >= 10000)
	b.row("  share of the raw loop's rate", fmt.Sprintf("%.2f of %.0f/s", o/r, r), ">= 0.50", o >= r/2)
	c := median(cpu)
	b.row("  CPU an attempt", fmt.Sprintf("%.3f ms (raw loop %.3f)", c, median(rawCPU)), "<= 0.120 ms", c <= 0.12)
	return nil
}

// linear checks that ten times the cases need ten times the time and the same memory.
func (b *bench) linear() error {
	url, stop, err := b.serve(0)
	if err != nil {
		return err
	}
	defer stop()
	sizes, limits := []int{200, 5000, 100000}, map[int]float64{200: 64, 5000: 64, 100000: 128}
	if b.quick {
		sizes = sizes[:2]
	}
	// The cost of starting is measured once and subtracted: it is not part of the slope.
	base, err := b.evaluate(url, 1, 1)
	if err != nil {
		return err
	}
	per := map[int]float64{}
	for _, n := range sizes {
		var cpus, rss []float64
		reps := 3
		if n > 10000 {
			reps = 1
		}
		for range reps {
			m, err := b.evaluate(url, n, 64)
			if err != nil {
				return err
			}
			cpus, rss = append(cpus, (m.cpu-base.cpu).Seconds()*1e6/float64(n)), append(rss, m.rssMB)
		}
		per[n] = median(cpus)
		b.row(fmt.Sprintf("memory at %d cases", n), fmt.Sprintf("%.0f MB", median(rss)),
			fmt.Sprintf("<= %.0f MB", limits[n]), median(rss) <= limits[n])
	}
	for _, n := range sizes[1:] {
		ratio := per[n] / per[sizes[0]]
		b.row(fmt.Sprintf("CPU an attempt at %d, against %d", n, sizes[0]),
			fmt.Sprintf("%.2f (%.0f µs)", ratio, per[n]), "<= 1.10", ratio <= 1.10)
	}
	return nil
}

// latency checks the wall time against n·latency/c.
func (b *bench) latency() error {
	type point struct {
		ms, c, n int
	}
	points := []point{{20, 4, 400}, {20, 64, 2000}, {200, 4, 80}, {200, 32, 640}, {200, 64, 1000}}
	if b.quick {
		points = []point{{20, 64, 2000}, {200, 64, 1000}}
	}
	for _, p := range points {
		url, stop, err := b.serve(time.Duration(p.ms) * time.Millisecond)
		if err != nil {
			return err
		}
		var walls []time.Duration
		for range 3 {
			m, err := b.evaluate(url, p.n, p.c)
			if err != nil {
				stop()
				return err
			}
			walls = append(walls, m.wall)
		}
		stop()
		rounds := (p.n + p.c - 1) / p.c
		limit := time.Duration(rounds*p.ms) * time.Millisecond
		bar := limit + limit/20 + 50*time.Millisecond
		w := median(walls)
		b.row(fmt.Sprintf("%d ms latency, %d cases, c=%d: wall", p.ms, p.n, p.c), w.Round(time.Millisecond).String(),
			fmt.Sprintf("<= %v (limit %v)", bar.Round(time.Millisecond), limit), w <= bar)
	}
	return nil
}
