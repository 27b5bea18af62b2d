// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
)

// LabelNextRequest asks for the next tasks that a person should label.
type LabelNextRequest struct {
	// Side has the tasks. Labels is the file of labels: tasks in it are not drawn again. It need
	// not exist.
	app.Side
	Labels string `json:"labels,omitempty"`
	// Unit is the labelled unit: task (also ""), call or turn. Tools are files with the catalogue
	// for trace files without one; people who label calls or turns see it.
	Unit  labels.Unit `json:"unit,omitempty"`
	Tools []string    `json:"tools,omitempty"`
	// N is the number of units.
	N        int             `json:"n"`
	Strategy labels.Strategy `json:"strategy,omitempty"`
	// Judge is the judge with the verdicts that divide the tasks, if the strategy needs it.
	Judge string `json:"judge,omitempty"`
	// By is the person who labels, Role the purpose of the labels.
	By   string      `json:"by,omitempty"`
	Role labels.Role `json:"role"`
	// Double is the share of tasks that a different person has labelled already.
	Double float64 `json:"double,omitempty"`
	Seed   uint64  `json:"seed,omitempty"`
}

func (r *LabelNextRequest) check() error {
	switch {
	case r.Unit != "" && !slices.Contains(labels.Units(), r.Unit):
		return app.Wrong("unit", string(r.Unit), "it is task, turn or call")
	case len(r.Tools) > 0 && !r.Unit.Part():
		return app.Refused("tools", "{tools} is shown to people who label calls or turns: give {unit} call or turn")
	case len(r.Tools) > 0 && r.Run != "":
		return app.Refused("tools", "{tools} is for trace files: a run has its own")
	case r.Role != labels.Calibrating && r.Role != labels.Validation && r.Role != labels.Test &&
		r.Role != labels.Design:
		return app.Wrong("role", string(r.Role), "it is calibration, validation, test or design")
	}
	return r.CheckOne("traces")
}

// Todo is a task, a call or a turn to label: the label without its verdict, and the shown texts.
type Todo struct {
	Label labels.Label
	Shown ShownTask
	// Turns are the conversation, as blind as Shown; nil if it is too long to be shown whole.
	Turns []callvet.Turn
}

// LabelNext draws the next tasks, calls or turns to label; none when all are labelled.
func LabelNext(ctx context.Context, a *app.App, req LabelNextRequest, events app.Events) ([]Todo, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	var done, opinions []labels.Label
	var err error
	if req.Labels != "" && a.Config.Files.Kind(req.Labels) != app.KindNone {
		if done, opinions, err = results.ReadLabels(a, req.Labels, events); err != nil {
			return nil, err
		}
	}
	of, err := results.TasksOfSide(ctx, a, req.Side)
	if err != nil {
		return nil, err
	}
	run, err := results.ReadJudgedTasks(a, of, events)
	if err != nil {
		return nil, err
	}
	run.AddOpinions(opinions)
	if len(run.Items) == 0 && len(run.Gone) == 0 {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("draw tasks of %s: %w: it has no task record, and labels are of tasks", of.Name,
				callvet.ErrInvalid),
			Hint: `a line such as {"type":"task","task_id":"…","final_answer":"…"} for each task; callvet schema trace`,
		}
	}
	q := labels.Queue{
		Strategy: req.Strategy, Judge: req.Judge, N: req.N, Double: req.Double, By: req.By,
		Role: req.Role, Seed: req.Seed, Run: run.ID, Unit: req.Unit,
	}
	if req.Unit.Part() {
		return nextParts(ctx, a, &req, &q, run, append(done, run.Labels...), events)
	}
	drawn, err := q.Next(run.Items, append(done, run.Labels...))
	if err != nil || len(drawn) == 0 {
		return nil, err
	}
	return readShown(ctx, a, req.Side, drawn)
}

// LabelImportRequest asks to add labels of other tools, or a filled-in to-do file, to a
// file of labels.
type LabelImportRequest struct {
	// File is the file to read, Labels the file to which its labels are added.
	File   string `json:"file"`
	Labels string `json:"labels"`
	// By and Role are the defaults for labels without them.
	By   string      `json:"by,omitempty"`
	Role labels.Role `json:"role,omitempty"`
	// Format is one of labels.Forms; "": it is found by content.
	Format string `json:"format,omitempty"`
	// Key is the feedback key to import, if the file has several.
	Key string `json:"key,omitempty"`
}

