// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
)

// sheetField is the name of a gold sheet among the files of a request.
const sheetField = library.Reserved + "sheet"

type (
	goldDrawIn struct {
		api.RunIn
		N     int     `query:"n" minimum:"1" maximum:"500" default:"20" doc:"tasks in the sheet"`
		By    string  `query:"by" maxLength:"500" default:"language,intent" doc:"keys of slices with commas between them: as many tasks of each value"`
		Edge  float64 `query:"edge" minimum:"0" maximum:"1" default:"0.3" doc:"share of the tasks that are edge cases, drawn on purpose"`
		Blank bool    `query:"blank" doc:"leaves the right calls blank, instead of proposing the actual calls"`
		Seed  uint64  `query:"seed" default:"1" doc:"order of the draw"`
	}
	goldIn struct {
		api.RunIn
		Upload
		Tools bool `query:"tools" doc:"adds the tools that the tasks were offered"`
	}
	goldMakeIn struct {
		api.RunIn
		Upload
		To string `query:"to" enum:"suite,traces" default:"suite" doc:"a suite with gold that passes its own check, or traces with labels of their steps"`
	}
	// GoldSheet is a sheet of tasks. A person writes the right calls into it. The server does not
	// store it.
	GoldSheet struct {
		Tasks    []json.RawMessage `json:"tasks" nullable:"false" doc:"tasks as a gold sheet has them: what was asked, called and answered, and for each turn whether a call was needed and which calls are right; args_json is the text of the arguments, which keeps all digits of a number"`
		Text     string            `json:"text" doc:"the sheet as a file, as callvet label gold writes it"`
		Open     int               `json:"open" doc:"tasks that no person has answered"`
		Edges    map[string]int    `json:"edges,omitempty" doc:"edge cases by kind"`
		Problems []GoldProblem     `json:"problems" nullable:"false" doc:"blanks and contradictions in the checked tasks"`
		Tools    []GoldTool        `json:"tools,omitempty" doc:"tools that the tasks were offered or called"`
	}
	// GoldProblem is an error at one place of a sheet.
	GoldProblem struct {
		Task    string `json:"task"`
		Key     string `json:"key" doc:"the place in the task, such as turns[0].calls[1].args"`
		Message string `json:"message"`
		Fix     string `json:"fix,omitempty"`
		Line    int    `json:"line,omitempty" doc:"of the text that was sent"`
	}
	// GoldTool is a tool with the schema of its arguments.
	GoldTool = cases.GoldTool
	// GoldMade is the result of a filled-in sheet.
	GoldMade struct {
		Text  string   `json:"text" doc:"the suite in YAML, or the traces, one on a line"`
		Tasks int      `json:"tasks" doc:"tasks that are filled in"`
		Open  int      `json:"open" doc:"tasks that are not, and are left out"`
		Cases int      `json:"cases" doc:"cases of the suite"`
		Lost  []string `json:"lost" nullable:"false" doc:"settings that the suite cannot have"`
	}
)

// addGold adds the routes of gold sheets of runs and of collections of traces.
func addGold(s *api.Server) {
	for _, of := range labelledKinds() {
		op := of.op
		objects := map[string]api.Kind{"id": of.kind}
		reads := api.Access{Objects: objects, Reads: true, Scope: account.ScopeRead}
		const sheet = "a gold sheet, in YAML or JSON"
		api.Answer(s, op("draw-gold", http.MethodGet, "/gold",
			"Draws a gold sheet: tasks for which a person writes which calls were right, with what was called as a "+
				"proposal."), api.Access{Objects: objects},
			func(ctx context.Context, _ *account.Principal, in *goldDrawIn) (*GoldSheet, error) {
				return drawGold(ctx, s, labelled{of.kind, in.ID}, in)
			})
		api.Answer(s, uploaded(op("check-gold", http.MethodPost, "/gold",
			"Reads a gold sheet and returns it with what is wrong in it, and as a file."), sheet), reads,
			func(ctx context.Context, _ *account.Principal, in *goldIn) (*GoldSheet, error) {
				return checkGold(ctx, s, labelled{of.kind, in.ID}, in)
			})
		api.Answer(s, uploaded(op("apply-gold", http.MethodPost, "/gold/apply",
			"Makes a suite, or traces with labels, of a filled-in gold sheet."), sheet), reads,
			func(ctx context.Context, _ *account.Principal, in *goldMakeIn) (*GoldMade, error) {
				return applyGold(ctx, s, labelled{of.kind, in.ID}, in)
			})
	}
}

