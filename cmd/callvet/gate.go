// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// gateFlags are the flags other than the gates.
type gateFlags struct {
	outputs     []string
	annotations bool
}

func (a *cli) gateCommand() *cobra.Command {
	var req traces.GateRequest
	var f gateFlags
	var baseline, address string
	cmd := &cobra.Command{
		Use: "gate RUN|TRACES", Short: "Check a run or a trace file against gates: passed, failed or inconclusive",
		Long: `Check the metrics of a run, or of a trace file, against the gates of a file, or of the run's own suite.
An argument that is an existing file is a trace file, - is one on standard input; --baseline is another one then.
With --remote the run, and that of --baseline, are on a server, by their ids.
A gate passes when the pessimistic end of the interval meets its bound and fails when the other end misses it;
anything between is inconclusive, and the report says how many more cases would settle it.

Exit code 0: passed (or inconclusive under the lenient policy), 3: failed, 4: inconclusive, 2: a bad gate file.`,
		Example: "  callvet gates init\n  callvet gate last --gates gates.yaml\n  callvet gate last --gates gates.yaml --baseline main -o gates.md -o gates.xml\n  callvet gate traces.jsonl --tools tools.json --gates gates.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if address != "" {
				if err := unsent(cmd.LocalNonPersistentFlags(), "remote", "gates", "baseline", "policy", "output",
					"annotations"); err != nil {
					return err
				}
				return a.remoteGate(cmd.Context(), address, args[0], baseline, &req, &f)
			}
			req.Side, req.Baseline = a.side(args[0]), a.side(baseline)
			return a.holdGates(cmd.Context(), req, &f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&req.Gates, "gates", "", "file with the gates (default: those of the run's suite)")
	fs.StringVar(&baseline, "baseline", "",
		"run or trace file to compare with, for gates with a baseline")
	fs.StringVar((*string)(&req.Policy), "policy", "",
		"strict: an inconclusive gate stops the build; lenient: it warns (default: that of the file, else strict)")
	fs.StringVar(&req.Ledger, "ledger", "",
		"of a run: file that keeps the looks at gates, for builds without a database that lasts (default: the database)")
	fs.StringVar(&address, "remote", "", "address of the callvet server that has the run (callvet login URL)")
	fs.StringArrayVarP(&f.outputs, "output", "o", nil,
		"file to write; its extension is the form: .md .xml .json .txt; may be repeated")
	fs.BoolVar(&f.annotations, "annotations", false,
		"print annotations for GitHub Actions too (on when $GITHUB_ACTIONS is true)")
	fs.StringSliceVar(&req.Tools, "tools", nil, "of a trace file: folder or file with the tools' schemas")
	fs.StringVar(&req.Safety, "safety", "",
		"of a trace file: file with rules of safety, or the policy of a guard (default: the constraints of the tools)")
	fs.StringVar(&req.Suite, "suite", "", "of a trace file: as of callvet score")
	fs.BoolVar(&req.AllowExec, "allow-exec", false,
		"of a trace file: let the scorers of --suite run programs; without it they are not evaluated")
	fs.StringVar(&req.Scoring, "scoring", "",
		"of a trace file: as of callvet score")
	fs.StringVar(&req.Judge, "judge", "",
		"of trace files: judge to compare, in place of the source's own checks")
	fs.StringVar(&req.Labels, "labels", "",
		"people's labels, for true_success")
	fs.StringArrayVar(&req.Calibrations, "calibration", nil,
		"what is known of a judge, from callvet calibrate -o; gives true_success; may be repeated")
	return cmd
}

func (a *cli) gatesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "gates", Short: "Write gate files"}
	template := traces.GateTemplates()[0]
	init := &cobra.Command{
		Use: "init [FILE]", Short: "Write a commented gate file with sample thresholds", Args: cobra.MaximumNArgs(1),
		Long: `Write a commented gate file to start from.

basic: gates on what a suite with tools and expected calls measures. Gates that need a judge, executed calls or rules of
safety are in the file as comments.
regression: the whole table of "Evaluating Tool Calling", section 9. A gate without data is inconclusive.`,
		Example: "  callvet gates init\n  callvet gates init release.yaml --template regression",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "gates.yaml"
			if len(args) == 1 {
				name = args[0]
			}
			return a.initGates(cmd.Context(), name, template)
		},
	}
	init.Flags().StringVar(&template, "template", template,
		"what to start from: "+strings.Join(traces.GateTemplates(), " or "))
	cmd.AddCommand(init)
	return cmd
}