// LabelImport adds labels to a file, all or none.
func LabelImport(a *app.App, req LabelImportRequest, events app.Events) (m *labels.Imported, err error) {
	if m, err = importLabels(a, &req, events); err != nil {
		return m, err
	}
	to, err := OpenLabels(a, req.Labels, events)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return m, to.Append(m.Labels...)
}

func importLabels(a *app.App, req *LabelImportRequest, events app.Events) (*labels.Imported, error) {
	in, err := a.Config.Files.Open(req.File)
	if err != nil {
		return nil, fmt.Errorf("import labels: %w", err)
	}
	defer in.Close()
	now := a.Config.Now().UTC()
	m, err := labels.Import(in,
		labels.ImportOptions{Form: req.Format, By: req.By, Role: req.Role, Key: req.Key, Name: req.File, Now: now})
	if err != nil {
		return m, err
	}
	return m, results.ReportLabelProblems("import labels", append(m.Problems, labels.Future(m.Labels, req.File, now)...), events)
}

// Terms of labels, for clients.
type (
	LabelRole     = labels.Role
	LabelUnit     = labels.Unit
	LabelKey      = labels.Key
	LabelStrategy = labels.Strategy
)

// LabelsRead are labels as lines of a labels file.
type LabelsRead struct {
	Form  string
	Lines [][]byte
	// Open counts lines without a verdict, which are left out. NotImported lists the data that
	// labels cannot contain.
	Open        int
	NotImported []string
}

// LabelLines reads labels for a client that stores them itself; labels without a time get the
// present time. own refuses labels of people other than By.
func LabelLines(a *app.App, req LabelImportRequest, own bool, events app.Events) (*LabelsRead, error) {
	m, err := importLabels(a, &req, events)
	if err != nil {
		return nil, err
	}
	out := &LabelsRead{Form: m.Form, Open: m.Open, NotImported: m.NotImported()}
	for i := range m.Labels {
		l := &m.Labels[i]
		if own && l.By != req.By {
			return nil, &callvet.FieldError{
				Field: "by", Kind: callvet.ErrDenied,
				Text: fmt.Sprintf("{by}: the label of %s is of %q, and yours are of %q", l.Key, l.By, req.By),
			}
		}
		var line bytes.Buffer
		if err := labels.Export(&line, []labels.Label{*l}, "jsonl"); err != nil {
			return nil, err
		}
		out.Lines = append(out.Lines, line.Bytes())
	}
	return out, nil
}

// LabelOf returns the key of a line of LabelLines.
func LabelOf(line []byte) (LabelKey, error) {
	var k LabelKey
	if err := json.Unmarshal(line, &k); err != nil {
		return k, fmt.Errorf("read label: %w", err)
	}
	k.Unit = cmp.Or(k.Unit, labels.Task)
	return k, nil
}

// LabelExportRequest requests the labels of a file that count.
type LabelExportRequest struct {
	Labels string `json:"labels"`
	// To is csv or jsonl.
	To string `json:"to"`
}

// LabelExport writes the labels of a file that count: the last one of each person for each
// task.
func LabelExport(a *app.App, req LabelExportRequest, w io.Writer, events app.Events) error {
	ls, _, err := results.ReadLabels(a, req.Labels, events)
	if err != nil {
		return err
	}
	ls, _ = labels.Latest(ls)
	return labels.Export(w, ls, req.To)
}

// LabelForms are the forms of labels that LabelImport reads.
func LabelForms() []string { return labels.Forms() }

// ShownTask is a task as shown to a person, redacted. For a call or a turn it has the Evidence that
// was shown to the judge, and for a turn also its calls.
type ShownTask struct {
	Question string   `json:"question,omitempty"`
	Evidence string   `json:"evidence,omitempty"`
	Goal     string   `json:"goal,omitempty"`
	Steps    []string `json:"steps,omitempty"`
	Answer   string   `json:"answer,omitempty"`
}

// MaxShown bounds one step or answer, in bytes.
const MaxShown = 4000

