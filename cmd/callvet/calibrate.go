// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/calibration"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/panel/slicing"
	"github.com/callvet/callvet/panel/steps"
)

// calibrateFlags are the flags of the calibrate command.
type calibrateFlags struct{ judge, run, out, unit, by string }

func (a *app) calibrateCommand() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use: "calibrate LABELS --judge NAME", Short: "Compare a judge with people's labels; with --run, say how many tasks truly passed",
		Long: `Compare a judge with people's labels: sensitivity, specificity, agreement, and whether a gate may rest on it.
With --run the judge's verdicts of that trace file are corrected for its errors. Labels on tasks of the run are used
directly; labels made elsewhere through sensitivity and specificity. Where that is not possible it is refused, with the reason.

Exit code 0: done; 4: true success was refused; 2: a label that cannot be read.`,
		Example: "  callvet calibrate labels.jsonl --judge task-judge -o calibration.json\n  callvet calibrate labels.jsonl --judge task-judge --run traces.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.calibrate(cmd.Context(), args[0], &f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.judge, "judge", "", "name of the judge, or its ID where several judges share a name")
	fs.StringVar(&f.run, "run", "", "trace file whose judged tasks are to be corrected")
	fs.StringVarP(&f.out, "output", "o", "", "calibration file to write, for other runs of this judge")
	fs.StringVar(&f.unit, "unit", "task", "what the labels are about: task or call")
	fs.StringVar(&f.by, "by", "", "with --run: slice key of its tasks; tells the judge and true success by value")
	return cmd
}

func (a *app) calibrate(ctx context.Context, path string, f *calibrateFlags) error {
	if f.judge == "" {
		return usagef("which judge? callvet calibrate %s --judge NAME", path)
	}
	unit := labels.Unit(f.unit)
	if unit != labels.Task && unit != labels.Call {
		return usagef("--unit is task or call, not %q", f.unit)
	}
	if f.by != "" && f.run == "" {
		return usagef("--by %s: labels have no slices; name the traces of their tasks with --run", f.by)
	}
	ls, err := a.readLabels(path)
	if err != nil {
		return err
	}
	in := labels.Input{Judge: f.judge, Unit: unit, Labels: ls}
	run := &judgedRun{}
	if f.run != "" {
		if run, err = a.readJudged(f.run); err != nil {
			return err
		}
		in.Labels = append(in.Labels, run.labels...)
		in.Run = run.judgements()
	}
	r, err := labels.Calibrate(in)
	if err != nil {
		return err
	}
	if f.by != "" {
		if r.Slices, err = run.bySlice(in, r, f); err != nil {
			return err
		}
	}
	if f.out != "" {
		c := r.Calibration(filepath.Base(path), a.now())
		if err := a.write(ctx, f.out, func(w io.Writer) error { _, err := c.WriteTo(w); return err }); err != nil {
			return err
		}
		fmt.Fprintf(a.err, "wrote %s\n", f.out)
	}
	for i := range r.Success {
		if r.Success[i].Refused != "" {
			a.exitStatus = exitInconclusive
		}
	}
	if a.jsonOut {
		return json.NewEncoder(a.out).Encode(struct {
			Format  string `json:"format"`
			Version int    `json:"version"`
			*labels.Report
		}{"callvet.judge", 1, r})
	}
	calibration.Print(a.out, r)
	return nil
}

// readLabels reads a labels file; lines that were cut off are told, others that
// are no labels end it.
func (a *app) readLabels(path string) ([]labels.Label, error) {
	f, err := os.Open(a.path(path))
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	defer f.Close()
	ls, problems, err := labels.Read(f, path)
	if err != nil {
		return nil, err
	}
	return ls, a.tellProblems("read labels", problems)
}

