// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) labelCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "label", Short: "Draw tasks for people to label; read and write labels"}
	cmd.AddCommand(a.labelNextCommand(), a.labelImportCommand(), a.labelExportCommand(), a.labelStampCommand(),
		a.labelGoldCommand(), a.labelApplyCommand())
	return cmd
}

func (a *cli) labelNextCommand() *cobra.Command {
	var req runs.LabelNextRequest
	var out string
	cmd := &cobra.Command{
		Use:   "next RUN|TRACES",
		Short: "Draw the next tasks, calls or turns to label, and ask for verdicts on a terminal",
		Long: `Draw the next tasks of a run, or of a trace file, to label, or with --unit its calls or turns. On a terminal they are shown one by one and each answer is written to
the labels file at once; elsewhere, or with -o, they are written as a to-do file (set "pass" and read it with callvet
label import).
How each task was drawn, and from how many, is kept with the label: without it no honest number can be made of the labels.
What the judge said is not shown, so that it does not sway. Of a call or a turn people see what the judge saw, and of a turn what
was called then.`,
		Example: "  callvet label next traces.jsonl --n 20\n  callvet label next traces.jsonl --strategy neyman --judge task-judge --n 40 -o todo.jsonl\n  callvet label next traces.jsonl --unit call --judge arguments -o todo.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Side = a.side(args[0])
			return a.labelNext(cmd.Context(), req, out, a.atTerminal())
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&req.Labels, "labels", "labels.jsonl",
		"labels file for answers; labelled tasks are not drawn again")
	fs.StringVar((*string)(&req.Unit), "unit", "task", "what is labelled: task, turn or call")
	fs.StringArrayVar(&req.Tools, "tools", nil,
		"catalogue to show, for --unit call or turn of trace files; may be repeated")
	fs.Var(wholeFlag(&req.N, 20, 1), "n", "how many")
	fs.StringVar((*string)(&req.Strategy), "strategy", "random",
		"random: may calibrate the judge; neyman: by its verdict, for true success of this run; "+
			"disagree: where verdicts disagree, with --role design")
	fs.StringVar(&req.Judge, "judge", "", "draw by the verdicts of this judge")
	fs.StringVar(&req.By, "by", "", "who labels (default: $USER)")
	fs.StringVar((*string)(&req.Role), "role", "calibration",
		"use of the labels: calibration, validation, test or design (to make the judge, never to calibrate it)")
	fs.Var(shareFlag(&req.Double, 0), "double",
		"share of tasks that another person has labelled already, to measure agreement")
	fs.Uint64Var(&req.Seed, "seed", 1, "order of the draw")
	fs.StringVarP(&out, "output", "o", "",
		"to-do file to write, also on a terminal (-: standard output, the default without a terminal)")
	return cmd
}

func (a *cli) labelImportCommand() *cobra.Command {
	var req runs.LabelImportRequest
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add labels of other tools, or a filled-in to-do file, to a labels file",
		Long: "Add the labels in a file to the labels file. Forms that are read: " +
			strings.Join(runs.LabelForms(), ", ") + " (detected by content).",
		Example: "  callvet label import todo.jsonl --by ana\n  callvet label import reviewed.csv --labels labels.jsonl --by ana",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			req.File = args[0]
			return a.labelImport(req)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&req.Labels, "labels", "labels.jsonl", "labels file to add to")
	fs.StringVar(&req.By, "by", "", "who labelled, where the file does not say")
	fs.StringVar((*string)(&req.Role), "role", "calibration", "what the labels are for, where the file does not say")
	fs.StringVar(&req.Format, "from", "", "form of the file (default: detected by content)")
	fs.StringVar(&req.Key, "key", "", "feedback key to take, where a file has several")
	return cmd
}

func (a *cli) labelExportCommand() *cobra.Command {
	var req runs.LabelExportRequest
	var out string
	cmd := &cobra.Command{
		Use: "export LABELS", Short: "Write the labels that count as csv or jsonl",
		Example: "  callvet label export labels.jsonl --to csv -o labels.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Labels = args[0]
			write := func(w io.Writer) error { return runs.LabelExport(a.program(), req, w, a.events()) }
			if out == "-" {
				return write(a.out)
			}
			return a.write(cmd.Context(), out, write)
		},
	}
	cmd.Flags().StringVar(&req.To, "to", "csv", "form to write: csv, jsonl")
	cmd.Flags().StringVarP(&out, "output", "o", "-", "file to write")
	return cmd
}

func (a *cli) labelStampCommand() *cobra.Command {
	var req runs.LabelStampRequest
	cmd := &cobra.Command{
		Use: "stamp RUN|TRACES LABELS", Short: "Adopt labels without a fingerprint for the outputs of a run",
		Long: `Write a labels file anew, with the fingerprints of the outputs of a run, or of a trace file, that its labels are of. Labels without
a fingerprint, such as those of earlier releases, count as made elsewhere: it is not known which outputs people saw. Who stamps
them says that it were these, and stands in the file. Verdicts of judges that stand with the labels have to be those of the run:
where more than 5 % are not, nothing is written.`,
		Example: "  callvet label stamp january labels.jsonl --by ana\n  callvet label stamp traces.jsonl labels.jsonl --by ana -o stamped.jsonl",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Side, req.Labels = a.side(args[0]), args[1]
			if req.By == "" {
				req.By = a.getenv("USER")
			}
			m, err := runs.LabelStamp(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s stamped, %d had a fingerprint, %d are of no attempt of %s\n",
				plain.Count(m.Stamped, "line", "lines"), m.Had, m.Absent, args[0])
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&req.By, "by", "", "who says that the labels are of these outputs (default: $USER)")
	fs.StringVarP(&req.Output, "output", "o", "", "labels file to write (default: the one that is read)")
	return cmd
}

func (a *cli) labelImport(req runs.LabelImportRequest) error {
	m, err := runs.LabelImport(a.program(), req, a.events())
	if err != nil {
		return err
	}
	for _, s := range m.NotImported() {
		fmt.Fprintln(a.err, plain.Line(s))
	}
	fmt.Fprintf(a.out, "%s: %s added to %s, %d without a verdict left out\n", m.Form,
		plain.Count(len(m.Labels), "label", "labels"), req.Labels, m.Open)
	return nil
}

// atTerminal reports whether a person can be asked.
func (a *cli) atTerminal() bool {
	in, ok := a.in.(*os.File)
	return ok && a.outTTY && isTerminal(in)
}

func (a *cli) labelNext(ctx context.Context, req runs.LabelNextRequest, out string, terminal bool) error {
	if req.By == "" {
		req.By = a.getenv("USER")
	}
	todo, err := runs.LabelNext(ctx, a.program(), req, a.events())
	if err != nil {
		return err
	}
	if len(todo) == 0 {
		fmt.Fprintln(a.err, "nothing is left to label")
		return nil
	}
	if terminal && out == "" {
		return a.askAll(todo, req.Labels)
	}
	write := func(w io.Writer) error { return runs.WriteTodo(w, todo) }
	if out == "" || out == "-" {
		err = write(a.out)
	} else {
		err = a.write(ctx, out, write)
	}
	if err == nil {
		fmt.Fprintf(a.err, "%s to label: set \"pass\" in each line, then callvet label import\n",
			plain.Count(len(todo), string(todo[0].Label.Unit), string(todo[0].Label.Unit)+"s"))
	}
	return err
}
