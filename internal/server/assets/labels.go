// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// Limits of the labels of one run or collection.
const (
	maxLabels     = 100_000
	maxLabelBytes = 32 << 20
)

// labelled is an object with labels: a run, or a collection of traces.
type labelled struct {
	kind api.Kind
	id   string
}

// about is its name in the store.
func (l labelled) about() string {
	if l.kind == api.KindRun {
		return store.RunLabels(l.id)
	}
	return string(l.kind) + ":" + l.id
}

// labelledKind is a kind of labelled object, with its path and its name in operations.
type labelledKind struct {
	kind       api.Kind
	path, name string
}

func labelledKinds() []labelledKind {
	return []labelledKind{{api.KindRun, "/api/runs/{id}", "run"}, {api.KindTraces, "/api/traces/{id}", "traces"}}
}

// op is an operation on the labels of a thing of the kind.
func (k labelledKind) op(id, method, path, summary string) huma.Operation {
	return huma.Operation{
		OperationID: id + "-" + k.name, Method: method, Path: k.path + path, Summary: summary,
		Tags: []string{"labels"},
	}
}

// addLabels adds the routes of people's labels and of calibration, the same for runs and for
// collections of traces.
func addLabels(s *api.Server) {
	for _, of := range labelledKinds() {
		op := of.op
		objects := map[string]api.Kind{"id": of.kind}
		api.Answer(s,
			op("label-next", http.MethodGet, "/labels/next",
				"Draws the next tasks, calls or turns that you should label. What judges said is not shown."),
			api.Access{Objects: objects},
			func(ctx context.Context, by *account.Principal, in *labelNextIn) (*LabelTasks, error) {
				return labelNext(ctx, s, by, labelled{of.kind, in.ID}, in)
			})
		put := uploaded(op("label", http.MethodPost, "/labels",
			"Adds labels, which are yours: filled-in tasks, or labels in a form that callvet reads."),
			"labels, as JSONL, CSV or in another form; the form is found by content")
		api.Answer(s, put, api.Access{Role: account.Member, Objects: objects, Reads: true},
			func(ctx context.Context, by *account.Principal, in *labelIn) (*LabelsAdded, error) {
				return addLabel(ctx, s, by, labelled{of.kind, in.ID}, in)
			})
		back := op("unlabel", http.MethodDelete, "/labels", "Deletes your labels of a task, a call or a turn.")
		api.Answer(s, back, api.Access{Role: account.Member, Objects: objects, Reads: true},
			func(ctx context.Context, by *account.Principal, in *unlabelIn) (*LabelsRemoved, error) {
				return dropLabel(ctx, s, by, labelled{of.kind, in.ID}, in)
			})
		api.Add(s, api.Downloads("the labels as a file", op("export-labels", http.MethodGet, "/labels",
			"Downloads the labels that count: the last one of each person for each task.")),
			api.Access{Objects: objects}, func(ctx context.Context, by *account.Principal, in *struct {
				api.RunIn
				Format string `query:"format" enum:"jsonl,csv" default:"jsonl"`
			},
			) (*File, error) {
				return exportLabels(ctx, s, by, labelled{of.kind, in.ID}, in.Format)
			})
		api.Answer(s,
			op("calibrate", http.MethodPost, "/calibrate",
				"Compares a judge with the labels, and corrects its verdicts on these tasks."),
			api.Access{Objects: objects, Reads: true, Scope: account.ScopeRead},
			func(ctx context.Context, by *account.Principal, in *struct {
				api.RunIn
				Body CalibrateAsk
			},
			) (*Calibrated, error) {
				return calibrate(ctx, s, by, labelled{of.kind, in.ID}, &in.Body)
			})
	}
}

