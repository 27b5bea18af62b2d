// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/query"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/cmd/callvet/sources"
	"github.com/callvet/callvet/cmd/callvet/teach"
	"github.com/callvet/callvet/internal/file"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/toolfile"
	"github.com/callvet/callvet/internal/trace/redact"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/retrieve/catalogue"
	judge "github.com/callvet/callvet/score/selection"
)

// read opens a file that the user named.
// read reads a file; the error of a folder lists the files in it that can be of tools.
func (a *app) read(name string) ([]byte, error) {
	if info, err := os.Stat(a.path(name)); err == nil && info.IsDir() {
		files, err := toolfile.Files(a.path(name), a.outside)
		if err != nil {
			return nil, err
		}
		dir := &selector.Folder{Name: name}
		for _, f := range files {
			dir.Names = append(dir.Names, filepath.Join(name, filepath.Base(f)))
		}
		return nil, dir
	}
	return input.File(a.path(name), catalogue.MaxBytes)
}

func (a *app) models() *selector.Models {
	return &selector.Models{Getenv: a.getenv, Now: a.now, Path: a.path, Warn: a.err}
}

// catalogues is what the commands over catalogues need.
func (a *app) catalogues() selector.Env {
	return selector.Env{
		Read: a.read, Now: a.now, Out: a.out, JSON: func() bool { return a.jsonOut }, Observed: a.observed, Failed: func() { a.exitStatus = exitUsage }, Missed: func() { a.exitStatus = exitGateFailed },
		Models:   a.models,
		Existing: func(name string) ([]byte, bool, error) { return file.Existing(a.path(name)) },
		Write: func(ctx context.Context, name string, data []byte) error {
			return file.Write(ctx, a.path(name), func(w io.Writer) error {
				_, err := w.Write(data)
				return err
			})
		},
		Suite: func(ctx context.Context, path string, tools []callvet.Tool) (*callvet.Suite, error) {
			read, problems, err := a.openSuite(ctx, path, suiteFlags{catalogue: tools, catalogueFile: "catalogue"})
			if err != nil {
				a.tell(problems, false)
				return nil, err
			}
			s := *read.Suite
			for c := range read.Cases(ctx) {
				s.Cases = append(s.Cases, *c)
			}
			return &s, nil
		},
		Asking: a.asking,
	}
}

func (a *app) selectCommand() *cobra.Command {
	var sf selector.Flags
	var f runFlags
	var via string
	cmd := &cobra.Command{
		Use:   "select SUITE --tools CATALOGUE | --via URL",
		Short: "Evaluate how routes, agents and tools are chosen over a catalogue",
		Long: `Ask a retriever every question of a suite and judge its decision layer by layer: route, sub-route, agents, tools.

The retriever is callvet's own over a catalogue (--tools), or a service (--via): it is sent POST {"query": …, "k": …} and
answers {"tools": [{"id": …, "score": …}], "route": …, "sub_route": …, "agents": […]} (docs/SELECTION.md). With both, the
service is asked and the suite is checked against the catalogue. The run is stored as any other: show, diff, gate and report
work on it. callvet run SUITE -m retrieve:CATALOGUE sets retrievers beside models.`,
		Example: "  callvet select suite.json --tools catalogue.json -o report.html\n  callvet select suite.json --tools catalogue.json --preset bigtool\n  callvet select suite.json --via http://localhost:8000/retrieve",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env := a.catalogues()
			if via == "" {
				if err := sf.Calibrate(cmd.Context(), &env, a.err, args[0]); err != nil {
					return err
				}
			}
			if err := a.selecting(&sf, via, args[0], &f); err != nil {
				return err
			}
			if via == "" {
				if err := sf.Caution(cmd.Context(), &env, a.err, args[0]); err != nil {
					return err
				}
			}
			f.command, f.flags = "select", given(cmd.Flags())
			return a.evaluate(cmd.Context(), args[0], f, cmd.Flags().Changed)
		},
	}
	fs := cmd.Flags()
	sf.Register(fs)
	fs.StringVar(&via, "via", "", "address of a service that selects tools")
	fs.StringArrayVar(&f.target.headers, "header", nil, "'NAME: VALUE' for the service; ${VAR} reads the environment; may be repeated")
	f.asking(fs, 30*time.Second)
	fs.StringArrayVar(&f.filter, "filter", nil, "cases to run: pattern for an id or a tag, tag:T, tier:T or FIELD=VALUE")
	fs.StringVar(&f.failedFrom, "failed-from", "", "only the cases that did not pass in that run")
	fs.StringSliceVar(&f.slices, "slice", nil, "slices of the report: tag, tier or field names; * for all fields")
	fs.Var(ranged.Share(&f.failUnder, 0), "fail-under", "exit with 3 when the whole interval of the pass rate is below this bound, with 4 when the bound is inside it")
	fs.Var(ranged.Int(&f.maxFailures, 10, -1), "show-failures", "failed cases to explain on the terminal; -1 for all")
	fs.BoolVar(&f.noLint, "no-lint", false, "run although lint finds errors, such as tools that the catalogue does not have")
	cmd.AddCommand(query.Command(a.catalogues()), selector.SweepCommand(a.catalogues()), selector.TuneCommand(a.catalogues()), teach.Command(a.catalogues()))
	return cmd
}

