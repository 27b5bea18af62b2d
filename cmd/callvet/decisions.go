// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report"
)

const decisionsLong = `Compare what production selected for each question with what an evaluation selects, the largest differences first.

PRODUCTION has {"query": …, "tools": […]}, in a list or one a line, with route, sub_route and agents if they are known; or it
is a trace file of any form: its decisions, or called tools, are what was selected. The evaluation is a run that asked the
same questions (--run), or a catalogue that is asked now (--tools). Questions are matched by their text.

same: the same tools in the same order; reordered: in another one; contained: all that production selected are among those
of the evaluation; overlap: some are on both sides; disjoint: none is. Where the run's cases say what is right, the first
tools are compared by that, question by question.`

func (a *cli) decisionsCommand() *cobra.Command {
	var q catalogs.DecisionsRequest
	var show int
	cmd := &cobra.Command{
		Use:   "decisions PRODUCTION --run RUN | --tools CATALOGUE",
		Short: "Compare the selections of production with those of an evaluation", Long: decisionsLong,
		Example: "  callvet select decisions production.jsonl --run last\n  callvet select decisions traces.jsonl --tools catalogue.json --preset bigtool",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Production = args[0]
			face := func(w io.Writer, b *catalogs.Agreement) error { return report.Agreement(w, b, show) }
			return catalogued(cmd.Context(), a.eventPrinter(false, ""), q, catalogs.Decisions, face)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&q.Run, "run", "", "run that asked the same questions")
	fs.StringVar(&q.RunTarget, "run-target", "", "target of the run, where it has several")
	fs.Var(wholeFlag(&show, 20, -1), "show", "differing decisions to show; -1 for all")
	searchFlags(fs, &q.Search)
	return cmd
}
