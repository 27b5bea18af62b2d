// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite/native"
	"github.com/callvet/callvet/score/match"
)

// maxScoringBytes bounds a file of settings.
const maxScoringBytes = 1 << 20

// StepScoring reads the settings for comparing the arguments of steps, from a file or from JSON in
// braces. The text is their canonical form, "" for the default.
func (a *App) StepScoring(given string, events Events) (set callvet.Scoring, canonical string, err error) {
	if given == "" {
		return set, "", nil
	}
	name, text := given, []byte(given)
	if strings.HasPrefix(strings.TrimSpace(given), "{") {
		name = "scoring"
	} else if text, err = a.Read(given, maxScoringBytes); err != nil {
		return set, "", fmt.Errorf("read scoring settings: %w", err)
	}
	doc, bad := doc.Read(name, text)
	var problems []callvet.Problem
	if bad != nil {
		problems = append(problems, doc.Problem(bad))
	} else if set, problems = native.ReadStepScoring(doc); len(problems) == 0 {
		_, unfit := match.FromScoring(&set, nil)
		for _, p := range unfit {
			problems = append(problems,
				callvet.Problem{
					Position: callvet.Position{File: name}, Code: p.Code, Key: p.Key, Message: p.Message,
					Fix: p.Fix,
				})
		}
	}
	if len(problems) > 0 {
		events.Problems(problems)
		return set, "", fmt.Errorf("read scoring settings %s: %w: %s", name, callvet.ErrInvalid,
			plain.Count(ErrorsIn(problems), "error", "errors"))
	}
	b, err := json.Marshal(set)
	if err != nil {
		return set, "", fmt.Errorf("read scoring settings %s: %w", name, err)
	}
	return set, string(b), nil
}

// NameClash returns an error for a setting that gives two tools the same name.
func NameClash(set *callvet.Scoring, tools []callvet.Tool, events Events) error {
	names := make([]string, len(tools))
	for i := range tools {
		if names[i] = tools[i].Name; tools[i].Version == "" { // some suites write both into the name
			names[i], _ = callvet.SplitTool(names[i])
		}
	}
	problems := callvet.NewNaming(set.ToolNames, set.CaseSensitiveNames, names).Problems()
	if len(problems) == 0 {
		return nil
	}
	events.Problems(problems)
	return fmt.Errorf("read tool_names: %w: %s", callvet.ErrInvalid, plain.Count(len(problems), "error", "errors"))
}

// StepMatchers reads gold.params of a step as params in a suite are read.
func StepMatchers(object []byte) (map[string]callvet.Matcher, []callvet.Problem) {
	doc, bad := doc.ReadJSON("", object)
	if bad != nil {
		return nil, []callvet.Problem{doc.Problem(bad)}
	}
	return native.ReadMatchers(doc)
}
