// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report/console"
)

func (a *cli) varianceCommand() *cobra.Command {
	var req traces.VarianceRequest
	var label float64
	cmd := &cobra.Command{
		Use:   "variance RUN…",
		Short: "Show whether tasks, target, tools or judge make verdicts differ, and what to measure next",
		Long: `Split the variance of the verdicts of repeated cases by its sources:

  tasks    some tasks are harder than others
  target   the target does not do the same at each attempt
  tools    real tools do not answer the same each time: runs with real tools next to runs where mocks or recordings answered
  judge    the judge (--judge) does not decide the same each time: several samples, or several judgings

Each source has its share of the variance of one verdict, and of the variance of the mean, with a 95 % interval. A source
that the runs do not show is unknown, and not 0. Runs have the same suite and the same targets. Attempts that repeat an
earlier answer (cached, recorded, scripted) are facts, which do not vary.

Further measurements follow, with the standard error of the mean and their cost: twice the tasks, the attempts or the
judge's samples, or a person's label on each attempt in place of the judge. The first brings most for its cost. Samples
are averaged here; the majority of a judging varies more than their average, and less than one sample.`,
		Example: `  callvet variance last
  callvet variance mocked live --judge task --label-cost 0.50`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Runs = args; cmd.Flags().Changed("label-cost") {
				req.LabelCost = &label
			}
			v, err := traces.Variance(cmd.Context(), a.program(), req)
			if err != nil {
				return err
			}
			return emit(a, v, func(w io.Writer, v *traces.VarianceReport) error { return console.Variance(w, v, a.hints()) })
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&req.Judge, "judge", "", "name or ID of the judge with the verdicts (default: callvet's own verdicts)")
	fs.StringVarP(&req.Target, "model", "m", "", "the only target (default: all)")
	fs.Float64Var(&label, "label-cost", 0, "cost of a person's label on an attempt, in dollars (default: not known)")
	return cmd
}
