// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report"
)

func (a *cli) planCommand() *cobra.Command {
	q := traces.UsualPlan()
	cmd := &cobra.Command{
		Use: "plan (--metric NAME --bound X | --gates FILE)", Short: "Compute how many tasks and labels a gate needs to decide",
		Long: `Say how many tasks, attempts at each, and for a judged metric how many labels, are needed before a gate decides.
At these numbers the gate itself, tried on simulated tasks, decides with the chance --power.
A mean amount (cost, tokens, calls by attempt) needs its spread: --sd, or --from with a pilot.
A difference to a baseline needs the share of tasks that change by chance: --discordant, or --from a run with several attempts at each task.
A gate for one look has a fixed number of tasks. With --looks any it is also planned for a look after each task: how many tasks that takes on average and at most.`,
		Example: `  callvet plan --metric true_success --bound 0.85 --truth 0.90 --judge-sens 0.95 --judge-spec 0.9 --labels 200
  callvet plan --metric cost_per_attempt --bound 0.05 --from pilot.jsonl
  callvet plan --metric pass_rate --baseline-diff 0.05 --from last
  callvet plan --metric pass_rate --bound 0.85 --truth 0.92 --looks any
  callvet plan --gates gates.yaml --truth 0.95
  callvet plan --metric safety_incidents --max-rate 0.01`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if cmd.InheritedFlags().Lookup(f.Name) == nil {
					q.Given = append(q.Given, strings.ReplaceAll(f.Name, "-", "_"))
				}
			})
			p, err := traces.Plan(cmd.Context(), a.program(), q, a.events())
			if err != nil {
				return err
			}
			return emit(a, p, report.Plan)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&q.Metric, "metric", q.Metric, "metric of the gate")
	fs.Float64Var(&q.Bound, "bound", 0, "bound of the gate: a rate between 0 and 1, or an amount")
	fs.Float64Var(&q.Truth, "truth", 0,
		"true value of the metric, or of the baseline with --baseline-diff "+
			"(default: that of --from, or halfway from the bound to the best rate; "+
			"with --gates, rates where less is better are taken as 1 minus it)")
	fs.Float64Var(&q.Power, "power", q.Power, "chance that the gate decides")
	fs.IntVar(&q.MinUnits, "min-n", q.MinUnits, "min_n of the gate: the least number of tasks")
	fs.Float64Var(&q.SD, "sd", 0,
		"standard deviation of a mean amount between tasks; with --baseline-diff of the differences, "+
			"as a share of the baseline's mean")
	fs.StringVar(&q.From, "from", "",
		"run or trace file of a pilot, for rate, spread and correlation")
	fs.Float64Var(&q.Sens, "judge-sens", 0, "sensitivity of the judge")
	fs.Float64Var(&q.Spec, "judge-spec", 0, "specificity of the judge")
	fs.IntVar(&q.Labels, "labels", 0, "how many labels there will be")
	fs.IntVar(&q.Tasks, "tasks", q.Tasks, "how many tasks the judge will look at")
	fs.IntSliceVar(&q.Attempts, "attempts", nil, "numbers of attempts at each task to plan with (default 1,3,5)")
	fs.Float64Var(&q.Correlation, "correlation", 0,
		"correlation of the attempts at a task (default: that of --from, or 0.3)")
	fs.BoolVar(&q.Measured, "measured", false,
		"plan for a gate with correlation: measured, by runs before that of --from")
	fs.Float64Var(&q.Diff, "baseline-diff", 0,
		"loss against a baseline to find: of a rate, or a share of a mean amount")
	fs.Float64Var(&q.Discordant, "discordant", 0,
		"share of tasks that change between two runs by chance, one attempt each (default: that of --from)")
	fs.Float64Var(&q.Margin, "margin", q.Margin, "loss against a baseline that the gate allows")
	fs.Float64Var(&q.MaxRate, "max-rate", 0, "of incidents: the rate that should be ruled out")
	fs.StringVar(&q.Looks, "looks", "",
		"once, or any: also plan a gate that is looked at after each task, and compare the two")
	fs.StringVar(&q.Gates, "gates", "", "gate file: plan each of its gates, by both designs")
	return cmd
}