// readShown reads the attempts to label, redacted.
func readShown(ctx context.Context, a *app.App, of app.Side, drawn []labels.Label) ([]Todo, error) {
	out := make([]Todo, len(drawn))
	want := map[labels.Key]int{}
	for i, l := range drawn {
		out[i].Label, want[l.Key] = l, i
	}
	show := func(at *trace.Attempt, red *redact.Redactor) {
		k := labels.Key{Target: at.Trace.Target, TaskID: at.Trace.CaseID, Attempt: at.Trace.Repeat, Unit: labels.Task}
		if i, ok := want[k]; ok {
			hidden := at.Redacted(red)
			out[i].Shown, out[i].Turns = showTask(&hidden), blindTurns(&hidden)
		}
	}
	if of.Run == "" {
		red, err := a.Secrets().Redactor(nil)
		if err != nil {
			return nil, err
		}
		err = results.WholeAttempts(a, of.Traces, func(at *trace.Attempt) error { show(at, red); return nil })
		return out, err
	}
	r, red, err := results.OpenRedacted(ctx, a, of.Run, nil)
	if err != nil {
		return nil, err
	}
	for at, err := range r.Attempts(ctx) {
		if err != nil {
			return nil, err
		}
		show(&at, red)
	}
	return out, nil
}

func showTask(at *trace.Attempt) ShownTask {
	s := ShownTask{Goal: at.Goal, Answer: plain.Limited(at.Trace.Answer, MaxShown)}
	s.Steps = ShownCalls(at.Trace.Calls())
	if s.Goal == "" { // for a run
		var texts []string
		for i := range at.Input {
			if at.Input[i].Role == callvet.RoleUser {
				texts = append(texts, at.Input[i].Content)
			}
		}
		s.Goal = plain.Limited(strings.Join(texts, "\n"), MaxShown)
	}
	return s
}

// mostTurns bounds the shown conversation of one task, in bytes of JSON.
const mostTurns = 64 << 10

// blindTurns returns the texts and calls of an attempt without parts that reveal a verdict or do
// not belong to the output. Reasoning, rulings, repairs, times and a provider's raw form are left
// out.
func blindTurns(at *trace.Attempt) []callvet.Turn {
	var out []callvet.Turn
	for _, t := range slices.Concat(at.Input, at.Trace.Turns) {
		one := callvet.Turn{Role: t.Role, Content: t.Content, CallID: t.CallID, Tool: t.Tool}
		for i := range t.Calls {
			c := &t.Calls[i]
			one.Calls = append(one.Calls,
				callvet.Call{
					ID: c.ID, Tool: c.Tool, Args: c.Args, ArgsRaw: c.ArgsRaw, Status: c.Status,
					Result: c.Result, Error: c.Error,
				})
		}
		out = append(out, one)
	}
	if b, err := json.Marshal(out); err != nil || len(b) > mostTurns {
		return nil
	}
	return out
}

// ShownCalls returns calls with their results, one line each.
func ShownCalls(calls []callvet.Call) (out []string) {
	for i := range calls {
		c := &calls[i]
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
		out = append(out, plain.Limited(line, MaxShown))
	}
	return out
}

// WriteTodo writes one line for each unit, with an open verdict. The judge's verdict is left out,
// so that people do not see it.
func WriteTodo(w io.Writer, todo []Todo) error { return writeTodo(w, todo, false) }

// WriteConversations is WriteTodo with the turns of each task, for a page.
func WriteConversations(w io.Writer, todo []Todo) error { return writeTodo(w, todo, true) }

func writeTodo(w io.Writer, todo []Todo, whole bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range todo {
		var turns []callvet.Turn
		if whole {
			turns = todo[i].Turns
		}
		l := &todo[i].Label
		line := struct {
			ShownTask
			Turns []callvet.Turn `json:"turns,omitempty"`

			Pass *bool  `json:"pass"`
			Note string `json:"note"`

			Version int `json:"version"`
			labels.Key
			Fingerprint string      `json:"fingerprint,omitempty"`
			Run         string      `json:"run,omitempty"`
			By          string      `json:"by,omitempty"`
			Role        labels.Role `json:"role"`
			Drawn       string      `json:"drawn"`
		}{todo[i].Shown, turns, nil, "", labels.FileVersion, l.Key, l.Fingerprint, l.Run, l.By, l.Role, l.Drawn()}
		if err := e.Encode(line); err != nil {
			return fmt.Errorf("write to-do file: %w", err)
		}
	}
	return nil
}
