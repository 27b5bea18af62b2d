// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

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
	sf := scoreFlags{tools: f.tools, safety: f.safety, suite: f.suite, slices: keys, complete: true}
	if sf.calibrations, err = a.calibrated(f.calibrations, []string{path}); err != nil {
		return nil, err
	}
	if f.baseline != "" && compares(file.Gates) && a.once(path) {
		return nil, usagef("%s can be read once only, and --baseline needs a second reading: write it to a file", path)
	}
	s, err := a.scoreTraces(ctx, []string{path}, sf)
	if err != nil {
		return nil, err
	}
	a.tellLog(s)
	h := &held{subject: path, input: gates.Input{Panels: s.panels, Task: "task"}}
	if h.input.Keys, err = a.traceKeys(ctx, path, s.panels, sf); err != nil {
		return nil, err
	}
	if f.baseline != "" && compares(file.Gates) {
		if h.input.Comparison, err = a.difference(ctx, f.baseline, path, f.judge, keys); err != nil {
			return nil, err
		}
		h.baseline = f.baseline
	} else if f.baseline != "" {
		fmt.Fprintf(a.err, "note: no gate is against a baseline: %s was not read\n", f.baseline)
	}
	h.open = func(_ context.Context, rep *gates.Report) error {
		for i := range rep.Verdicts {
			v := &rep.Verdicts[i]
			for j := range v.Open {
				if p := &v.Open[j]; p.File == "" && p.Line > 0 {
					p.File = path
				}
			}
			if v.Key != "" && v.Verdict != gate.Pass && v.N > 0 && path != "-" {
				v.Open = append(v.Open, gates.Place{Command: "callvet score " + shellQuote(path) + " --slice " + shellQuote(v.Key)})
			}
		}
		return nil
	}
	return a.decide(ctx, h, file, f)
}

// traceKeys are the slice keys that a trace file has, which a second reading
// tells where the panels lack one that a gate names.
func (a *app) traceKeys(ctx context.Context, path string, p *panel.Panels, f scoreFlags) ([]string, error) {
	have, keys := tableKeys(p), f.slices
	missing := func(k string) bool { return !slices.Contains(have, k) }
	if len(p.Targets) == 0 || a.once(path) || !slices.ContainsFunc(keys, missing) {
		return have, nil
	}
	quiet := *a // the first reading has told what there is to tell
	quiet.err = io.Discard
	all, err := quiet.scoreTraces(ctx, []string{path}, scoreFlags{tools: f.tools, suite: f.suite, slices: append(steps.DefaultSlices(), "*"), complete: true})
	if err != nil {
		return nil, err
	}
	return append(have, tableKeys(all.panels)...), nil
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