type (
	labelNextIn struct {
		api.RunIn
		Unit     string  `query:"unit" enum:"task,turn,call" default:"task" doc:"what is labelled"`
		N        int     `query:"n" minimum:"1" maximum:"500" default:"20"`
		Strategy string  `query:"strategy" enum:"random,neyman,disagree" default:"random" doc:"random: the labels may calibrate the judge; neyman: by the judge's verdict, best for true success of these tasks; disagree: first where verdicts disagree, for the role design"`
		Judge    string  `query:"judge" maxLength:"200" doc:"the judge: its verdicts divide what is drawn from"`
		Role     string  `query:"role" enum:"calibration,validation,test,design" default:"calibration" doc:"what the labels are for"`
		Double   float64 `query:"double" minimum:"0" maximum:"1" doc:"share of the tasks that another person has labelled already"`
		Seed     uint64  `query:"seed" default:"1" doc:"order of the draw"`
	}
	labelIn struct {
		api.RunIn
		Upload
		Format string `query:"format" maxLength:"50" doc:"the form of the labels; empty: it is found by content"`
		Role   string `query:"role" enum:"calibration,validation,test,design" default:"calibration" doc:"for labels without it"`
		Key    string `query:"key" maxLength:"200" doc:"the feedback to take, where a file has several"`
	}
	unlabelIn struct {
		api.RunIn
		Target  string `query:"target" maxLength:"500"`
		TaskID  string `query:"task_id" required:"true" minLength:"1" maxLength:"1000"`
		Attempt int    `query:"attempt" minimum:"0"`
		Unit    string `query:"unit" enum:"task,turn,call" default:"task"`
		CallID  string `query:"call_id" maxLength:"1000"`
		Turn    int    `query:"turn" minimum:"0"`
	}
	// LabelsRemoved counts the removed labels.
	LabelsRemoved struct {
		Removed int `json:"removed" doc:"0: there was no label of yours"`
	}
	// LabelTasks are tasks to label. Fill in pass and send them back, one on a line.
	LabelTasks struct {
		Items []json.RawMessage `json:"items" nullable:"false" doc:"goal, steps, answer and turns of a task, or the question and the evidence of a call or a turn, with its key and pass: null; none when all are labelled"`
	}
	// LabelsAdded is the result of adding labels.
	LabelsAdded struct {
		Form  string   `json:"form"`
		Added int      `json:"added"`
		Open  int      `json:"open" doc:"without a verdict, and left out"`
		Notes []string `json:"notes" nullable:"false"`
	}
	// CalibrateAsk requests a comparison of a judge with people.
	CalibrateAsk struct {
		Judge   string          `json:"judge" minLength:"1" maxLength:"500" doc:"a name, or the id of a judge where several share a name"`
		Unit    string          `json:"unit,omitempty" enum:"task,turn,call"`
		By      string          `json:"by,omitempty" maxLength:"200" doc:"a slice key of these tasks"`
		Width   float64         `json:"width,omitempty" minimum:"0" maximum:"1" doc:"the desired width of intervals: the report shows how many labels it needs"`
		Against json.RawMessage `json:"against,omitempty" doc:"an earlier calibration, to see whether the judge has drifted"`
	}
	// Calibrated is the comparison of a judge with people.
	Calibrated struct {
		Report *results.CalibrateReport `json:"report"`
		// Calibration can be used for other runs of the judge.
		Calibration json.RawMessage  `json:"calibration" doc:"the calibration of the judge, for score and gate"`
		Notes       []callvet.Notice `json:"notes" nullable:"false"`
	}
)

const (
	labelsField  = library.Reserved + "labels"
	againstField = library.Reserved + "against"
)

// labelLines are the labels of a run or a collection as a file; nil if there are none.
func labelLines(ctx context.Context, s *api.Server, of labelled) ([]byte, error) {
	list, err := s.Config.Store.Rows().LabelLines(ctx, of.about())
	if err != nil {
		return nil, fmt.Errorf("read labels: %w", err)
	}
	text := make([][]byte, len(list))
	for i, l := range list {
		if err := store.Intact(l.Whole, "labels"); err != nil {
			return nil, err
		}
		text[i] = l.Line
	}
	stored, err := s.Config.Store.Rows().LabelsStored(ctx, of.about())
	if err == nil {
		err = store.Intact(stored == int64(len(list)), "labels")
	}
	return bytes.Join(text, nil), err
}

