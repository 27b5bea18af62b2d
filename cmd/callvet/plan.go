// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/plan"
)

func (a *app) planCommand() *cobra.Command {
	var q plan.Ask
	var from string
	cmd := &cobra.Command{
		Use: "plan --metric NAME --bound X", Short: "Say how many tasks and labels are needed before a gate can decide",
		Long: `Say how many independent tasks, and for a judged metric how many labels, are needed before a gate can pass.
Several calls or attempts of one task are worth less than as many tasks: multiply by the design effect.
A mean amount (cost, tokens, calls by attempt) needs its spread: --sd, or --from with the trace file of a pilot.`,
		Example: `  callvet plan --metric true_success --bound 0.85 --truth 0.90 --judge-sens 0.95 --judge-spec 0.9 --labels 200
  callvet plan --metric cost_per_attempt --bound 0.05 --from pilot.jsonl
  callvet plan --metric safety_incidents --max-rate 0.01`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if cmd.InheritedFlags().Lookup(f.Name) == nil {
					q.Given = append(q.Given, f.Name)
				}
			})
			if from != "" && plan.Amount(q.Metric) {
				if q.Pilot, err = a.pilot(cmd.Context(), from, q.Metric); err != nil {
					return err
				}
			}
			p, err := plan.Make(q)
			if err != nil {
				return usageError{err}
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(p)
			}
			p.Print(a.out)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&q.Metric, "metric", "true_success", "metric of the gate")
	fs.Float64Var(&q.Bound, "bound", 0, "bound of the gate: a rate between 0 and 1, or an amount")
	fs.Float64Var(&q.Truth, "truth", 0, "what the metric may really be (default: of a rate halfway from the bound to the best, with --from the pilot's)")
	fs.Float64Var(&q.Power, "power", 0.8, "chance with which the gate should decide")
	fs.Float64Var(&q.SD, "sd", 0, "of a mean amount: its standard deviation from task to task; with --baseline-diff that of the differences")
	fs.StringVar(&from, "from", "", "of a mean amount: trace file of a pilot, which tells the spread")
	fs.Float64Var(&q.Sens, "judge-sens", 0, "sensitivity of the judge")
	fs.Float64Var(&q.Spec, "judge-spec", 0, "specificity of the judge")
	fs.IntVar(&q.Labels, "labels", 0, "how many labels there will be")
	fs.IntVar(&q.Tasks, "tasks", 1000, "how many tasks the judge will look at")
	fs.Float64Var(&q.Diff, "baseline-diff", 0, "difference to a baseline that should be found")
	fs.Float64Var(&q.Discordant, "discordant", 0, "share of tasks that change between two runs (default: twice the difference)")
	fs.Float64Var(&q.MaxRate, "max-rate", 0, "of incidents: the rate that should be ruled out")
	return cmd
}

// pilot reads the spread of a mean in a trace file. A mean's interval is made of
// tasks, so that its standard error tells how much they differ.
func (a *app) pilot(ctx context.Context, path, metric string) (*plan.Pilot, error) {
	s, err := a.scoreTraces(ctx, []string{path}, scoreFlags{slices: []string{}})
	if err != nil {
		return nil, err
	}
	a.tellLines(s.problems(), &s.log)
	if n := len(s.panels.Targets); n != 1 {
		return nil, usagef("--from %s: a pilot has one target, and this file has %d", path, n)
	}
	m := s.panels.Targets[0].Overall.Metric(metric)
	if m == nil || m.Interval.Clusters < 2 || !(m.Interval.SE >= 0) {
		return nil, fmt.Errorf("plan from %s: fewer than two of its tasks tell %s: %w", path, metric, callvet.ErrInvalid)
	}
	return &plan.Pilot{File: path, Mean: m.Interval.Point, SD: m.Interval.SE * math.Sqrt(float64(m.Interval.Clusters)), Tasks: m.Interval.Clusters}, nil
}