func drawGold(ctx context.Context, s *api.Server, of labelled, in *goldDrawIn) (*GoldSheet, error) {
	files, side, release, err := bringing(ctx, s, of)
	if err != nil {
		return nil, err
	}
	defer release()
	a := s.Config.App.With(files)
	req := cases.GoldDrawRequest{Side: side, N: in.N, Edge: in.Edge, Blank: in.Blank, Seed: in.Seed}
	for _, key := range strings.Split(in.By, ",") {
		if key = strings.TrimSpace(key); key != "" {
			req.By = append(req.By, key)
		}
	}
	sheet, err := cases.ProposeGold(ctx, a, req)
	if err != nil {
		return nil, (&api.Notices{}).Refused(err)
	}
	tools, err := cases.GoldTools(ctx, a, side)
	if err != nil {
		return nil, err
	}
	return goldSheet(sheet, tools)
}

func checkGold(ctx context.Context, s *api.Server, of labelled, in *goldIn) (*GoldSheet, error) {
	text, _, err := in.file()
	if err != nil {
		return nil, err
	}
	sheet, err := cases.CheckGold(s.Config.App, text)
	if err != nil {
		return nil, (&api.Notices{}).Refused(err)
	}
	if !in.Tools {
		return goldSheet(sheet, nil)
	}
	files, side, release, err := bringing(ctx, s, of)
	if err != nil {
		return nil, err
	}
	defer release()
	tools, err := cases.GoldTools(ctx, s.Config.App.With(files), side)
	if err != nil {
		return nil, err
	}
	return goldSheet(sheet, tools)
}

func goldSheet(sheet *cases.GoldSheet, tools []cases.GoldTool) (*GoldSheet, error) {
	tasks, err := sheet.Shown()
	if err != nil {
		return nil, err
	}
	out := GoldSheet{
		Tasks: tasks, Text: sheet.Text, Open: sheet.Open, Edges: sheet.Edges, Problems: []GoldProblem{},
		Tools: tools,
	}
	for _, p := range sheet.Problems {
		out.Problems = append(out.Problems,
			GoldProblem{Task: p.Case, Key: p.Key, Message: p.Message, Fix: p.Fix, Line: p.Line})
	}
	return &out, nil
}

func applyGold(ctx context.Context, s *api.Server, of labelled, in *goldMakeIn) (*GoldMade, error) {
	text, _, err := in.file()
	if err != nil {
		return nil, err
	}
	files, side, release, err := bringing(ctx, s, of)
	if err != nil {
		return nil, err
	}
	defer release()
	files[sheetField] = text
	h := &api.Notices{}
	made, result, err := cases.MakeGold(ctx, s.Config.App.With(files),
		cases.GoldApplyRequest{File: sheetField, Side: side},
		in.To, h.Collect)
	if errors.Is(err, callvet.ErrNotFound) { // a task of the sheet
		return nil, &callvet.FieldError{Field: "sheet", Text: "{sheet}: " + strings.ReplaceAll(err.Error(), "{", "")}
	}
	if err != nil {
		return nil, h.Refused(err)
	}
	out := GoldMade{Text: string(made), Tasks: result.Tasks, Open: result.Open, Cases: result.Cases, Lost: []string{}}
	for i := range result.Lost {
		out.Lost = append(out.Lost, result.Lost[i].Message)
	}
	return &out, nil
}
