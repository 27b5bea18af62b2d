// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/measure"
)

// GoldSheet is a gold file in memory, for a person who fills it in with another program.
type GoldSheet struct {
	Tasks []labels.GoldTask
	// Text is the sheet as a file, as DrawGold writes it.
	Text string
	Open int
	// Edges are the edge cases of the sheet, by kind.
	Edges map[string]int
	// Problems are blanks and contradictions in the checked tasks: Case and Key name the place.
	Problems []callvet.Problem
}

// GoldTool is a tool that tasks were offered, with the schema of its arguments.
type GoldTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// ProposeGold draws tasks as DrawGold does, and returns the sheet that DrawGold would write.
func ProposeGold(ctx context.Context, a *app.App, req GoldDrawRequest) (*GoldSheet, error) {
	added, _, err := drawGold(ctx, a, &req, &labels.Gold{})
	if err != nil {
		return nil, err
	}
	return sheetOf(added, nil)
}

// CheckGold reads a sheet, in YAML or JSON, and returns it with its problems. The error wraps
// callvet.ErrInvalid for a text that is not a sheet.
func CheckGold(a *app.App, sheet []byte) (*GoldSheet, error) {
	g, problems, err := labels.ReadGold("sheet", sheet)
	if err != nil {
		return nil, err
	}
	return sheetOf(g.Tasks, problems)
}

func sheetOf(tasks []labels.GoldTask, problems []callvet.Problem) (*GoldSheet, error) {
	text, err := labels.WriteGold(tasks)
	if err != nil {
		return nil, err
	}
	return &GoldSheet{
		Tasks: tasks, Text: string(text), Open: openGold(tasks), Edges: edgesOf(tasks),
		Problems: problems,
	}, nil
}

type (
	// shownTask is a task with the text of its arguments: a page in JavaScript would round large numbers.
	shownTask struct {
		*labels.GoldTask
		Turns []shownTurn `json:"turns"`
	}
	shownTurn struct {
		Called []string    `json:"called,omitempty"`
		Needed *bool       `json:"needed"`
		Calls  []shownCall `json:"calls"`
	}
	shownCall struct {
		Tool  *string `json:"tool"`
		Args  string  `json:"args_json"`
		Check *string `json:"check"`
	}
)

// Shown returns the tasks as JSON, with args_json for the arguments of calls.
func (s *GoldSheet) Shown() ([]json.RawMessage, error) {
	out := []json.RawMessage{}
	for i := range s.Tasks {
		t := shownTask{GoldTask: &s.Tasks[i]}
		for _, turn := range t.GoldTask.Turns {
			shown := shownTurn{Called: turn.Called, Needed: turn.Needed, Calls: []shownCall{}}
			for _, c := range turn.Calls {
				shown.Calls = append(shown.Calls, shownCall{Tool: c.Tool, Args: string(c.Args), Check: c.Check})
			}
			t.Turns = append(t.Turns, shown)
		}
		raw, err := json.Marshal(t)
		if err != nil {
			return nil, fmt.Errorf("write task %s: %w", t.Task, err)
		}
		out = append(out, raw)
	}
	return out, nil
}

// GoldTools returns the tools that the attempts of a run or a trace file were offered or called, by name.
func GoldTools(ctx context.Context, a *app.App, s app.Side) ([]GoldTool, error) {
	red, err := a.Secrets().Redactor(nil)
	if err != nil {
		return nil, err
	}
	tools := map[string]GoldTool{}
	known, err := offeredBy(ctx, a, s)
	if err != nil {
		return nil, err
	}
	for i := range known {
		tools[known[i].Name] = GoldTool{
			Name: known[i].Name, Description: red.Text(known[i].Description),
			Parameters: known[i].Parameters,
		}
	}
	for at, err := range attemptsOf(ctx, a, s) {
		if err != nil {
			return nil, err
		}
		for _, t := range at.Tools {
			if tools[t.Name].Parameters == nil {
				tools[t.Name] = GoldTool{Name: t.Name, Description: red.Text(t.Description), Parameters: t.Parameters}
			}
		}
		calls := at.Trace.Calls()
		for i := range calls {
			if name := calls[i].Tool; name != "" && tools[name].Name == "" {
				tools[name] = GoldTool{Name: name}
			}
		}
	}
	out := make([]GoldTool, 0, len(tools))
	for _, t := range tools {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b GoldTool) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// offeredBy returns the tools of a run; nil for traces: there each attempt has its tools.
func offeredBy(ctx context.Context, a *app.App, s app.Side) ([]callvet.Tool, error) {
	if s.Run == "" {
		return nil, nil
	}
	r, err := results.Open(ctx, a, s.Run)
	if err != nil {
		return nil, err
	}
	tools := measure.Catalogue(r.Suite.Tools, r.Equipped(ctx, &err))
	return tools, err
}

// The forms that a filled-in sheet becomes.
const (
	GoldSuiteForm  = "suite"
	GoldTracesForm = "traces"
)

// MakeGold converts a filled-in sheet to what ApplyGold writes: a suite in YAML, or traces with
// labels of their steps. It writes nothing.
func MakeGold(ctx context.Context, a *app.App, req GoldApplyRequest, form string,
	events app.Events,
) ([]byte, *GoldApplied, error) {
	switch form {
	case GoldSuiteForm:
		req.Suite, req.Output = "suite.yaml", ""
	case GoldTracesForm:
		req.Suite, req.Output = "", "labelled.jsonl"
	default:
		return nil, nil, app.Wrong("to", form, "it is suite or traces")
	}
	made, err := makeGold(ctx, a, &req, events)
	if err != nil {
		return nil, nil, err
	}
	if form == GoldSuiteForm {
		return made.text, made.GoldApplied, nil
	}
	return made.lines.Bytes(), made.GoldApplied, nil
}
