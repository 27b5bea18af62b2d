// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/stats"
)

// CalibrateRequest requests a comparison of a judge with people.
type CalibrateRequest struct {
	// Labels is a file of people's labels; Judge a name, or the ID of a judge where
	// several share a name.
	Labels string `json:"labels"`
	Judge  string `json:"judge"`
	// Traces is a file, or Run a stored run, with judged tasks to correct; "": none.
	Traces string `json:"traces,omitempty"`
	Run    string `json:"run,omitempty"`
	// Unit is the unit of the labels: task (also ""), turn or call.
	Unit labels.Unit `json:"unit,omitempty"`
	// By is a slice key of the tasks; "": none.
	By string `json:"by,omitempty"`
	// Output is a file for the calibration, for use with other runs; "": none.
	Output string `json:"output,omitempty"`
	// Against is an earlier calibration file, to see whether the judge has drifted; "": none.
	Against string `json:"against,omitempty"`
	// Width is the desired width of intervals, in (0,1): the report shows how many labels it needs;
	// 0: not shown.
	Width float64 `json:"width,omitempty"`
}

// CalibrateReport is how a judge compares with people.
type CalibrateReport = labels.CalibrationReport

func (r *CalibrateRequest) check() error {
	switch {
	case r.Judge == "":
		return app.Refused("judge", "which judge? give {judge} NAME")
	case r.Unit != "" && !slices.Contains(labels.Units(), r.Unit):
		return app.Wrong("unit", string(r.Unit), "it is task, turn or call")
	case !(r.Width >= 0 && r.Width < 1):
		return app.Wrong("width", fmt.Sprint(r.Width), "write a share above 0 and below 1, such as 0.1")
	case r.Traces != "" && r.Run != "":
		return app.Refused("run", "name trace files or a run")
	case r.By != "" && r.Traces == "" && r.Run == "":
		return app.Refused("by", "{by} %s: labels have no slices; name the traces of their tasks with {traces}", r.By)
	}
	return nil
}

