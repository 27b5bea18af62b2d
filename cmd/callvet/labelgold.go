// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/report/console"
)

func (a *cli) labelGoldCommand() *cobra.Command {
	var req cases.GoldDrawRequest
	cmd := &cobra.Command{
		Use: "gold TRACES|RUN -o FILE", Short: "Draw tasks from logs; a person then writes the right calls",
		Long: `Draw tasks of a trace file or a run and add them to FILE, redacted, as many of each language and intent: with what was asked,
called and answered, and with what was called as a proposal of what was right: whether a call was needed in each turn, and the
calls that are right, with tool, arguments and a check of the result. A proposal counts once a person writes checked: true;
--blank leaves blanks in its place. A share of the tasks (--edge) is drawn on purpose: rate limits, outages, failed and
rejected calls, null results, repeated calls, stateful flows, and tasks without a call, as many of each.
Again with a larger --n it adds tasks; what is filled in stays.
callvet label apply makes labels of steps and a suite of it.`,
		Example: "  callvet label gold production.jsonl -o gold.yaml --n 200\n  callvet label apply gold.yaml production.jsonl -o labelled.jsonl --suite suite.yaml --tools tools.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Side = a.program().Side(args[0])
			out, err := cases.DrawGold(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			return emit(a, out, console.GoldDrawn)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&req.Output, "output", "o", "", "file that the tasks are added to (required)")
	fs.Var(wholeFlag(&req.N, 200, 1), "n", "how many tasks the file has then")
	fs.StringSliceVar(&req.By, "by", []string{"language", "intent"}, "keys of slices: as many tasks of each value")
	fs.Var(shareFlag(&req.Edge, 0.3), "edge", "share of edge cases, drawn on purpose")
	fs.BoolVar(&req.Blank, "blank", false, "leave the right tools blank, instead of filling in the called ones")
	fs.Uint64Var(&req.Seed, "seed", 1, "order of the draw")
	return cmd
}

func (a *cli) labelApplyCommand() *cobra.Command {
	var req cases.GoldApplyRequest
	cmd := &cobra.Command{
		Use: "apply FILE TRACES|RUN", Short: "Make labelled traces and a suite from the file of label gold",
		Long: `Make of a file that callvet label gold wrote, and a person has filled in: a trace file of its tasks with the labels of their
steps (-o), and a suite of them as cases (--suite): its gold passes its own check. A blank in a task that is filled in
partly is reported by name and line, and nothing is written. A task without an entry is left out.`,
		Example: "  callvet label apply gold.yaml production.jsonl -o labelled.jsonl --suite suite.yaml --tools tools.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.File, req.Side = args[0], a.program().Side(args[1])
			out, err := cases.ApplyGold(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			return emit(a, out, console.GoldApplied)
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&req.Output, "output", "o", "", "trace file to write, with the labels of steps")
	fs.StringVar(&req.Suite, "suite", "", "suite to write (.yaml or .json)")
	fs.StringVar(&req.Tools, "tools", "",
		"folder or file with the tools of the suite (default: those of the traces, or their names)")
	return cmd
}
