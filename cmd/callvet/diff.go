// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report"
)

func (a *cli) diffCommand() *cobra.Command {
	var req traces.DiffRequest
	var unchanged bool
	cmd := &cobra.Command{
		Use:   "diff BASELINE [CANDIDATE]",
		Short: "Compare two runs or trace files, case by case, with intervals",
		Long: `Compare two runs, or two trace files, case by case. Each side is a run or, where it names a file, a trace file:
callvet's lines or any form that trace import reads. Attempts of trace files are paired by task, and their targets by
name; the verdict is that of the source's own checks, or of a judge (--judge). With --base-target every target of the
candidate is compared with that one; without a candidate, the other targets of the same run or file are.`,
		Example: "  callvet diff last~1 last\n  callvet diff before.jsonl after.jsonl --slice domain\n  callvet diff last --base-target openai/gpt-5-mini",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.Base = a.side(args[0]); len(args) == 2 {
				req.Candidate = a.side(args[1])
			} else if req.BaseTarget == "" {
				return usagef(
					"compare it with what? callvet diff BASELINE CANDIDATE, or --base-target TARGET for the targets of one run")
			}
			if unchanged {
				req.Unchanged = math.MaxInt
			}
			c, err := traces.Diff(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			switch {
			case c.Failed:
				a.exitStatus = exitGateFailed
			case c.Undecided != "":
				a.exitStatus = exitInconclusive
			}
			if a.jsonOut {
				return report.ComparisonJSON(a.out, c)
			}
			return report.Comparison(a.out, c, report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY)})
		},
	}
	cmd.Flags().StringSliceVar(&req.Slices, "slice", nil, "slices to compare: tag, tier or field names")
	cmd.Flags().StringSliceVar(&req.Metrics, "metrics", nil,
		"further metrics to compare, such as overall or latency_mean")
	cmd.Flags().StringVarP(&req.Target, "model", "m", "",
		"target of the baseline for targets of the candidate without a namesake")
	cmd.Flags().StringVar(&req.BaseTarget, "base-target", "",
		"target of the baseline to compare all targets with")
	cmd.Flags().StringVar(&req.CandidateTarget, "candidate-target", "",
		"the only target of the candidate that is compared")
	cmd.Flags().StringVar(&req.FailOn, "fail-on", "",
		"worse or newly-failing: exit with 3 where that is so, with 4 where it is not known")
	cmd.Flags().BoolVar(&req.Unpaired, "unpaired", false,
		"compare all cases of both sides without pairing, as where no id is common")
	cmd.Flags().StringVar((*string)(&req.Population), "population", "",
		"tasks: tasks like these (default); suite: fixed tasks, with two attempts at each on both sides")
	cmd.Flags().BoolVar(&unchanged, "unchanged", false, "also list the cases that did not change")
	cmd.Flags().StringVar(&req.Judge, "judge", "",
		"of trace files: judge to compare, in place of the source's own checks")
	return cmd
}

func (a *cli) reportCommand() *cobra.Command {
	var outputs, slices, keep []string
	var baseline, format, address string
	var all bool
	var eval app.EvalSuiteRequest
	cmd := &cobra.Command{
		Use:     "report RUN [-o FILE]",
		Short:   "Print a report of a run, or write it: .html .pdf .md .xml .csv .json .jsonl .txt",
		Example: "  callvet report last\n  callvet report last -o report.html -o junit.xml\n  callvet report last --baseline main -o comment.md",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if address != "" {
				if err := unsent(cmd.LocalNonPersistentFlags(), "remote", "output"); err != nil {
					return err
				}
				return a.remoteReports(ctx, address, args[0], outputs)
			}
			if format != "" {
				eval.Run, eval.Baseline, eval.Keep = args[0], baseline, keep
				return a.evalSuite(ctx, format, eval, outputs)
			}
			if eval.Target != "" || eval.Tier != "" || eval.Gates != "" {
				return usagef("--model, --tier and --gates are for --format evalsuite")
			}
			if all && len(outputs) > 0 {
				return usagef("--all is for standard output: a file has every measure")
			}
			view, err := runs.View(ctx, a.program(),
				results.ViewRequest{Run: args[0], Slices: slices, Keep: keep, Baseline: a.side(baseline)}, a.events())
			if err != nil {
				return err
			}
			v := a.view(view)
			if len(outputs) == 0 {
				return a.printReport(v, all)
			}
			for _, o := range outputs {
				if err := a.program().WriteReport(ctx, v, o); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil,
		"file to write; its extension is the format; may be repeated (default: a text on standard output)")
	cmd.Flags().BoolVar(&all, "all", false,
		"show every measure, not only the ten most important")
	cmd.Flags().StringSliceVar(&slices, "slice", nil,
		"slices of the report: tag, tier or field names; * for all fields")
	cmd.Flags().StringVar(&baseline, "baseline", "", "run or trace file to compare with")
	cmd.Flags().StringVar(&address, "remote", "", "address of the callvet server that has the run (callvet login URL)")
	cmd.Flags().StringVar(&format, "format", "",
		"evalsuite: the EvalSuiteResult of Eval Case Interfaces, on standard output without -o")
	cmd.Flags().StringVar(&eval.Gates, "gates", "", "with --format evalsuite: gate file with the quarantine to report")
	cmd.Flags().StringVarP(&eval.Target, "model", "m", "", "with --format evalsuite: of this target only")
	cmd.Flags().StringVar((*string)(&eval.Tier), "tier", "", "with --format evalsuite: of this tier only")
	cmd.Flags().StringSliceVar(&keep, "keep", nil, "kinds of personal data that are shown: email, phone, …")
	return cmd
}

// printReport prints the report of a run on standard output.
func (a *cli) printReport(v *report.View, all bool) error {
	if a.jsonOut {
		return report.JSON(a.out, v)
	}
	return report.Terminal(a.out, v, report.TerminalOptions{
		Width: a.width, Color: a.color(a.outTTY), Verbose: a.verbose,
		Measures: true, All: all,
	})
}
