// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report/console"
)

const tuneLong = `Look for weights that find the right tools of a suite more often than those of the preset.

The cases are split by the hash of their right tools: cases of the same right tools are never in both parts. Weights are
looked for on the train part, one number at a time; the outcome is compared with the preset once, on the part held out. Where
the gain there is not beyond chance, the command says so: keep the preset, and do not try other seeds until a gain appears.
With --folds every case is held out once, and the gain is that of the procedure; the weights are those of all cases.`

// tuneCommand searches for weights.
func (a *cli) tuneCommand() *cobra.Command {
	var q catalogs.TuneRequest
	var seed int64
	cmd := &cobra.Command{
		Use:   "tune SUITE --tools CATALOGUE",
		Short: "Search for better weights on one part of a suite, and compare on the other", Long: tuneLong,
		Example: "  callvet select tune suite.json --tools catalogue.json -o weights.json\n  callvet select tune suite.json --tools catalogue.json --folds 5 --goal hit1",
		Args:    cobra.ExactArgs(1),
	}
	fs := cmd.Flags()
	toolsFlag(fs, &q.Tools)
	fs.StringVar(&q.Preset, "preset", "", "preset with the weights that are changed: default or bigtool")
	fs.Var((*depth)(&q.K), "k", "how many tools are given, for the goal pass (default 5; 2 for bigtool)")
	fs.StringVar(&q.Embed, "embed", "", "model that makes vectors, as for select")
	fs.StringVar(&q.Goal, "goal", catalogs.Goals()[0], "what is made larger: "+strings.Join(catalogs.Goals(), ", "))
	fs.Var(innerShareFlag(&q.Holdout, 0.5), "holdout", "share of the sets of right tools that is held out")
	fs.Var(wholeFlag(&q.Folds, 0, 2), "folds", "hold every case out once, in so many folds, instead of --holdout")
	fs.Int64Var(&seed, "seed", 1, "seed of the split")
	fs.Var(wholeFlag(&q.Rounds, 4, 1), "rounds", "how often all weights are gone through, at most")
	fs.StringVarP(&q.Output, "output", "o", "", "file for the weights that are proposed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if q.Suite, q.Seed = args[0], uint64(seed); q.Folds != 0 && !fs.Changed("holdout") {
			q.Holdout = 0
		}
		return catalogued(cmd.Context(), a.eventPrinter(false, ""), q, catalogs.Tune, console.Tuning)
	}
	return cmd
}

// routesCommand is `callvet select routes`.
func (a *cli) routesCommand() *cobra.Command {
	group := &cobra.Command{
		Use: "routes", Short: "Learn routes from labelled questions",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var q catalogs.LearnRequest
	var seed int64
	learn := &cobra.Command{
		Use: "learn EXAMPLES -o MODEL", Short: "Learn routes from examples, for select --routes MODEL",
		Long: `Learn routes from questions: a list, or one a line, of {"query": …, "route": …, "sub_route": …}, where a route of null is for a
question that belongs to none; or a catalogue: its example questions lead to the routes of their tools.

How often the routes are right is measured on every fifth example of each route, with routes that were learned without these;
the file has those of all examples. --test FILE measures them on other questions.`,
		Example: "  callvet select routes learn examples.jsonl -o routes.json\n  callvet select suite.json --tools catalogue.json --routes routes.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Examples, q.Seed = args[0], uint64(seed)
			return catalogued(cmd.Context(), a.eventPrinter(false, ""), q, catalogs.Learn, console.Lesson)
		},
	}
	fs := learn.Flags()
	fs.StringVarP(&q.Output, "output", "o", "", "file for the routes")
	fs.StringVar(&q.Test, "test", "", "file with other questions to measure on")
	fs.Var(innerShareFlag(&q.Refuse, 0.05), "refuse",
		"share of right routes that may be lost by refusing questions that belong to none")
	fs.Int64Var(&seed, "seed", 1, "seed of the order of examples")
	group.AddCommand(learn)
	return group
}
