// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
)

// labelFlags are the flags of the label commands.
type labelFlags struct {
	labels, strategy, judge, by, role, out, from, to, key string
	double                                                float64
	n                                                     int
	seed                                                  uint64
}

func (a *app) labelCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "label", Short: "Draw tasks for people to label; read and write labels"}
	cmd.AddCommand(a.labelNextCommand(), a.labelImportCommand(), a.labelExportCommand())
	return cmd
}

func (a *app) labelNextCommand() *cobra.Command {
	var f labelFlags
	cmd := &cobra.Command{
		Use: "next TRACES", Short: "Draw the next tasks to label, and ask for verdicts on a terminal",
		Long: `Draw the next tasks of a trace file to label. On a terminal they are shown one by one and each answer is written to
the labels file at once; elsewhere, or with -o, they are written as a to-do file (set "pass" and read it with callvet
label import).
How each task was drawn, and from how many, is kept with the label: without it no honest number can be made of the labels.
What the judge said is not shown, so that it does not sway.`,
		Example: "  callvet label next traces.jsonl --n 20\n  callvet label next traces.jsonl --strategy neyman --judge task-judge --n 40 -o todo.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.labelNext(cmd.Context(), args[0], &f, a.atTerminal())
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.labels, "labels", "labels.jsonl", "labels file: what is in it is not drawn again, answers are added to it")
	fs.Var(ranged.Int(&f.n, 20, 1), "n", "how many tasks")
	fs.StringVar(&f.strategy, "strategy", "random", "random: the labels may calibrate the judge; neyman: by the judge's verdict, best for true success of this run")
	fs.StringVar(&f.judge, "judge", "", "judge whose verdicts divide the tasks")
	fs.StringVar(&f.by, "by", "", "who labels (default: $USER)")
	fs.StringVar(&f.role, "role", "calibration", "what the labels are for: calibration, validation or test")
	fs.Var(ranged.Share(&f.double, 0), "double", "share of the tasks that somebody else has labelled already, to measure agreement")
	fs.Uint64Var(&f.seed, "seed", 1, "order of the draw")
	fs.StringVarP(&f.out, "output", "o", "", "to-do file to write, also on a terminal (- is standard output; default: there where there is no terminal)")
	return cmd
}

func (a *app) labelImportCommand() *cobra.Command {
	var f labelFlags
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add labels of other tools, or a filled-in to-do file, to a labels file",
		Long:    "Add the labels in a file to the labels file. Forms that are read: " + strings.Join(labels.Forms(), ", ") + " (detected by content).",
		Example: "  callvet label import todo.jsonl --by ana\n  callvet label import reviewed.csv --labels labels.jsonl --by ana",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.labelImport(args[0], &f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.labels, "labels", "labels.jsonl", "labels file to add to")
	fs.StringVar(&f.by, "by", "", "who labelled, where the file does not say")
	fs.StringVar(&f.role, "role", "calibration", "what the labels are for, where the file does not say")
	fs.StringVar(&f.from, "from", "", "form of the file (default: detected by content)")
	fs.StringVar(&f.key, "key", "", "feedback key to take, where a file has several")
	return cmd
}

func (a *app) labelExportCommand() *cobra.Command {
	var f labelFlags
	cmd := &cobra.Command{
		Use: "export LABELS", Short: "Write the labels that count as csv or jsonl",
		Example: "  callvet label export labels.jsonl --to csv -o labels.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ls, err := a.readLabels(args[0])
			if err != nil {
				return err
			}
			ls, _ = labels.Latest(ls)
			if f.out == "-" {
				return labels.Export(a.out, ls, f.to)
			}
			return a.write(cmd.Context(), f.out, func(w io.Writer) error { return labels.Export(w, ls, f.to) })
		},
	}
	cmd.Flags().StringVar(&f.to, "to", "csv", "form to write: csv, jsonl")
	cmd.Flags().StringVarP(&f.out, "output", "o", "-", "file to write")
	return cmd
}

func (a *app) labelImport(path string, f *labelFlags) (err error) {
	in, err := os.Open(a.path(path))
	if err != nil {
		return fmt.Errorf("import labels: %w", err)
	}
	defer in.Close()
	m, err := labels.Import(in, labels.ImportOptions{Form: f.from, By: f.by, Role: labels.Role(f.role), Key: f.key, Name: path})
	if err != nil {
		return err
	}
	if err := a.tellProblems("import labels", m.Problems); err != nil {
		return err // nothing was added: a file is taken whole or not at all
	}
	to, err := a.openLabels(f.labels)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.Append(m.Labels...); err != nil {
		return err
	}
	for _, s := range m.Told() {
		fmt.Fprintln(a.err, plain.Line(s))
	}
	fmt.Fprintf(a.out, "%s: %s added to %s, %d without a verdict left out\n", m.Form, plain.Count(len(m.Labels), "label", "labels"), f.labels, m.Open)
	return nil
}

func (a *app) openLabels(path string) (*labels.Appender, error) {
	to, err := labels.OpenAppender(a.path(path))
	if err == nil && to.Mended {
		fmt.Fprintf(a.err, "warning: %s ended in the middle of a line, which was kept as it is\n", path)
	}
	return to, err
}