// bringing opens a run or a collection. Release it.
func bringing(ctx context.Context, s *api.Server,
	of labelled,
) (files app.Uploads, side app.Side, release func(), err error) {
	files = app.Uploads{}
	if release, err = alone(ctx, s); err != nil {
		return nil, side, nil, err
	}
	if of.kind == api.KindRun {
		side.Run = of.id
	} else if side.Traces, err = bring(ctx, s, of.id, files); err != nil {
		release()
	}
	return files, side, release, err
}

// labelling opens a run or a collection with its labels. Release it.
func labelling(ctx context.Context, s *api.Server,
	of labelled,
) (files app.Uploads, side app.Side, release func(), err error) {
	if files, side, release, err = bringing(ctx, s, of); err != nil {
		return nil, side, nil, err
	}
	if files[labelsField], err = labelLines(ctx, s, of); err != nil {
		release()
	}
	return files, side, release, err
}

func labelNext(ctx context.Context, s *api.Server, by *account.Principal, of labelled,
	in *labelNextIn,
) (*LabelTasks, error) {
	files, side, release, err := labelling(ctx, s, of)
	if err != nil {
		return nil, err
	}
	defer release()
	req := runs.LabelNextRequest{
		Side: side, Unit: runs.LabelUnit(in.Unit), N: in.N,
		Strategy: runs.LabelStrategy(in.Strategy), Judge: in.Judge, By: by.Name, Role: runs.LabelRole(in.Role),
		Double: in.Double, Seed: in.Seed,
	}
	if len(files[labelsField]) > 0 {
		req.Labels = labelsField
	}
	h := &api.Notices{}
	todo, err := runs.LabelNext(ctx, s.Config.App.With(files), req, h.Collect)
	if err != nil {
		return nil, h.Refused(err)
	}
	var text bytes.Buffer
	if err := runs.WriteConversations(&text, todo); err != nil {
		return nil, err
	}
	out := LabelTasks{Items: []json.RawMessage{}}
	for line := range bytes.Lines(text.Bytes()) {
		out.Items = append(out.Items, bytes.Clone(bytes.TrimSpace(line)))
	}
	return &out, nil
}

