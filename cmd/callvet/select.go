// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/runs"
)

func (a *cli) selectCommand() *cobra.Command {
	var req catalogs.SelectRequest
	var f runFlags
	cmd := &cobra.Command{
		Use:   "select SUITE --tools CATALOGUE | --via URL",
		Short: "Evaluate how routes, agents and tools are chosen over a catalogue",
		Long: `Ask a retriever every question of a suite and judge its decision layer by layer: route, sub-route, agents, tools.

The retriever is callvet's own over a catalogue (--tools), or a service (--via): it is sent POST {"query": …, "k": …} and
answers {"tools": [{"id": …, "score": …}], "route": …, "sub_route": …, "agents": […]} (docs/guides/catalogues.md). With both, the
service is asked and the suite is checked against the catalogue. The run is stored as any other: show, diff, gate and report
work on it. callvet run SUITE -m retrieve:CATALOGUE compares retrievers with models.`,
		Example: "  callvet select suite.json --tools catalogue.json -o report.html\n  callvet select suite.json --tools catalogue.json --preset bigtool\n  callvet select suite.json --via http://localhost:8000/retrieve",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.origin = app.Origin{Command: "select", Flags: given(cmd.Flags())}
			t := a.eventPrinter(f.quiet, (&suiteFlags{tools: req.Tools}).lint(a.hints(), args[0]))
			defer t.tellUsed()
			return a.evaluate(cmd.Context(), &f, func() (_ *runs.Session, err error) {
				if req.Run, err = a.request(args[0], &f, cmd.Flags().Changed); err != nil {
					return nil, err
				}
				return catalogs.StartSelect(cmd.Context(), a.program(), req, t.print)
			})
		},
	}
	fs := cmd.Flags()
	searchFlags(fs, &req.Search)
	fs.StringVar(&req.Via, "via", "", "address of a service that selects tools")
	fs.StringArrayVar(&f.target.headers, "header", nil,
		"'NAME: VALUE' for the service; ${VAR} reads the environment; may be repeated")
	f.asking(fs, 30*time.Second)
	fs.StringArrayVar(&f.filter, "filter", nil,
		"cases to run: pattern for an id or a tag, tag:T, tier:T or FIELD=VALUE")
	fs.StringVar(&f.failedFrom, "failed-from", "", "only the cases that did not pass in that run")
	fs.StringSliceVar(&f.slices, "slice", nil, "slices of the report: tag, tier or field names; * for all fields")
	fs.Var(shareFlag(&f.failUnder, 0), "fail-under",
		"exit with 3 when the interval of the pass rate is below this bound, with 4 when it contains it")
	fs.Var(wholeFlag(&f.maxFailures, 10, -1), "show-failures", "failed cases to explain on the terminal; -1 for all")
	fs.BoolVar(&f.noLint, "no-lint", false,
		"run although lint finds errors")
	cmd.AddCommand(a.queryCommand(), a.sweepCommand(), a.tuneCommand(), a.routesCommand(), a.decisionsCommand())
	return cmd
}

// wordFlags registers the flags for the name, notes and tags of a run.
func (f *runFlags) wordFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.words.Name, "name", "", "name of the run")
	fs.StringVar(&f.words.Notes, "notes", "", "notes about the run, for people")
	fs.StringArrayVar(&f.words.Tags, "run-tag", nil, "tag of the run, for people; may be repeated")
}

// asking registers the common flags of commands that run targets on a catalogue.
func (f *runFlags) asking(fs *pflag.FlagSet, timeout time.Duration) {
	fs.StringArrayVarP(&f.outputs, "output", "o", nil,
		"also write a report: .html .pdf .md .xml .csv .json .jsonl; may be repeated")
	fs.VarP(wholeFlag(&f.repeats, 1, 1), "repeat", "r", "attempts per case")
	fs.VarP(wholeFlag(&f.concurrency, 4, 1), "concurrency", "c", "questions in flight")
	fs.Var(durationFlag(&f.timeout, timeout), "timeout", "time for one question")
	fs.Var(wholeFlag(&f.retries, 3, 0), "retries",
		"further tries after a failure that may pass (after a 429 up to 9 unless this is given)")
	f.wordFlags(fs)
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no tables")
}