// atTerminal reports whether a person can be asked.
func (a *app) atTerminal() bool {
	in, ok := a.in.(*os.File)
	return ok && a.outTTY && isTerminal(in)
}

func (a *app) labelNext(ctx context.Context, path string, f *labelFlags, terminal bool) error {
	q, err := a.queue(f)
	if err != nil {
		return err
	}
	var done []labels.Label
	if _, err := os.Stat(a.path(f.labels)); err == nil {
		if done, err = a.readLabels(f.labels); err != nil {
			return err
		}
	}
	run, err := a.readJudged(path)
	if err != nil {
		return err
	}
	if len(run.items) == 0 && len(run.gone) == 0 {
		return &callvet.Hinted{
			Err:  fmt.Errorf("draw tasks of %s: %w: it has no task record, and labels are of tasks", path, callvet.ErrInvalid),
			Hint: `a line such as {"type":"task","task_id":"…","final_answer":"…"} for each task; callvet schema trace`,
		}
	}
	todo, err := q.Next(run.items, append(done, run.labels...))
	if err != nil {
		return err
	}
	if len(todo) == 0 {
		fmt.Fprintln(a.err, "nothing is left to label")
		return nil
	}
	shown, err := a.readShown(path, todo)
	if err != nil {
		return err
	}
	if terminal && f.out == "" {
		return a.askAll(todo, shown, f)
	}
	write := func(w io.Writer) error { return writeTodo(w, todo, shown) }
	if f.out == "" || f.out == "-" {
		err = write(a.out)
	} else {
		err = a.write(ctx, f.out, write)
	}
	if err == nil {
		fmt.Fprintf(a.err, "%s to label: set \"pass\" in each line, then callvet label import\n", plain.Count(len(todo), "task", "tasks"))
	}
	return err
}

func (a *app) queue(f *labelFlags) (labels.Queue, error) {
	if f.by == "" {
		f.by = a.getenv("USER")
	}
	role := labels.Role(f.role)
	if role != labels.Calibrating && role != labels.Validation && role != labels.Test {
		return labels.Queue{}, usagef("--role is calibration, validation or test, not %q", f.role)
	}
	return labels.Queue{
		Strategy: labels.Strategy(f.strategy), Judge: f.judge, N: f.n, Double: f.double, By: f.by, Role: role, Seed: f.seed,
	}, nil
}

// shownTask is what a person sees of a task.
type shownTask struct {
	Goal   string   `json:"goal,omitempty"`
	Steps  []string `json:"steps,omitempty"`
	Answer string   `json:"answer,omitempty"`
}

// maxShown bounds one step or answer, in bytes.
const maxShown = 4000

// readShown reads the attempts to label, redacted.
func (a *app) readShown(path string, todo []labels.Label) (map[labels.Key]shownTask, error) {
	want := map[labels.Key]bool{}
	for _, l := range todo {
		want[l.Key] = true
	}
	f, err := os.Open(a.path(path))
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, own, err := importer(f)
	if err == nil && own {
		imp, err = foreign.Open(f, foreign.Options{Format: foreign.Contract})
	}
	if err != nil {
		return nil, fmt.Errorf("read traces %s: %w", path, err)
	}
	red, err := a.keeper().Redactor(nil)
	if err != nil {
		return nil, err
	}
	out := map[labels.Key]shownTask{}
	for at, err := range imp.Attempts() {
		if err != nil {
			return nil, fmt.Errorf("read traces %s: %w", path, err)
		}
		k := labels.Key{Target: at.Trace.Target, TaskID: at.Trace.CaseID, Attempt: at.Trace.Repeat, Unit: labels.Task}
		if want[k] {
			hidden := at.Redacted(red)
			out[k] = showTask(&hidden)
		}
	}
	return out, nil
}

func showTask(at *trace.Attempt) shownTask {
	s := shownTask{Goal: at.Goal, Answer: plain.Limited(at.Trace.Answer, maxShown)}
	for _, c := range at.Trace.Calls() {
		args := plain.Compact(c.Args, "arguments not recorded")
		if c.Args == nil && c.ArgsRaw != "" {
			args = c.ArgsRaw
		}
		line := c.Tool + " " + args
		switch {
		case c.Error != "":
			line += " -> error: " + c.Error
		case c.Result != nil:
			line += " -> " + plain.Compact(c.Result, "")
		case c.Status != "" && c.Status != callvet.StatusOK:
			line += " -> " + string(c.Status)
		}
		s.Steps = append(s.Steps, plain.Limited(line, maxShown))
	}
	return s
}

// writeTodo writes one line a task with an open verdict; what the judge said is
// not there to be read.
func writeTodo(w io.Writer, todo []labels.Label, shown map[labels.Key]shownTask) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, l := range todo {
		line := struct {
			shownTask
			Pass *bool  `json:"pass"`
			Note string `json:"note"`
			labels.Key
			By    string      `json:"by,omitempty"`
			Role  labels.Role `json:"role"`
			Drawn string      `json:"drawn"`
		}{shown[l.Key], nil, "", l.Key, l.By, l.Role, l.Drawn()}
		if err := e.Encode(line); err != nil {
			return fmt.Errorf("write to-do file: %w", err)
		}
	}
	return nil
}
