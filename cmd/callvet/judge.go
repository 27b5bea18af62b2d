// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) judgeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "judge", Short: "Have models judge attempts, and store their verdicts"}
	cmd.AddCommand(a.judgeRunCommand(), a.judgeAuditCommand(), a.judgeListCommand(), a.judgeShowCommand())
	return cmd
}

// judgeFlags are the flags of `callvet judge run`.
type judgeFlags struct {
	runFlags
	req     app.JudgeRequest
	against string
	under   float64
	least   float64
}

func (a *cli) judgeRunCommand() *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   "run RUN|TRACES --judge NAME [--judge NAME …] -m MODEL [-m MODEL …]",
		Short: "Judge the attempts of a run or of a trace file",
		Long: `Ask models about the attempts of a stored run, or of a trace file, and keep its verdicts.

` + judgeTable() + `
A judge of your own is a name with --prompt FILE and --schema FILE (JSON Schema of an object with pass, verdict, status or score);
--unit says whether it looks at each task, call or turn. Several judges, or models, of the same things give a majority as well, with how far they agree.

The judge sees neither the expected calls nor the automatic score (--show-gold shows what is expected). What users, models and
tools said is fenced as data. An answer that is empty, refuses, cannot be read or contradicts itself is unscored: counted, and never a pass.
Verdicts are stored before they are printed. The same command resumes what was interrupted; after a judging that
ended it makes a new version.
They show in callvet show, report and score of the run, and -o writes them for callvet calibrate and callvet score --labels.`,
		Example: `  callvet judge run last --judge task -m openai/gpt-5-mini -o verdicts.jsonl
  callvet judge run last --judge task -m openai/gpt-5-mini -m anthropic/claude-sonnet-4-5 --samples 3
  callvet judge run last --judge compare -m openai/gpt-5-mini
  callvet judge run before --judge compare --against after -m openai/gpt-5-mini
  callvet judge run traces.jsonl --judge arguments --tools tools.json -m ollama/qwen3
  callvet judge run last --judge politeness --prompt polite.txt --schema polite.json -m openai/gpt-5-mini --under 0.8`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.judgeRun(cmd.Context(), args[0], &f, cmd.Flags().Changed)
		},
	}
	fs := cmd.Flags()
	f.register(fs)
	fs.StringArrayVar(&f.req.Tools, "tools", nil, "folder or file with the tools of a trace file; may be repeated")
	fs.StringVarP(&f.req.Output, "output", "o", "",
		"labels file to add the verdicts to")
	return cmd
}

// register adds the flags of a command that runs judges.
func (f *judgeFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.req.Judges, "judge", nil,
		"judge to ask: "+strings.Join(judgeNames(), ", ")+", or a name of your own; may be repeated")
	fs.StringVar(&f.against, "against", "",
		"baseline run or trace file for a comparing judge")
	fs.StringVar(&f.req.Prompt, "prompt", "", "file with the prompt of a judge of your own")
	fs.StringVar(&f.req.Schema, "schema", "", "file with the JSON Schema of its verdict")
	fs.StringVar((*string)(&f.req.Unit), "unit", "", "what it looks at: task, call or turn (default task)")
	fs.StringArrayVarP(&f.targets, "model", "m", nil, "model that judges; may be repeated: each is a judge of its own")
	fs.Var(wholeFlag(&f.repeats, 1, 1), "samples", "how often each model is asked; the most frequent verdict counts")
	fs.Var(shareFlag(&f.under, 0), "under", "judge only attempts with an automatic score below this, or without one")
	fs.Var(shareFlag(&f.least, 0), "threshold",
		"least score that passes, unless the case has a threshold (default 0.6 for a rubric)")
	fs.BoolVar(&f.req.ShowGold, "show-gold", false, "show the judge what the case expects, which biases it")
	fs.Var(wholeFlag(&f.req.MaxEvidence, runs.DefaultEvidence, runs.MinEvidence), "max-evidence",
		"bytes of one text that the judge is shown; the rest is cut, with a note")
	fs.BoolVar(&f.req.Again, "again", false, "begin anew although the last judging did not end")
	f.pace(fs)
	fs.BoolVar(&f.noCache, "no-cache", false, "do not reuse answers of earlier judgings")
	fs.StringSliceVar(&f.keepKinds, "keep", nil, "kinds of personal data that the judge is shown: email, phone, …")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	f.target.register(fs)
	for _, name := range []string{"system", "system-for", "replace-system", "parallel-calls"} {
		_ = fs.MarkHidden(name) // a judge has a prompt of its own
	}
}

func judgeNames() (names []string) {
	for _, j := range runs.Judges() {
		names = append(names, j.Name)
	}
	return names
}

