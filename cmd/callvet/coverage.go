// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report/console"
)

func (a *cli) caseCoverageCommand() *cobra.Command {
	var f suiteFlags
	var q catalogs.CoverageRequest
	cmd := &cobra.Command{
		Use:   "coverage SUITE…",
		Short: "List what no case tests: tools without a golden case, overlapping tools without an ambiguous one",
		Long: `Show what the cases of suites, taken together, test and do not test: tools without a golden case, pairs of tools that
overlap without an ambiguous case that names both, the share of cases that need no tool, and how many cases each tier and
difficulty has. Tools overlap when their texts are alike (--overlap), or when a run confused them (--run). -o writes the
overlap map of Eval Case Interfaces.`,
		Example: "  callvet case coverage evals --tools tools.json\n  callvet case coverage evals --tools tools.json -o overlaps.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s := f.request("")
			q.Suites, q.Format, q.Tools, q.Mocks, q.Seeds, q.Snapshots, q.Embedder, q.Programs = args, s.Format,
				s.Tools, s.Mocks, s.Seeds, s.Snapshots, s.Embedder, s.Programs
			return catalogued(cmd.Context(), a.eventPrinter(false, ""), q, catalogs.MeasureCoverage, console.Coverage)
		},
	}
	fs := cmd.Flags()
	f.register(fs)
	fs.StringVar(&q.Run, "run", "", "run: tools that it confused overlap too")
	fs.Var(shareFlag(&q.Overlap, 0.2), "overlap", "least similarity of the texts of tools that overlap")
	fs.StringVarP(&q.Output, "output", "o", "", "file for the overlap map; it must not exist")
	return cmd
}