func addLabel(ctx context.Context, s *api.Server, by *account.Principal, of labelled,
	in *labelIn,
) (*LabelsAdded, error) {
	text, _, err := in.file()
	if err != nil {
		return nil, err
	}
	req := runs.LabelImportRequest{
		File: labelsField, By: by.Name, Role: runs.LabelRole(in.Role), Format: in.Format,
		Key: in.Key,
	}
	h := &api.Notices{}
	read, err := runs.LabelLines(s.Config.App.With(app.Uploads{labelsField: text}), req,
		by.Role != account.Admin, h.Collect)
	if err != nil {
		return nil, h.Refused(err)
	}
	size := int64(0)
	for _, line := range read.Lines {
		size += int64(len(line))
	}
	now := s.Config.Now().UnixMilli()
	err = s.Config.Store.Change(ctx, "keep labels", func(q *rows.Queries) error {
		have, err := q.LabelsOf(ctx, of.about())
		if err != nil {
			return err
		}
		if have.N+int64(len(read.Lines)) > maxLabels || have.Bytes+size > maxLabelBytes {
			return fmt.Errorf("add labels: %w: there are %d, and at most %d, or %d bytes, are kept", callvet.ErrLimited,
				have.N, maxLabels, maxLabelBytes)
		}
		for i, line := range read.Lines {
			err := q.AddLabelLine(ctx,
				rows.AddLabelLineParams{
					About: of.about(), Seq: have.Last + int64(i) + 1, UserID: by.User, Created: now,
					Line: line,
				})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, api.Full(err)
	}
	return &LabelsAdded{
		Form: read.Form, Added: len(read.Lines), Open: read.Open,
		Notes: append([]string{}, read.NotImported...),
	}, nil
}

// dropLabel removes the labels of by for one task.
func dropLabel(ctx context.Context, s *api.Server, by *account.Principal, of labelled,
	in *unlabelIn,
) (*LabelsRemoved, error) {
	key := runs.LabelKey{
		Target: in.Target, TaskID: in.TaskID, Attempt: in.Attempt, Unit: runs.LabelUnit(in.Unit),
		CallID: in.CallID, Turn: in.Turn,
	}
	var out LabelsRemoved
	err := s.Config.Store.Change(ctx, "take labels back", func(q *rows.Queries) error {
		out.Removed = 0
		list, err := q.LabelLinesBy(ctx, rows.LabelLinesByParams{About: of.about(), UserID: by.User})
		if err != nil {
			return err
		}
		for _, l := range list {
			about, err := runs.LabelOf(l.Line)
			if err != nil {
				return err
			}
			if about != key {
				continue
			}
			if err := q.DropLabelLine(ctx, rows.DropLabelLineParams{About: of.about(), Seq: l.Seq}); err != nil {
				return err
			}
			out.Removed++
		}
		return nil
	})
	if err != nil {
		return nil, api.Full(err)
	}
	return &out, nil
}

func exportLabels(ctx context.Context, s *api.Server, _ *account.Principal, of labelled, format string) (*File, error) {
	lines, err := labelLines(ctx, s, of)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if len(lines) > 0 {
		if err := runs.LabelExport(s.Config.App.With(app.Uploads{labelsField: lines}),
			runs.LabelExportRequest{Labels: labelsField, To: format}, &text, nil); err != nil {
			return nil, err
		}
	}
	return &File{
		ContentType: api.MediaTypes()[format], Disposition: `attachment; filename="labels.` + format + `"`,
		Body: text.Bytes(),
	}, nil
}

func calibrate(ctx context.Context, s *api.Server, _ *account.Principal, of labelled,
	ask *CalibrateAsk,
) (*Calibrated, error) {
	files, side, release, err := labelling(ctx, s, of)
	if err != nil {
		return nil, err
	}
	defer release()
	req := results.CalibrateRequest{
		Labels: labelsField, Judge: ask.Judge, Run: side.Run, Traces: side.Traces,
		Unit: runs.LabelUnit(ask.Unit), By: ask.By, Width: ask.Width,
	}
	if !api.Null(ask.Against) {
		req.Against, files[againstField] = againstField, ask.Against
	}
	h := &api.Notices{}
	rep, err := results.Calibrate(ctx, s.Config.App.With(files), req, h.Collect)
	if errors.Is(err, callvet.ErrNotFound) {
		return nil, &callvet.FieldError{
			Field: "judge",
			Text: fmt.Sprintf("{judge} %s: no verdict on these tasks, or with their labels, is of that judge",
				ask.Judge),
		}
	}
	if err != nil {
		return nil, h.Refused(err)
	}
	c := rep.Calibration("labels of "+strings.ReplaceAll(of.about(), ":", " "), s.Config.Now())
	var text bytes.Buffer
	if _, err := c.WriteTo(&text); err != nil {
		return nil, err
	}
	return &Calibrated{Report: rep, Calibration: text.Bytes(), Notes: h.All()}, nil
}

// people adds labels and calibrations to the files, if the request asks for them.
func people(ctx context.Context, s *api.Server, w *TraceWith, of labelled, set *app.TraceSettings,
	files app.Uploads,
) error {
	for i, c := range w.Calibrations {
		name := fmt.Sprintf("%scalibrations[%d]", library.Reserved, i)
		set.Calibrations, files[name] = append(set.Calibrations, name), c
	}
	if !w.Labels {
		return nil
	}
	if of.id == "" {
		return &callvet.FieldError{Field: "labels", Text: "{labels}: they are of a run or a collection"}
	}
	lines, err := labelLines(ctx, s, of)
	if err == nil && len(lines) == 0 {
		err = &callvet.FieldError{Field: "labels", Text: fmt.Sprintf("{labels}: %s %s has none", of.kind, of.id)}
	}
	set.Labels, files[labelsField] = labelsField, lines
	return err
}