func (a *cli) initGates(ctx context.Context, name, template string) error {
	err := traces.InitGates(ctx, a.program(), name, template)
	if errors.Is(err, callvet.ErrConflict) {
		return &callvet.Hinted{Err: err, Hint: "another name"}
	}
	if err == nil {
		fmt.Fprintf(a.out, "wrote %s\n\nnow:\n  callvet gate last --gates %s\n", name, plain.ShellQuote(name))
	}
	return err
}

func (a *cli) holdGates(ctx context.Context, req traces.GateRequest, f *gateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	res, err := traces.Gate(ctx, a.program(), req, a.events())
	if err != nil {
		return a.withoutGates(err, req.Gates)
	}
	a.command(res)
	return a.concludeGates(ctx, res, f)
}

// check refuses a file with an unknown extension, before anything is read.
func (f *gateFlags) check() error {
	for _, path := range f.outputs {
		if _, err := report.GatesByPath(path); err != nil {
			return err
		}
	}
	return nil
}

// concludeGates writes and shows the verdicts of gates, and sets the exit code.
func (a *cli) concludeGates(ctx context.Context, res *traces.GateResult, f *gateFlags) error {
	for _, path := range f.outputs {
		if err := traces.WriteVerdict(ctx, a.program(), res, path); err != nil {
			return err
		}
	}
	switch {
	case res.Report.Verdict == runs.Fail:
		a.exitStatus = exitGateFailed
	case res.Report.Blocks:
		a.exitStatus = exitInconclusive
	}
	return a.showVerdict(res, f)
}

// withoutGates prints the errors of gates, or that there are none.
func (a *cli) withoutGates(err error, file string) error {
	var bad *results.BadGatesError
	var field *callvet.FieldError
	switch {
	case errors.As(err, &bad) && a.jsonOut:
		return errors.Join(err,
			json.NewEncoder(a.out).Encode(
				map[string]any{"format": "callvet.gates", "version": 1, "problems": bad.Problems}))
	case errors.As(err, &bad):
		a.printProblems(bad.Problems, true)
	case errors.As(err, &field) && field.Field == "gates" && file == "":
		return &callvet.Hinted{Err: err, Hint: "callvet gates init writes one to start from"}
	}
	return err
}

// command adds the next command to a report.
func (a *cli) command(res *traces.GateResult) {
	for i := range res.Look {
		for j, act := range res.Look[i] {
			h := a.hints()
			if act.Verb == app.VerbScore {
				h.DB = "" // trace files need no store
			}
			res.Report.Verdicts[i].Open[j].Command = h.Text(act, nil)
		}
	}
	if res.Resume != nil {
		res.Report.Warnings = append(res.Report.Warnings, "the run is not complete: "+a.hints().Text(*res.Resume, nil))
	}
}

// showGates prints the gates that ended a run.
func (a *cli) showGates(res *traces.GateResult, saved string) error {
	if err := a.showVerdict(res, &gateFlags{}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, saved)
	return err
}

func (a *cli) showVerdict(res *traces.GateResult, f *gateFlags) error {
	rep := res.Report
	if a.jsonOut {
		if err := report.GatesJSON(a.out, rep); err != nil {
			return err
		}
	} else if err := report.GatesTerminal(a.out, rep,
		report.GatesOptions{Width: a.width, Color: a.color(a.outTTY)}); err != nil {
		return err
	}
	if f.annotations || a.getenv("GITHUB_ACTIONS") == "true" {
		to := a.out
		if a.jsonOut { // one value on standard output; a workflow reads both
			to = a.err
		}
		return report.GatesAnnotations(to, rep)
	}
	return nil
}
