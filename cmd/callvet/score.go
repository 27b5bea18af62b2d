// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report"
)

func (a *cli) scoreCommand() *cobra.Command {
	var req traces.ScoreRequest
	var all bool
	cmd := &cobra.Command{
		Use:   "score FILE...|RUN",
		Short: "Score trace files or a run: metrics by call and by task, slices, findings",
		Long: `Score every line of trace files and sum them up by call and by task, with intervals clustered by task.
A stored run is summed up as the traces that it is: what is no file is the name of a run.
FILE is a trace file in callvet's form or another that ` + "`callvet trace import`" + ` reads, - for standard input; gzip works.
Several files are read one after the other as one stream. Files written with --partial are merged instead, in the order given:
parts of one file, scored on several machines, give the same panels as the whole file.`,
		Example: "  callvet score traces.jsonl --tools tools/ -o report.html\n  callvet score part1.jsonl --partial 1.part\n  callvet score 1.part 2.part --json\n  callvet score last --slice expected_tool",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if req.Traces = args; len(args) == 1 {
				if side := a.side(args[0]); side.Run != "" {
					req.Traces, req.Run = nil, side.Run
				}
			}
			return a.score(c.Context(), req, all)
		},
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&req.Tools, "tools", nil,
		"folder or file with the tools' schemas; without it arguments are not validated")
	fs.StringVar(&req.Safety, "safety", "",
		"file with rules of safety, or the policy of a guard (default: the constraints of the tools)")
	fs.StringVar(&req.Suite, "suite", "",
		"suite of the tasks: its verdict counts where a trace has none, its tools are the default of --tools")
	fs.BoolVar(&req.AllowExec, "allow-exec", false,
		"let the scorers of --suite run programs; without it they are not evaluated")
	fs.StringVar(&req.Scoring, "scoring", "",
		"how arguments are compared: a file, or settings in braces, as under scoring in a suite (default: mode exact)")
	fs.StringSliceVar(&req.Slices, "slice", nil,
		"slice by these keys, crosses as language*intent, * for all fields (default: expected tool, called tool, version, family, language, intent, tags, all fields)")
	fs.Var(wholeFlag(&req.Jobs, 0, 1), "jobs", "blocks worked on at once (default: the number of processors)")
	fs.BoolVar(&req.Strict, "strict", false, "end at the first line that is no record")
	fs.Var(innerShareFlag(&req.Confidence, 0.95), "confidence", "two-sided confidence of the intervals")
	fs.StringArrayVarP(&req.Outputs, "output", "o", nil,
		"report to write: .html, .md, .csv, .json, .txt, or .parquet for the scored calls (repeatable)")
	fs.StringArrayVar(&req.Calibrations, "calibration", nil,
		"what is known of a judge, from callvet calibrate -o; gives true_success; may be repeated")
	fs.StringVar(&req.Labels, "labels", "",
		"people's labels, for true_success")
	fs.BoolVar(&all, "all", false, "show every measure, not only the ten most important")
	fs.StringVar(&req.Partial, "partial", "", "write a partial result to this file instead of the panels")
	return cmd
}

// side decides whether an argument is a run or a trace file; - is standard input.
func (a *cli) side(arg string) app.Side {
	if arg == "" {
		return app.Side{}
	}
	return a.program().Side(arg)
}

func (a *cli) score(ctx context.Context, req traces.ScoreRequest, all bool) error {
	defer a.growHeap(scoreHeap())()
	s, err := traces.Score(ctx, a.program(), req, a.events())
	if err != nil || s.View == nil {
		return err
	}
	if a.jsonOut {
		return report.PanelsJSON(a.out, s.View.Panels)
	}
	s.View.Width, s.View.Verbose, s.View.All = a.width, a.verbose, all
	return report.ScoresTerminal(a.out, s.View)
}
