// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/provider/offline"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

// scoring measures the rates per processor second of one core: full scoring of
// recorded outputs from their text, and contract validation from text.
func (b *bench) scoring() error {
	if err := b.validation(); err != nil {
		return err
	}
	set := filepath.Join(b.data, "sets", "bfcl_v1_2024-08")
	s, problems, err := suite.Load(filepath.Join(set, "cases"), suite.Options{})
	if errors.Is(err, callvet.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(b.out, "%-44s skipped: no BFCL data under %s (CALLVET_TESTDATA)\n",
			"full scoring of recorded single calls", b.data)
		return nil
	}
	if err != nil {
		return err
	}
	if len(problems) > 0 && !problems[0].Warning {
		return problems[0]
	}
	sources, err := offline.Open(filepath.Join(set, b.part, "outputs"), nil)
	if err != nil {
		return err
	}
	for _, profile := range []string{"bfcl", ""} {
		rate, n, err := scoreRecorded(s, sources, profile)
		if err != nil {
			return err
		}
		name := "full scoring of recorded single calls"
		if profile == "" {
			name = "  the same by callvet's own rules"
		}
		b.row(name, fmt.Sprintf("%.0f k/s a core (%d rows)", rate/1000, n), ">= 330 k/s", rate >= 330e3)
	}
	return nil
}

// scoreRecorded reads and scores every recorded row of the single-call categories and returns the
// rows per processor second.
func scoreRecorded(s *callvet.Suite, sources []*offline.Source, profile string) (rate float64, n int, err error) {
	own := *s
	own.Cases = nil
	for i := range s.Cases {
		if c := s.Cases[i]; c.Fields["category"] == "simple" || c.Fields["category"] == "multiple_function" {
			if profile == "" {
				c.Scoring = nil
			}
			own.Cases = append(own.Cases, c)
		}
	}
	if profile == "" {
		own.Defaults.Scoring = callvet.Scoring{}
	}
	scorer, _ := score.New(&own, score.Config{})
	toolsets, compiled := make([]*callvet.Toolset, len(own.Cases)), make([]*score.Compiled, len(own.Cases))
	for i := range own.Cases {
		compiled[i], _ = scorer.Compile(&own.Cases[i])
		toolsets[i] = callvet.NewToolset(own.Cases[i].Tools)
	}
	pass := func() (int, error) {
		n := 0
		for i := range own.Cases { // case by case, as a run goes
			c := &own.Cases[i]
			for _, src := range sources {
				rs, err := src.Model.Generate(context.Background(),
					&callvet.Request{CaseID: c.ID, Turns: c.Input, Tools: toolsets[i]})
				if err != nil {
					return n, fmt.Errorf("row of %s: %w", c.ID, err)
				}
				t := callvet.Trace{CaseID: c.ID, Turns: rs.Turns, Repairs: rs.Repairs, End: callvet.EndCalled}
				t.Classify(rs.Unread())
				compiled[i].Score(&t)
				n++
			}
		}
		return n, nil
	}
	if _, err := pass(); err != nil { // warms up
		return 0, 0, err
	}
	start := cpuTime()
	for range 3 {
		k, err := pass()
		if err != nil {
			return 0, 0, err
		}
		n += k
	}
	return float64(n) / (cpuTime() - start).Seconds(), n / 3, nil
}

func (b *bench) validation() error {
	var schemas []*contract.Schema
	var texts [][]byte
	for i := 0; len(texts) < 64; i++ {
		c := newCase(i)
		for _, t := range tools() {
			f := t.(map[string]any)["function"].(map[string]any)
			if f["name"] != c.tool {
				continue
			}
			raw, err := json.Marshal(f["parameters"])
			if err != nil {
				return err
			}
			s, err := contract.Compile(raw)
			if err != nil {
				return err
			}
			args, err := json.Marshal(c.args)
			if err != nil {
				return err
			}
			schemas, texts = append(schemas, s), append(texts, args)
		}
	}
	const rounds = 3_000_000
	var doc value.Doc
	start := cpuTime()
	for i := range rounds {
		k := i % len(texts)
		if doc.Parse(texts[k]) != nil || !schemas[k].Valid(doc.Root()) {
			return fmt.Errorf("arguments %s are not valid", texts[k])
		}
	}
	rate := rounds / (cpuTime() - start).Seconds()
	b.row("contract validation from raw text", fmt.Sprintf("%.1f M/s a core", rate/1e6), ">= 3 M/s", rate >= 3e6)
	return nil
}

// cpuTime is the processor time of this process; the machine may be shared.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