// asking registers the flags that all commands have that ask targets about a catalogue.
func (f *runFlags) asking(fs *pflag.FlagSet, timeout time.Duration) {
	fs.StringArrayVarP(&f.outputs, "output", "o", nil, "also write a report: .html .md .xml .csv .json .jsonl; may be repeated")
	fs.VarP(ranged.Int(&f.repeats, 1, 1), "repeat", "r", "attempts per case")
	fs.VarP(ranged.Int(&f.concurrency, 4, 1), "concurrency", "c", "questions in flight")
	fs.Var(ranged.Duration(&f.timeout, timeout), "timeout", "time for one question")
	fs.Var(ranged.Int(&f.retries, 3, 0), "retries", "further tries after a failure that may pass (after a 429 up to 9 unless this is given)")
	fs.StringVar(&f.name, "name", "", "name of the run")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no tables")
}

// asking lets select sweep ask models.
func (a *app) asking(fs *pflag.FlagSet) selector.Asking {
	f := runFlags{}
	f.asking(fs, 2*time.Minute)
	f.target.register(fs)
	fs.StringArrayVarP(&f.targets, "model", "m", nil, "model that chooses among the tools given; may be repeated")
	fs.Var(ranged.Positive(&f.maxCost, 0), "max-cost", "stop before spending more than this many USD")
	fs.BoolVar(&f.noCache, "no-cache", false, "do not reuse answers of earlier runs to the very same question")
	fs.StringVar(&f.resume, "resume", "", "go on with an interrupted run (id, name or last) and tell its curve")
	changed := func(name string) bool { return name != "seed" && fs.Changed(name) } // that seed is the draws'
	spent, dearest := 0.0, 0.0
	return selector.Asking{
		Models: func() bool { return len(f.targets) > 0 },
		Run: func(ctx context.Context, path string, s *callvet.Suite, tell func(*report.View) error) error {
			if slices.ContainsFunc(f.targets, func(t string) bool { return strings.HasPrefix(t, "retrieve:") }) {
				return usagef("--model asks those who choose among tools; the retriever is that of --preset, --k or one --weights")
			}
			if f.maxCost > 0 && spent > 0 && f.maxCost-spent < dearest {
				return fmt.Errorf("%.6g of %.6g USD were spent and another request may cost %.6g: %w", spent, f.maxCost, dearest, callvet.ErrBudget)
			}
			one := f
			one.made, one.told, one.maxCost = s, tell, max(0, f.maxCost-spent)
			return a.evaluate(ctx, path, one, changed)
		},
		Progress: func() *report.Progress {
			live := &report.Progress{W: io.Discard, TTY: true, Width: a.width, Now: a.now}
			if a.errTTY && !f.quiet {
				live.W = a.err
			}
			return live
		},
		Spent: func(usd, most float64) { spent, dearest = spent+usd, max(dearest, most) },
		Resume: func(ctx context.Context, tell func(*report.View) error) (bool, error) {
			if f.told = tell; f.resume == "" {
				return false, nil
			}
			return true, a.evaluate(ctx, "", f, changed)
		},
	}
}