// Calibrate compares a judge with people's labels. If true success cannot be computed, that is not
// an error: the report contains the reason.
func Calibrate(ctx context.Context, a *app.App, req CalibrateRequest,
	events app.Events,
) (*labels.CalibrationReport, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.Unit == "" {
		req.Unit = labels.Task
	}
	ls, opinions, err := ReadLabels(a, req.Labels, events)
	if err != nil {
		return nil, err
	}
	in := labels.CalibrationInput{
		Judge: req.Judge, Unit: req.Unit, Labels: labels.WithOpinions(ls, opinions),
		Width: req.Width,
	}
	if req.Against != "" {
		before, err := readCalibration(a, req.Against)
		if err != nil {
			return nil, err
		}
		if before.Unit != req.Unit {
			return nil, app.Wrong("against", req.Against, "it is of %ss", before.Unit)
		}
		in.Before = &before
	}
	run, of := &JudgedRun{}, Tasks{}
	if req.Traces != "" || req.Run != "" {
		if of, err = TasksOfSide(ctx, a, app.Side{Run: req.Run, Traces: req.Traces}); err != nil {
			return nil, err
		}
		if run, err = ReadJudgedTasks(a, of, events); err != nil {
			return nil, err
		}
		in.Labels = append(in.Labels, run.Labels...)
		run.AddOpinions(opinions)
		in.Run, in.Outputs, in.RunID, in.Opinions = run.judgements(), run.outputs(), run.ID, opinions
	}
	r, err := labels.Calibrate(in)
	if err != nil {
		return nil, err
	}
	if req.By != "" {
		if r.Slices, err = run.bySlice(&of, in, r, &req); err != nil {
			return nil, err
		}
	}
	if req.Output != "" {
		c := r.Calibration(filepath.Base(req.Labels), a.Config.Now())
		if err := a.WriteText(ctx, req.Output,
			func(w io.Writer) error { _, err := c.WriteTo(w); return err }); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// ReadLabels reads a labels file: labels of people, and lines with only verdicts of judges. It
// reports lines that were cut off; other invalid lines are an error.
func ReadLabels(a *app.App, path string, events app.Events) (people, opinions []labels.Label, err error) {
	f, err := a.Config.Files.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read labels: %w", err)
	}
	defer f.Close()
	ls, problems, err := labels.Read(f, path)
	if err != nil {
		return nil, nil, err
	}
	problems = append(problems, labels.Future(ls, path, a.Config.Now())...)
	people, opinions = labels.Split(ls)
	return people, opinions, ReportLabelProblems("read labels", problems, events)
}

// ReportLabelProblems reports problems; the error wraps callvet.ErrInvalid if one is more than a warning.
func ReportLabelProblems(doing string, problems []callvet.Problem, events app.Events) error {
	var bad []callvet.Problem
	for _, p := range problems {
		if p.Warning {
			events.Warn("label", p.Error())
		} else {
			bad = append(bad, p)
		}
	}
	events.Problems(bad)
	if len(bad) > 0 {
		return fmt.Errorf("%s: %w: %d lines are no labels", doing, callvet.ErrInvalid, len(bad))
	}
	return nil
}

// JudgedRun has the verdicts in a trace file or a run.
type JudgedRun struct {
	Items  []labels.CalibrationItem
	At     map[labels.Key]int         // the position of an attempt in items
	lines  map[string]steps.SliceLine // the slices of a task
	Labels []labels.Label
	Gone   map[labels.Key]bool // attempts that failed or did not run, by their last record
	// Parts are verdicts on calls and turns.
	Parts       parts
	hasVerdicts bool
	// ID is the name of the run in labels. unknown counts verdicts in labels files on unknown
	// outputs.
	ID      string
	unknown int
}

// maxSliceValues bounds the reported values of a slice key: those with the most labels.
const maxSliceValues = 50

// bySlice reports on the judge by the slice values of the run's tasks. The error names the
// available keys.
func (r *JudgedRun) bySlice(of *Tasks, in labels.CalibrationInput, all *labels.CalibrationReport,
	f *CalibrateRequest,
) (*labels.SliceReport, error) {
	if err := Unambiguous("by", []string{f.By}); err != nil {
		return nil, err
	}
	if err := r.readTools(of); err != nil {
		return nil, err
	}
	out, err := labels.BySlice(in, all, f.By, maxSliceValues, r.valuesOf(f.By))
	if err != nil || len(out.Values) > 0 {
		return out, err
	}
	keys := map[string]bool{}
	for _, l := range r.lines {
		for _, s := range steps.SlicesOf([]string{callvet.SliceExpectedTool, "language", "tag", "*"}, l) {
			keys[s[0]] = true
		}
	}
	known := slices.Sorted(maps.Keys(keys))
	bad := &callvet.FieldError{Field: "by", Text: fmt.Sprintf("{by} %s: no task of %s has it", f.By, f.Traces+f.Run)}
	if near := callvet.Nearest(f.By, known); near != "" {
		bad.Fix = "{by} " + near
	} else if len(known) > 0 {
		bad.Fix = "{by} with one of " + strings.Join(known[:min(12, len(known))], ", ")
	}
	return nil, bad
}

// AddOpinions adds verdicts of a labels file on outputs of the run, or on their calls. The run's
// own verdicts of a judge take precedence over a labels file.
func (r *JudgedRun) AddOpinions(opinions []labels.Label) {
	verdicts := map[labels.Thing][]labels.Verdict{}
	for i := range opinions {
		if o := &opinions[i]; o.Fingerprint == "" {
			r.unknown++
		} else if !o.Unit.Part() {
			verdicts[o.Thing()] = labels.Merge(verdicts[o.Thing()], o.Judged)
		}
	}
	r.addParts(opinions, false)
	for i := range r.Items {
		it := &r.Items[i]
		for _, v := range verdicts[labels.ThingOf(it.Key, it.Fingerprint)] {
			if !slices.ContainsFunc(it.Judged, func(own labels.Verdict) bool { return own.ID() == v.ID() }) {
				it.Judged, r.hasVerdicts = append(it.Judged, v), true
			}
		}
	}
}

// outputs returns the outputs of the run.
func (r *JudgedRun) outputs() []labels.JudgeOutput {
	out := make([]labels.JudgeOutput, len(r.Items))
	for i := range r.Items {
		out[i] = labels.JudgeOutput{Key: r.Items[i].Key, Fingerprint: r.Items[i].Fingerprint}
	}
	return out
}

func (r *JudgedRun) judgements() []labels.Judgement {
	out := []labels.Judgement{}
	for _, it := range r.Items {
		for _, v := range it.Judged {
			out = append(out, labels.Judgement{Key: it.Key, Fingerprint: it.Fingerprint, Verdict: v})
		}
	}
	return append(out, r.Parts.All...)
}

// ReadJudgedTasks reads the verdicts and labels of tasks.
func ReadJudgedTasks(a *app.App, of Tasks, events app.Events) (*JudgedRun, error) {
	out, log, err := judgedOf(&of)
	if err != nil {
		return nil, err
	}
	if of.file != "" && log.Steps+log.Tasks == 0 && len(out.Items) == 0 {
		return nil, a.NoTracesError([]string{of.file})
	}
	events.Lines(log.Problems(of.Name), log)
	return out, nil
}

// judgedOf is readJudged without what is shown of the lines.
func judgedOf(of *Tasks) (*JudgedRun, *trace.Log, error) {
	out := &JudgedRun{At: map[labels.Key]int{}, lines: map[string]steps.SliceLine{}, Gone: map[labels.Key]bool{}}
	log, err := of.each(func(t *trace.Task) {
		if !of.Without[t.TaskID] {
			out.add(t)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	out.Items = slices.DeleteFunc(out.Items, func(it labels.CalibrationItem) bool { return out.Gone[it.Key] })
	clear(out.At)
	for i := range out.Items {
		out.At[out.Items[i].Key] = i
	}
	out.Labels = slices.DeleteFunc(out.Labels, func(l labels.Label) bool { return out.Gone[l.Key] })
	if err := out.fingerprint(of); err != nil {
		return nil, nil, err
	}
	if of.parts == nil {
		return out, log, nil
	}
	own, err := of.parts()
	out.addParts(own, true)
	return out, log, err
}

// outputOf is the fingerprint of an attempt's output.
func outputOf(at *trace.Attempt) string { return labels.Fingerprint(at.Goal, at.Input, &at.Trace) }

// fingerprint sets the fingerprint of each attempt's output, so that labels of its record belong to
// that output.
func (r *JudgedRun) fingerprint(of *Tasks) (err error) {
	if r.ID, err = of.id(); err != nil {
		return err
	}
	err = of.attempts(func(at *trace.Attempt) error {
		key := labels.Key{Target: at.Trace.Target, TaskID: at.Trace.CaseID, Attempt: at.Trace.Repeat, Unit: labels.Task}
		if i, known := r.At[key]; known {
			r.Items[i].Fingerprint = outputOf(at)
		}
		return nil
	})
	for i := range r.Labels {
		if at, known := r.At[r.Labels[i].Key]; known {
			r.Labels[i].Fingerprint, r.Labels[i].Run = r.Items[at].Fingerprint, r.ID
		}
	}
	return err
}

// Calibrated reads calibration files for the judges of trace files or a run. A calibration of a
// different judge is kept with the reason why it may not be used. The memory depends only on the
// number of judges.
func Calibrated(a *app.App, files []string, sources []Tasks, events app.Events) ([]steps.Calibrated, error) {
	if len(files) == 0 {
		return nil, nil
	}
	judges := map[string]labels.Judge{}
	for i := range sources {
		if err := refuseOneTimeFiles(a, &sources[i], "calibrations"); err != nil {
			return nil, err
		}
		_, err := sources[i].each(func(t *trace.Task) {
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
		c, err := readCalibration(a, name)
		if err != nil {
			return nil, err
		}
		if c.Worth == nil && c.Table.N() > 0 {
			events.Note("unweighted-labels",
				"%s does not say what its labels are worth: several labelled attempts of one task count as independent; write it anew with callvet calibrate", name)
		}
		against := ""
		for _, id := range slices.Sorted(maps.Keys(judges)) {
			if j := judges[id]; j.Name == c.Judge.Name && against == "" {
				if err := c.AppliesTo(j); err != nil {
					against = err.Error()
				}
			}
		}
		out = append(out, steps.Calibrated{
			Judge: c.Judge.Name,
			TrueSuccess: func(judged stats.Interval, confidence float64) (stats.Interval, string) {
				return c.TrueSuccess(judged, confidence, against)
			},
		})
	}
	return out, nil
}

func readCalibration(a *app.App, name string) (labels.Calibration, error) {
	b, err := a.Read(name, labels.MaxCalibrationBytes)
	if err != nil {
		return labels.Calibration{}, fmt.Errorf("read calibration: %w", err)
	}
	c, err := labels.ParseCalibration(name, b)
	if err != nil {
		return c, fmt.Errorf("read calibration: %w: %w", callvet.ErrInvalid, err)
	}
	return c, nil
}

func (r *JudgedRun) add(t *trace.Task) {
	key := labels.Key{Target: t.Target, TaskID: t.TaskID, Attempt: t.Attempt, Unit: labels.Task}
	r.Gone[key] = t.Failed() || t.Outcome == callvet.OutcomeNotRun // an attempt that did not run cannot be judged
	if r.Gone[key] {
		return
	}
	l := r.lines[t.TaskID]
	l.Tags = append(l.Tags, t.Tags...)
	if l.Fields == nil {
		l.Fields = t.Fields
	}
	if l.Expected == nil {
		l.Expected = t.ExpectedTools()
	}
	r.lines[t.TaskID] = l
	item := labels.CalibrationItem{Key: key, Judged: judgesOf(t.Judged), Auto: t.Pass}
	if i, again := r.At[key]; again { // the last record of an attempt counts
		r.Items[i] = item
	} else {
		r.At[key], r.Items = len(r.Items), append(r.Items, item)
	}
	for _, l := range t.Labels {
		pass := l.Pass
		role := labels.Role(l.Role)
		if role == "" {
			role = labels.Calibrating
		}
		r.Labels = append(r.Labels, labels.Label{Key: key, By: l.By, Role: role, Pass: &pass, Note: l.Note})
	}
}

func judgesOf(list []trace.Judged) []labels.Verdict {
	var out []labels.Verdict
	for _, j := range list {
		out = append(out, labels.Verdict{
			Judge: labels.Judge{
				Name: j.Judge, Model: j.Model, PromptHash: j.PromptHash, Params: j.Params,
				Threshold: j.Threshold,
			},
			Pass: j.Pass, Score: j.Score,
		})
	}
	return out
}