// tellProblems prints problems; the error wraps callvet.ErrInvalid where one is
// more than a warning.
func (a *app) tellProblems(doing string, problems []callvet.Problem) error {
	bad := 0
	for _, p := range problems {
		if p.Warning {
			fmt.Fprintf(a.err, "warning: %s\n", p.Error())
			continue
		}
		if bad++; bad <= 20 {
			fmt.Fprintf(a.err, "%s\n", p.Error())
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s: %w: %d lines are no labels", doing, callvet.ErrInvalid, bad)
	}
	return nil
}

// judgedRun is what a trace file has of verdicts.
type judgedRun struct {
	items  []labels.Item
	at     map[labels.Key]int      // the place of an attempt in items
	lines  map[string]slicing.Line // what a task tells of its slices
	labels []labels.Label
	gone   map[labels.Key]bool // attempts whose last record says that they failed, or did not run
}

// maxSliceValues is how many values of a slice key are told, those with the most labels.
const maxSliceValues = 50

// bySlice tells of the judge by the values that tasks of the run have. An error of
// usage names the keys that they have instead.
func (r *judgedRun) bySlice(in labels.Input, all *labels.Report, f *calibrateFlags) (*labels.SliceReport, error) {
	out, err := labels.BySlice(in, all, f.by, maxSliceValues, r.valuesOf(f.by))
	if err != nil || len(out.Values) > 0 {
		return out, err
	}
	keys := map[string]bool{}
	for _, l := range r.lines {
		for _, s := range slicing.Of([]string{"language", "tag", "*"}, l) {
			keys[s[0]] = true
		}
	}
	known := slices.Sorted(maps.Keys(keys))
	err = usagef("--by %s: no task of %s has it", f.by, f.run)
	if near := callvet.Nearest(f.by, known); near != "" {
		return nil, &callvet.Hinted{Err: err, Hint: "--by " + near}
	}
	if len(known) > 0 {
		return nil, &callvet.Hinted{Err: err, Hint: "--by with one of " + strings.Join(known[:min(12, len(known))], ", ")}
	}
	return nil, err
}

func (r *judgedRun) judgements() []labels.Judgement {
	out := []labels.Judgement{}
	for _, it := range r.items {
		for _, v := range it.Judged {
			out = append(out, labels.Judgement{Key: it.Key, Verdict: v})
		}
	}
	return out
}

// readJudged reads the verdicts and labels of the task records of a trace file.
func (a *app) readJudged(path string) (*judgedRun, error) {
	out := &judgedRun{at: map[labels.Key]int{}, lines: map[string]slicing.Line{}, gone: map[labels.Key]bool{}}
	log, err := a.eachTask(path, out.add)
	if err != nil {
		return nil, err
	}
	if log.Steps+log.Tasks == 0 && len(out.items) == 0 {
		return nil, a.nothingScored([]string{path})
	}
	out.items = slices.DeleteFunc(out.items, func(it labels.Item) bool { return out.gone[it.Key] })
	out.labels = slices.DeleteFunc(out.labels, func(l labels.Label) bool { return out.gone[l.Key] })
	a.tellLines(log.Problems(path), log)
	return out, nil
}

// eachTask reads the task records of a trace file, of callvet's lines or of any
// other form that `trace import` reads.
func (a *app) eachTask(path string, do func(*trace.Task)) (*trace.Log, error) {
	f, err := os.Open(a.path(path))
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer f.Close()
	imp, own, err := importer(f)
	if err != nil {
		return nil, fmt.Errorf("read traces %s: %w", path, err)
	}
	if own {
		log, err := eachRecord(f, do)
		if err != nil {
			return nil, fmt.Errorf("read traces %s: %w", path, err)
		}
		return log, nil
	}
	for at, err := range imp.Attempts() {
		if err != nil {
			return nil, fmt.Errorf("read traces %s: %w", path, err)
		}
		t := at.Task()
		do(&t)
	}
	log := imp.Report().Log
	return &log, nil
}

// importer reads a trace file of any form; own tells that it holds callvet's lines
// and stands at its beginning again, so that its records can be read alone.
func importer(f *os.File) (imp *foreign.Importer, own bool, err error) {
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	whole := err == nil || errors.Is(err, io.EOF) // not a pipe
	if imp, err = foreign.Open(f, foreign.Options{}); err != nil {
		return nil, false, err
	}
	form := imp.Report().Format
	if !whole || form != foreign.Contract && (form != "" || string(head[:n]) == "PK\x03\x04") {
		return imp, false, nil
	}
	_, err = f.Seek(0, io.SeekStart)
	return imp, true, err
}

// eachRecord reads the task records of callvet's lines without their steps.
func eachRecord(in io.Reader, do func(*trace.Task)) (*trace.Log, error) {
	r, err := trace.Open(in, trace.Options{})
	if err != nil {
		return nil, err
	}
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Log(), nil
		}
		if err != nil {
			return nil, err
		}
		if !v.IsTask {
			continue
		}
		t := v.Task()
		do(&t)
	}
}

