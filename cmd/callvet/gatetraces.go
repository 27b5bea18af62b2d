// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/callvet/callvet/cmd/callvet/compare"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/stats/gate"
)

// gateTraces holds a trace file against gates.
func (a *app) gateTraces(ctx context.Context, path string, f *gateFlags) (*gates.Report, error) {
	file, err := a.gateFile(f.gates, nil)
	if err != nil {
		return nil, err
	}
	keys := sliceKeys(file.Gates)
	sf := scoreFlags{tools: f.tools, safety: f.safety, suite: f.suite, scoring: f.scoring, slices: keys, complete: true}
	if sf.calibrations, err = a.calibrated(f.calibrations, []string{path}); err != nil {
		return nil, err
	}
	cfg := compare.Config{Judge: f.judge, By: keys, Metrics: compared(file.Gates)}
	against := f.baseline != ""
	if against {
		if a.once(path) {
			return nil, usagef("%s can be read once only, and --baseline needs a second reading: write it to a file", path)
		}
		if sf.side, err = compare.New(filepath.Base(path), cfg); err != nil {
			return nil, err
		}
	}
	s, err := a.scoreTraces(ctx, []string{path}, sf)
	if err != nil {
		return nil, err
	}
	a.tellLines(s.problems(), &s.log)
	if s.log.Steps+s.log.Tasks == 0 {
		return nil, a.nothingScored([]string{path})
	}
	h := &held{subject: path, input: gates.Input{Panels: s.panels, Task: "task"}, open: traceOpener(path, f.read())}
	if f.labels != "" {
		if err := a.labelled(s.panels, path, f.labels, sf.calibrations); err != nil {
			return nil, err
		}
	}
	if h.input.Keys, err = a.traceKeys(path, s.panels, keys); err != nil {
		return nil, err
	}
	if against {
		h.baseline = f.baseline
		side := sf.side
		sf.side = nil // what it holds is free once its ledger is made
		if h.input.Comparison, err = a.against(ctx, path, f.baseline, side, s.log.Bad, sf, cfg); err != nil {
			return nil, err
		}
	}
	rep, err := a.decide(ctx, h, file, f)
	if err == nil && s.log.Bad > 0 { // reports are read where the terminal is not seen
		rep.Warnings = append(rep.Warnings, leftOut(&s.log))
	}
	return rep, err
}

// against compares what was read of a trace file, but for unread lines, with a baseline,
// another one or a run.
func (a *app) against(ctx context.Context, path, baseline string, side *compare.Side, unread int64, f scoreFlags, cfg compare.Config) (*panel.Comparison, error) {
	cand, err := a.sideLedger(path, side, unread)
	if err != nil {
		return nil, err
	}
	f.calibrations = nil
	base, err := a.ledger(ctx, baseline, cfg, f)
	if err != nil {
		return nil, err
	}
	return panel.Diff(base, cand, 0), nil
}

// read are the flags that say with what trace files are read, as callvet score has them.
func (f *gateFlags) read() []givenFlag {
	var out []givenFlag
	for _, g := range []givenFlag{{"tools", f.tools}, {"safety", []string{f.safety}}, {"suite", []string{f.suite}}, {"scoring", []string{f.scoring}}, {"labels", []string{f.labels}}, {"calibration", f.calibrations}} {
		if len(g.Values) > 0 && g.Values[0] != "" {
			out = append(out, g)
		}
	}
	return out
}

// traceOpener says where to look in a trace file for what did not pass.
func traceOpener(path string, read []givenFlag) func(context.Context, *gates.Report) error {
	return func(_ context.Context, rep *gates.Report) error {
		for i := range rep.Verdicts {
			v := &rep.Verdicts[i]
			for j := range v.Open {
				if p := &v.Open[j]; p.File == "" && p.Line > 0 {
					p.File = path
				}
			}
			if v.Key != "" && v.Verdict != gate.Pass && v.N > 0 && path != "-" {
				v.Open = append(v.Open, gates.Place{Command: hints{}.text(action{Verb: verbScore, Case: path, With: append(slices.Clip(read), flag1("slice", v.Key))}, nil)})
			}
		}
		return nil
	}
}

// keyAttempts is how many attempts are looked at for the names of slice keys.
const keyAttempts = 10_000

// traceKeys are the slice keys that a trace file has. The panels have tables for
// every key that gates name and any line has; only where one is missing, the first
// attempts are looked at again, to say which keys there are instead.
func (a *app) traceKeys(path string, p *panel.Panels, keys []string) ([]string, error) {
	have := tableKeys(p)
	missing := func(k string) bool { return !slices.Contains(have, k) }
	if len(p.Targets) == 0 || a.once(path) || !slices.ContainsFunc(keys, missing) {
		return have, nil
	}
	if partial, err := a.isPartial(path); err != nil || partial {
		return have, err
	}
	f, err := os.Open(a.path(path))
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, err := foreign.Open(f, foreign.Options{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	by, n := steps.DefaultSlices(), 0
	for at, err := range imp.Attempts() {
		if n++; err != nil || n > keyAttempts {
			break // what is wrong with the file has been told
		}
		have = compare.Keys(have, by, &at)
	}
	return have, nil
}

func tableKeys(p *panel.Panels) []string {
	var out []string
	for i := range p.Targets {
		for _, s := range p.Targets[i].Slices {
			if !slices.Contains(out, s.Key) {
				out = append(out, s.Key)
			}
		}
	}
	return out
}
