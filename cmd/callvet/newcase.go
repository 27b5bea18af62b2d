// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/report/console"
)

func newCaseFlags(fs *pflag.FlagSet, q *cases.NewCaseSettings) {
	fs.StringVar(&q.Bug, "bug", "", "issue, or commit of the fix (required for regression cases)")
	fs.StringVarP(&q.Output, "output", "o", "", "file that the case is added to (default TOOL.TIER.json)")
	fs.StringVar(&q.Tool, "tool", "", "tool of the case (default: the first expected, or else called)")
	fs.StringVar(&q.Description, "description", "",
		"purpose of the case, or the bug (default: from the attempt)")
}

func expectationFlags(fs *pflag.FlagSet, q *cases.NewCaseExpectation) {
	fs.StringVar((*string)(&q.Tier), "tier", "", "golden, labeled or regression (required)")
	fs.StringVar(&q.Difficulty, "difficulty", "", "of a labeled case: straightforward, ambiguous, edge or adversarial")
	fs.StringSliceVar(&q.Expect, "expect", nil, "tool that is to be called, and no other; may be repeated")
	fs.StringArrayVar(&q.Accept, "accept", nil,
		"set of tools that is right, with commas between; may be repeated; "+callvet.NoTools+" is no tool at all")
	fs.StringVar(&q.Tools, "tools", "",
		"folder or file with the tools, recorded for callvet stale; expected tools must be among them")
}

func keepFlag(fs *pflag.FlagSet, keep *[]string) {
	fs.StringSliceVar(keep, "keep", nil, "kind of personal data that is not redacted; may be repeated")
}

func (a *cli) caseNewCommand() *cobra.Command {
	var q cases.NewCaseRequest
	cmd := &cobra.Command{
		Use: "new --tier TIER --prompt TEXT --expect TOOL", Short: "Make a case from a prompt, with the next free id",
		Long: `Make a golden, labeled or regression case of a prompt and add it to TOOL.TIER.json, with the next free id and its
entry in the lock. Stubs and what the answer has to hold are added to the file by hand; a regression case is locked for good
as soon as it is made, so that one with more in it is written by hand and added with callvet case add.`,
		Example: "  callvet case new --tier labeled --difficulty ambiguous --prompt 'Do I need an umbrella?' --accept get_weather --accept get_forecast --tools tools.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := cases.MakeCase(cmd.Context(), a.program(), q, a.events())
			if err != nil {
				return err
			}
			return emit(a, out, console.NewCase)
		},
	}
	cmd.Flags().StringVar(&q.Prompt, "prompt", "", "what the user says (required)")
	expectationFlags(cmd.Flags(), &q.NewCaseExpectation)
	newCaseFlags(cmd.Flags(), &q.NewCaseSettings)
	return cmd
}

func (a *cli) caseFromTraceCommand() *cobra.Command {
	var q cases.FromTraceRequest
	cmd := &cobra.Command{
		Use: "from-trace TRACES TASK --tier TIER", Short: "Make a case from a task in a trace file",
		Long: `Make a golden, labeled or regression case of a task in a trace file of any form, as callvet case from-failure does of a
case: with stubs of what its tools gave, and without secrets and personal data. What the case expects is what --expect or
--accept says, or else the labels of the trace; or else, but for regression cases, what was called there.`,
		Example: "  callvet case from-trace production.jsonl t_10023 --tier regression --bug '#12' --expect get_refund_policy --tools tools.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Traces, q.Task = args[0], args[1]
			out, err := cases.FromTrace(cmd.Context(), a.program(), q, a.events())
			if err != nil {
				return err
			}
			return emit(a, out, console.NewCase)
		},
	}
	cmd.Flags().Var(wholeFlag(&q.Attempt, 0, 0), "attempt", "which attempt at the task, from 0")
	cmd.Flags().StringVar(&q.Of, "of", "", "target that made the attempt, where several did")
	expectationFlags(cmd.Flags(), &q.NewCaseExpectation)
	newCaseFlags(cmd.Flags(), &q.NewCaseSettings)
	keepFlag(cmd.Flags(), &q.Keep)
	return cmd
}

func (a *cli) caseFromFailureCommand() *cobra.Command {
	var q cases.FromFailureRequest
	cmd := &cobra.Command{
		Use: "from-failure RUN CASE --bug REF", Short: "Make a regression case from a failed case of a run",
		Long: `Make a regression case of a case that failed in a run, and add it to TOOL.regression.yaml with its entry in the lock.
That file is a suite of callvet's own form: the case keeps its system prompt, messages, tools, mocks, prerequisites, plans
and tolerances, and its personal data. A case with a secret is refused. Nothing else in the file changes.

-o names another suite, or an eval file (TOOL.regression.json). The form of eval files cannot say all of it: what is not
carried is printed, and a case that the attempts which failed would pass there is not written.`,
		Example: "  callvet case from-failure last paris-now --bug '#12'", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Run, q.Case = args[0], args[1]
			out, err := cases.FromFailure(cmd.Context(), a.program(), q, a.events())
			if err != nil {
				return err
			}
			return emit(a, out, console.NewCase)
		},
	}
	newCaseFlags(cmd.Flags(), &q.NewCaseSettings)
	cmd.Flags().Lookup("output").Usage = "suite or eval file that the case is added to (default TOOL.regression.yaml)"
	return cmd
}