// calibrated reads calibration files for the judges of trace files. A calibration
// that is not for the very judge of the traces is kept with the reason why it may
// not be used. It needs no memory but for the identities of judges.
func (a *app) calibrated(files, traces []string) ([]steps.Calibrated, error) {
	if len(files) == 0 {
		return nil, nil
	}
	judges := map[string]labels.Judge{}
	for _, path := range traces {
		if a.once(path) {
			return nil, usagef("--calibration reads the traces twice, to see whose verdicts they hold: name a file")
		}
		partial, err := a.isPartial(path)
		if err != nil {
			return nil, err
		}
		if partial {
			return nil, usagef("--calibration needs the traces, to see whose verdicts they hold: %s is a partial result", path)
		}
		_, err = a.eachTask(path, func(t *trace.Task) {
			for _, v := range judgesOf(t.Judged) {
				judges[v.ID()] = v.Judge
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var out []steps.Calibrated
	for _, name := range files {
		c, err := labels.LoadCalibration(a.path(name))
		if err != nil {
			return nil, err
		}
		if c.Worth == nil && c.Table.N() > 0 {
			fmt.Fprintf(a.err, "note: %s does not say what its labels are worth: several labelled attempts of one task count as independent; write it anew with callvet calibrate\n", name)
		}
		one := steps.Calibrated{Judge: c.Judge.Name, Design: string(c.Design)}
		if one.Cal, err = c.Transported(); err != nil {
			one.Refused = err.Error()
		}
		for _, id := range slices.Sorted(maps.Keys(judges)) {
			if j := judges[id]; j.Name == c.Judge.Name && one.Refused == "" {
				if err := c.AppliesTo(j); err != nil {
					one.Refused = err.Error()
				}
			}
		}
		out = append(out, one)
	}
	return out, nil
}

func (r *judgedRun) add(t *trace.Task) {
	key := labels.Key{Target: t.Target, TaskID: t.TaskID, Attempt: t.Attempt, Unit: labels.Task}
	r.gone[key] = t.Failed() || t.Outcome == callvet.OutcomeNotRun // nobody can judge what never ran
	if r.gone[key] {
		return
	}
	l := r.lines[t.TaskID]
	l.Tags = append(l.Tags, t.Tags...)
	if l.Fields == nil {
		l.Fields = t.Fields
	}
	r.lines[t.TaskID] = l
	item := labels.Item{Key: key, Judged: judgesOf(t.Judged)}
	if i, again := r.at[key]; again { // the last record of an attempt counts
		r.items[i] = item
	} else {
		r.at[key], r.items = len(r.items), append(r.items, item)
	}
	for _, l := range t.Labels {
		pass := l.Pass
		role := labels.Role(l.Role)
		if role == "" {
			role = labels.Calibrating
		}
		r.labels = append(r.labels, labels.Label{Key: key, By: l.By, Role: role, Pass: &pass, Note: l.Note})
	}
}

func judgesOf(list []trace.Judged) []labels.Verdict {
	var out []labels.Verdict
	for _, j := range list {
		out = append(out, labels.Verdict{
			Judge: labels.Judge{Name: j.Judge, Model: j.Model, PromptHash: j.PromptHash, Params: j.Params, Threshold: j.Threshold},
			Pass:  j.Pass, Score: j.Score,
		})
	}
	return out
}
