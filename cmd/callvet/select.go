// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/retrieve"
)

// selectFlags say what is searched and how.
type selectFlags struct {
	tools, via, weights string
	settings            selector.Settings
}

func (f *selectFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.tools, "tools", "", "catalogue of tools (docs/SELECTION.md)")
	fs.StringVar(&f.settings.Preset, "preset", "", "how tools are scored: default or bigtool")
	fs.IntVar(&f.settings.K, "k", 0, "how many tools are given (default 5; 2 for bigtool)")
	fs.Float64Var(&f.settings.Threshold, "threshold", 0, "score under which a tool is not given")
	fs.StringVar(&f.settings.Routes, "routes", "", "file with rules of routes, or none (default: callvet's own)")
	fs.StringVar(&f.weights, "weights", "", "JSON file with the weights of layers and of retrieval")
}

// read opens a file that the user named.
func (a *app) read(name string) ([]byte, error) { return os.ReadFile(a.path(name)) }

// ready reads the weights and gives those of the composite.
func (a *app) ready(f *selectFlags) (*callvet.SelectionScoring, error) {
	if f.weights == "" {
		return nil, nil
	}
	b, err := a.read(f.weights)
	if err != nil {
		return nil, fmt.Errorf("read weights: %w", err)
	}
	composite, retrieval, err := selector.ReadWeights(b)
	f.settings.Weights = retrieval
	return composite, err
}

func (a *app) selectCommand() *cobra.Command {
	var sf selectFlags
	var f runFlags
	cmd := &cobra.Command{
		Use:   "select SUITE --tools CATALOGUE | --via URL",
		Short: "Evaluate how routes, agents and tools are chosen over a catalogue",
		Long: `Ask a retriever every question of a suite and judge its decision layer by layer: route, sub-route, agents, tools.

The retriever is callvet's own over a catalogue (--tools), or a service (--via): it is sent POST {"query": …, "k": …} and
answers {"tools": [{"id": …, "score": …}], "route": …, "sub_route": …, "agents": […]} (docs/SELECTION.md). With both, the
service is asked and the suite is held against the catalogue. The run is stored as any other: show, diff, gate and report
work on it. callvet run SUITE -m retrieve:CATALOGUE sets retrievers beside models.`,
		Example: "  callvet select suite.json --tools catalogue.json -o report.html\n  callvet select suite.json --tools catalogue.json --preset bigtool\n  callvet select suite.json --via http://localhost:8000/retrieve",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.selecting(&sf, &f); err != nil {
				return err
			}
			return a.evaluate(cmd.Context(), args[0], f, cmd.Flags().Changed)
		},
	}
	fs := cmd.Flags()
	sf.register(fs)
	fs.StringVar(&sf.via, "via", "", "address of a service that selects tools")
	fs.StringArrayVar(&f.target.headers, "header", nil, "'NAME: VALUE' for the service; ${VAR} reads the environment; may be repeated")
	fs.StringArrayVarP(&f.outputs, "output", "o", nil, "also write a report: .html .md .xml .csv .json .jsonl; may be repeated")
	fs.StringArrayVar(&f.filter, "filter", nil, "cases to run: pattern for an id or a tag, tag:T, tier:T or FIELD=VALUE")
	fs.StringSliceVar(&f.slices, "slice", nil, "slices of the report: tag, tier or field names; * for all fields")
	fs.IntVarP(&f.repeats, "repeat", "r", 1, "attempts per case")
	fs.IntVarP(&f.concurrency, "concurrency", "c", 4, "questions in flight")
	fs.DurationVar(&f.timeout, "timeout", 30*time.Second, "time for one question")
	fs.IntVar(&f.retries, "retries", 3, "further tries after a failure that may pass")
	fs.StringVar(&f.name, "name", "", "name of the run")
	fs.Float64Var(&f.failUnder, "fail-under", 0, "exit with 3 when the pass rate's interval lies under this bound, 4 when it straddles it")
	fs.IntVar(&f.maxFailures, "show-failures", 10, "failed cases to explain on the terminal; -1 for all")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no tables")
	fs.BoolVar(&f.noLint, "no-lint", false, "run although lint finds errors, such as tools that the catalogue does not have")
	cmd.AddCommand(a.selectQueryCommand(), a.selectSweepCommand())
	return cmd
}

// selecting turns the flags into those of a run.
func (a *app) selecting(sf *selectFlags, f *runFlags) error {
	if sf.tools == "" && sf.via == "" {
		return usagef("what is searched? --tools CATALOGUE, or --via URL")
	}
	composite, err := a.ready(sf)
	if err != nil {
		return err
	}
	if sf.tools != "" {
		c, problems, err := selector.Load(sf.tools, a.read)
		if err != nil {
			return err
		}
		a.tell(problems, a.verbose)
		for i := range c.Entries {
			f.suite.catalogue = append(f.suite.catalogue, c.Entries[i].Tool)
		}
	}
	k := sf.settings.Depth()
	f.targets = []string{sf.settings.Target(sf.tools)}
	if sf.via != "" {
		f.targets = []string{"retrieve:" + sf.via}
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

func (a *app) selectQueryCommand() *cobra.Command {
	var sf selectFlags
	var expect []string
	cmd := &cobra.Command{
		Use: "query TEXT --tools CATALOGUE", Short: "Ask one question and tell every score",
		Example: "  callvet select query \"Finns det några trafikstörningar på E4?\" --tools catalogue.json --expect trafikverket_trafikinfo_storningar",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if sf.tools == "" {
				return usagef("what is searched? --tools CATALOGUE")
			}
			if _, err := a.ready(&sf); err != nil {
				return err
			}
			r, _, err := selector.Open(cmd.Context(), sf.tools, sf.settings, a.read, a.now)
			if err != nil {
				return err
			}
			answer, err := selector.Query(cmd.Context(), r, args[0], expect, sf.settings.Depth())
			if err != nil {
				return err
			}
			if a.jsonOut {
				return answer.JSON(a.out)
			}
			return answer.Text(a.out)
		},
	}
	sf.register(cmd.Flags())
	cmd.Flags().StringSliceVar(&expect, "expect", nil, "tool that is right; may be repeated")
	return cmd
}

// section is what the decisions of a run say; nil without any.
func (l *loaded) section(ctx context.Context, db *store.DB, p *panel.Panels, op *opener) (*routing.Section, error) {
	if !slices.ContainsFunc(l.man.Targets, func(t callvet.Target) bool { return t.Selects }) {
		return nil, nil
	}
	var c routing.Collector
	for r, err := range l.rows(ctx, db, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		c.Add(r.Case, r.Cell)
	}
	s := c.Section(p)
	if s != nil && op != nil {
		selector.Explain(ctx, s, op.retrievers)
	}
	return s, nil
}

// searches tells whether targets are catalogues that can be opened again.
func searches(specs []targetSpec) bool {
	return slices.ContainsFunc(specs, func(s targetSpec) bool {
		return strings.HasPrefix(s.Target, "retrieve:") && !strings.HasPrefix(s.Target, "retrieve:http")
	})
}

// catalogueOf reads a catalogue for the commands about catalogues.
func (a *app) catalogueOf(name string) (*retrieve.Catalogue, []callvet.Problem, error) {
	return selector.Load(name, a.read)
}
