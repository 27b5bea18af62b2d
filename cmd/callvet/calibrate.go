// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report"
)

func (a *cli) calibrateCommand() *cobra.Command {
	var req results.CalibrateRequest
	cmd := &cobra.Command{
		Use:   "calibrate LABELS --judge NAME",
		Short: "Compare a judge with people's labels; with --run, estimate how many tasks truly passed",
		Long: `Compare a judge with people's labels: sensitivity, specificity, agreement, and whether a gate may rest on it.
With --run the judge's verdicts of that run or trace file are corrected for its errors. Labels on its own tasks are used
directly; labels made elsewhere through sensitivity and specificity. Where that is not possible it is refused, with the reason.

Exit code 0: done; 4: true success was refused; 2: a label that cannot be read.`,
		Example: "  callvet calibrate labels.jsonl --judge task-judge -o calibration.json\n  callvet calibrate labels.jsonl --judge task-judge --run traces.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Labels = args[0]
			if side := a.side(req.Traces); side.Run != "" {
				req.Traces, req.Run = "", side.Run
			}
			return a.calibrate(cmd.Context(), req)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&req.Judge, "judge", "", "name of the judge, or its ID")
	fs.StringVar(&req.Traces, "run", "", "run or trace file with the judged tasks that are corrected")
	fs.StringVarP(&req.Output, "output", "o", "", "calibration file to write, for other runs of this judge")
	fs.StringVar((*string)(&req.Unit), "unit", "task", "what the labels are about: task, turn or call")
	fs.StringVar(&req.Against, "against", "", "earlier calibration file: says whether the judge has drifted since")
	fs.Var(shareFlag(&req.Width, 0), "width",
		"wanted width of intervals, as 10%: prints the number of labels")
	fs.StringVar(&req.By, "by", "", "with --run: slice key of its tasks: the judge and true success by value")
	return cmd
}

func (a *cli) calibrate(ctx context.Context, req results.CalibrateRequest) error {
	r, err := results.Calibrate(ctx, a.program(), req, a.events())
	if err != nil {
		return err
	}
	if req.Output != "" {
		fmt.Fprintf(a.err, "wrote %s\n", req.Output)
	}
	for i := range r.Success {
		if r.Success[i].Refused != "" {
			a.exitStatus = exitInconclusive
		}
	}
	if a.jsonOut {
		return report.JudgeJSON(a.out, r)
	}
	return report.Judge(a.out, r)
}
