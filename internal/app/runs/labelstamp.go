// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/labels"
)

// LabelStampRequest asks to adopt labels without a fingerprint for the outputs of a run.
type LabelStampRequest struct {
	// Side has the outputs, Labels is the file of labels to stamp.
	app.Side
	Labels string `json:"labels"`
	// Output is the file for the stamped labels; "": Labels itself.
	Output string `json:"output,omitempty"`
	// By is the person who confirms that the labels belong to these outputs.
	By string `json:"by"`
}

// LabelsStamped counts the lines of a labels file that was stamped.
type LabelsStamped struct {
	// Stamped counts lines with a new fingerprint, Had lines that had one before. Absent counts
	// lines about attempts that are not in the run; they stay unchanged.
	Stamped int `json:"stamped"`
	Had     int `json:"had"`
	Absent  int `json:"absent"`
	// Compared counts verdicts of judges that are in the labels and in the run, Contradict those of
	// them that differ.
	Compared   int `json:"compared"`
	Contradict int `json:"contradict"`
}

// maxContradicting is the largest share of verdicts that may differ between labels and run: with
// more, the labels belong to different outputs.
const maxContradicting = 0.05

// LabelStamp adopts labels for the outputs of a run. The error wraps callvet.ErrConflict if the
// judges' verdicts in the labels differ from the run's; nothing is written then.
func LabelStamp(ctx context.Context, a *app.App, req LabelStampRequest, events app.Events) (*LabelsStamped, error) {
	if err := req.CheckOne("traces"); err != nil {
		return nil, err
	}
	if labels.Person(req.By) == "" {
		return nil, app.Refused("by", "who says that the labels are of these outputs? give {by} NAME")
	}
	all, err := wholeLabels(a, req.Labels, events)
	if err != nil {
		return nil, err
	}
	of, err := results.TasksOfSide(ctx, a, req.Side)
	if err != nil {
		return nil, err
	}
	run, err := results.ReadJudgedTasks(a, of, events)
	if err != nil {
		return nil, err
	}
	out := stamp(run, all, labels.Stamp{By: req.By, At: a.Config.Now().UTC()})
	if float64(out.Contradict) > maxContradicting*float64(out.Compared) {
		return out, &callvet.Hinted{
			Err: fmt.Errorf(
				"stamp labels: %w: %d of %d verdicts of judges in %s are not those of %s: the labels were given on other outputs",
				callvet.ErrConflict, out.Contradict, out.Compared, req.Labels, of.Name),
			Hint: "stamp them with the run that they were given on, and label outputs of this one: callvet label next",
		}
	}
	var text bytes.Buffer
	if err := labels.Export(&text, all, "jsonl"); err != nil {
		return out, err
	}
	name := req.Output
	if name == "" {
		name = req.Labels
	}
	return out, a.WriteText(ctx, name, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err })
}

// wholeLabels reads every line of a labels file. A line that was cut off is an error: it would be
// lost when the file is written again.
func wholeLabels(a *app.App, name string, events app.Events) ([]labels.Label, error) {
	f, err := a.Config.Files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	defer f.Close()
	all, problems, err := labels.Read(f, name)
	if err != nil {
		return nil, err
	}
	for i := range problems {
		problems[i].Warning = false
	}
	return all, results.ReportLabelProblems("stamp labels", problems, events)
}

// stamp sets the fingerprint of labels without one to that of their attempt.
func stamp(r *results.JudgedRun, all []labels.Label, by labels.Stamp) *LabelsStamped {
	out := &LabelsStamped{}
	only := map[labels.Key]int{} // by task and attempt; -1: several targets
	for i := range r.Items {
		k := r.Items[i].Key
		k.Target = ""
		if _, two := only[k]; two {
			i = -1
		}
		only[k] = i
	}
	for i := range all {
		l := &all[i]
		if l.Fingerprint != "" {
			out.Had++
			continue
		}
		key := labels.Key{Target: l.Target, TaskID: l.TaskID, Attempt: l.Attempt, Unit: labels.Task}
		at, there := r.At[key]
		if !there && l.Target == "" {
			at, there = only[key]
		}
		if !there || at < 0 {
			out.Absent++
			continue
		}
		it := &r.Items[at]
		l.Fingerprint, l.Run, l.Stamped = it.Fingerprint, r.ID, &by
		out.Stamped++
		ours := it.Judged
		if l.Unit.Part() {
			part := it.Key
			part.Unit, part.CallID, part.Turn = l.Unit, l.CallID, l.Turn
			ours = r.Parts.On(part, l.Judged)
		}
		for _, v := range l.Judged {
			for _, own := range ours {
				now, known := own.Passed()
				before, also := v.Passed()
				if own.ID() != v.ID() || !known || !also {
					continue
				}
				out.Compared++
				if now != before {
					out.Contradict++
				}
			}
		}
	}
	return out
}