// judgeTable lists the judges that are built in.
func judgeTable() string {
	var b strings.Builder
	for _, j := range runs.Judges() {
		fmt.Fprintf(&b, "  %-11s each %-7s %s\n", j.Name, j.Unit, j.About)
	}
	return b.String()
}

func (a *cli) judgeRun(ctx context.Context, name string, f *judgeFlags, changed func(string) bool) error {
	req, err := a.judgeRequest(name, f, changed)
	if err != nil {
		return err
	}
	printer := a.eventPrinter(f.quiet, "")
	out, err := runs.Judge(ctx, a.program(), req, printer.print)
	printer.finish()
	if out == nil || len(out.Judgings) == 0 {
		return err
	}
	if req.Output != "" && err == nil {
		fmt.Fprintf(a.err, "added to %s\n", req.Output)
	}
	return errors.Join(err, a.tellJudged(out, false))
}

// judgeRequest is the request of the flags to judges.
func (a *cli) judgeRequest(name string, f *judgeFlags, changed func(string) bool) (app.JudgeRequest, error) {
	if f.target.system != "" || len(f.target.systemFor) > 0 {
		return app.JudgeRequest{}, usagef("--system: a judge has a prompt of its own: write one with --prompt")
	}
	spec, err := a.shared(&f.runFlags, changed)
	if err != nil {
		return app.JudgeRequest{}, err
	}
	req := f.req
	req.Side = a.program().Side(name)
	if f.against != "" {
		req.Against = a.program().Side(f.against)
	}
	req.Samples, req.NoCache, req.Keep, req.Prices, req.Settings = f.repeats, f.noCache, f.keepKinds, f.target.prices,
		f.settings(changed)
	if changed("under") {
		req.Under = &f.under
	}
	if changed("threshold") {
		req.Threshold = &f.least
	}
	for _, t := range f.targets {
		one := spec
		one.Target = t
		req.Models = append(req.Models, one)
	}
	return req, nil
}

func (a *cli) judgeListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [RUN|TRACES]", Short: "List the built-in judges and the stored judgings",
		Args:    cobra.MaximumNArgs(1),
		Example: "  callvet judge list\n  callvet judge list last",
		RunE: func(cmd *cobra.Command, args []string) error {
			var req runs.JudgeListRequest
			if len(args) == 1 {
				req.Side = a.program().Side(args[0])
			}
			list, err := runs.List(cmd.Context(), a.program(), req)
			if err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(map[string]any{
					"format": "callvet.judgings", "version": 1,
					"judges": runs.Judges(), "judgings": list,
				})
			}
			fmt.Fprint(a.out, "Judges:\n"+judgeTable())
			if len(list) > 0 {
				fmt.Fprintln(a.out, "\nJudgings:")
			}
			for i := range list {
				v := &list[i]
				if v.Problem != "" {
					fmt.Fprintf(a.out, "  %s  %s  lost: %s\n", v.ID, v.Created.Local().Format("2006-01-02 15:04"),
						plain.Line(v.Problem))
					continue
				}
				fmt.Fprintf(a.out, "  %s  %s  %s version %d of %s, %s (%s)\n", v.ID,
					v.Created.Local().Format("2006-01-02 15:04"), v.JudgeID, v.Version, plain.Line(v.About), v.Status,
					plain.Line(v.Judge.Model))
			}
			return nil
		},
	}
	return cmd
}

func (a *cli) judgeShowCommand() *cobra.Command {
	var req runs.JudgeShowRequest
	cmd := &cobra.Command{
		Use: "show JUDGING|RUN|TRACES", Short: "Show the verdicts of judges next to those of people",
		Example: "  callvet judge show last\n  callvet judge show last --labels labels.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s := a.program().Side(args[0]); s.Traces != "" {
				req.Side = s
			} else {
				req.Judging = args[0]
			}
			out, err := runs.Show(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			return a.tellJudged(out, true)
		},
	}
	cmd.Flags().StringVar(&req.Labels, "labels", "",
		"labels file: the verdicts of people, shown next to those of judges")
	cmd.Flags().StringVarP(&req.Output, "output", "o", "", "labels file to add the verdicts to")
	return cmd
}

// tellJudged prints the judges' results; with all every verdict, else verdicts that fail or are
// unscored.
func (a *cli) tellJudged(d *results.Judged, all bool) error {
	if a.jsonOut {
		return json.NewEncoder(a.out).Encode(struct {
			Format  string `json:"format"`
			Version int    `json:"version"`
			*results.Judged
		}{"callvet.judged", 1, d})
	}
	console.Judged(a.out, d, all, a.hints())
	return nil
}
