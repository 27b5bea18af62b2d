// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
)

// GoldSheet is a gold file in memory, for a person who fills it in elsewhere than in the file.
type GoldSheet struct {
	Tasks []labels.GoldTask
	// Text is the sheet as a file, as DrawGold writes it.
	Text string
	Open int
	// Edges are the edge cases of the sheet, by kind.
	Edges map[string]int
	// Problems are what is blank or contradicts itself in tasks that are checked: Case and Key name the place.
	Problems []callvet.Problem
}

// GoldTool is a tool that tasks were offered, with the schema of its arguments.
type GoldTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// ProposeGold draws tasks as DrawGold does, and returns the sheet that DrawGold would write.
func (a *App) ProposeGold(ctx context.Context, req GoldDrawRequest) (*GoldSheet, error) {
	added, _, err := a.drawGold(ctx, &req, &labels.Gold{})
	if err != nil {
		return nil, err
	}
	return sheetOf(added, nil)
}

// CheckGold reads a sheet, in YAML or JSON, and returns it with its problems. The error wraps
// callvet.ErrInvalid for a text that is none.
func (a *App) CheckGold(sheet []byte) (*GoldSheet, error) {
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
	return &GoldSheet{Tasks: tasks, Text: string(text), Open: openGold(tasks), Edges: edgesOf(tasks), Problems: problems}, nil
}

// GoldTools returns the tools that the attempts of a run or a trace file were offered or called, by name.
func (a *App) GoldTools(ctx context.Context, s Side) ([]GoldTool, error) {
	red, err := a.secrets.Redactor(nil)
	if err != nil {
		return nil, err
	}
	tools := map[string]GoldTool{}
	for at, err := range a.logged(ctx, s) {
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

// The forms that a filled-in sheet becomes.
const (
	GoldSuiteForm  = "suite"
	GoldTracesForm = "traces"
)

// MakeGold makes of a filled-in sheet what ApplyGold writes: a suite in YAML, or traces with labels of
// their steps. It writes nothing.
func (a *App) MakeGold(ctx context.Context, req GoldApplyRequest, form string, tell Events) ([]byte, *GoldApplied, error) {
	switch form {
	case GoldSuiteForm:
		req.Suite, req.Output = "suite.yaml", ""
	case GoldTracesForm:
		req.Suite, req.Output = "", "labelled.jsonl"
	default:
		return nil, nil, wrong("to", form, "it is suite or traces")
	}
	made, err := a.makeGold(ctx, &req, tell)
	if err != nil {
		return nil, nil, err
	}
	if form == GoldSuiteForm {
		return made.text, made.GoldApplied, nil
	}
	return made.lines.Bytes(), made.GoldApplied, nil
}