// selecting turns the flags into those of a run.
func (a *app) selecting(sf *selector.Flags, via, suite string, f *runFlags) error {
	if sf.Tools == "" && via == "" {
		return usagef("what is searched? --tools CATALOGUE, or --via URL")
	}
	composite, err := sf.Ready(a.read)
	if err != nil {
		return err
	}
	told := a.err
	if via != "" { // how a service finds tools is its own matter
		told = io.Discard
	}
	if err := sf.FromSuite(suite, a.read, told); err != nil {
		return err
	}
	if via != "" {
		if err := sf.Service(via); err != nil {
			return err
		}
	}
	if sf.Tools != "" {
		c, problems, err := selector.Load(sf.Tools, a.read)
		if err != nil {
			return err
		}
		a.tell(problems, a.verbose)
		f.suite.catalogue, f.suite.catalogueFile = selector.Tools(c), sf.Tools
	}
	k := sf.Settings.Depth()
	f.targets = []string{sf.Settings.Target(sf.Tools)}
	if via != "" {
		f.targets = []string{"retrieve:" + via}
		f.target.agent = []string{fmt.Sprintf("k=%d", k)}
	}
	f.adjust = func(s *callvet.Suite) {
		set := s.Defaults.Scoring.Selection
		if composite != nil {
			set = composite
		}
		with := callvet.SelectionScoring{}
		if set != nil {
			with = *set
		}
		if with.K == nil {
			with.K = selector.Depths(k)
		}
		s.Defaults.Scoring.Selection = &with
	}
	return nil
}

// section is what the decisions of a run say; nil without any. why tells what keeps
// its catalogues from being asked for reasons.
func (l *loaded) section(ctx context.Context, db *store.DB, p *panel.Panels, op *opener, why string, red *redact.Redactor) (*routing.Section, error) {
	if !slices.ContainsFunc(l.man.Targets, func(t callvet.Target) bool { return t.Selects }) {
		return nil, nil
	}
	set, _ := judge.SettingsOf(l.suite.Defaults.Scoring.Selection) // what is wrong with it was told before the run
	c := routing.Collector{Known: sources.Known(l.man.Targets, l.suite.Tools), Weights: routing.Weigh(set)}
	for r, err := range l.rows(ctx, db, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		c.Add(r.Case, r.Cell)
	}
	s := c.Section(p)
	if s == nil {
		return nil, nil
	}
	if op != nil {
		selector.Explain(ctx, s, op.retrievers, op.stored)
	}
	for i := range s.Targets {
		for j := range s.Targets[i].Failed { // which are explained with what was asked, and not with what is shown
			f := &s.Targets[i].Failed[j]
			red.Begin()
			f.Query, f.Reason, f.Routed = red.Text(f.Query), red.Text(f.Reason), red.Text(f.Routed)
			for k := range f.Diagnose {
				for n, why := range f.Diagnose[k].Reasons {
					f.Diagnose[k].Reasons[n] = red.Text(why)
				}
			}
		}
		if t := &s.Targets[i]; l.man.Targets[t.Target].Provider == "retrieve" && t.Failures > 0 && why != "" {
			t.Unexplained = why
		}
	}
	return s, nil
}

// observed is the confusion of all targets of a run together; never nil.
func (a *app) observed(ctx context.Context, ref string) (out []panel.Confused, err error) {
	db, l, err := a.openStored(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := l.panels(ctx, db, nil)
	if err != nil {
		return nil, err
	}
	out = []panel.Confused{}
	for i := range p.Targets {
		out = append(out, p.Targets[i].Confusion...)
	}
	return out, nil
}
