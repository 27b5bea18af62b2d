// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve/learn"
)

// reply is the model's text, or the reason for a missing one.
type reply struct{ text, why string }

// round sends requests, as one run.
func (t *study) round(ctx context.Context, todo []request, used *EffectUsage) (map[string]reply, error) {
	made := &callvet.Suite{
		Name: t.suite.Name + ": suggestions", SystemPrompt: learn.RewriteInstructions(),
		Description: aboutSuggestions + plain.Count(len(todo), "tool", "tools"),
	}
	for _, q := range todo {
		made.Cases = append(made.Cases,
			callvet.Case{
				ID: q.id, Input: q.turns, ToolNames: []string{},
				Expect: callvet.Expect{ResponseNonEmpty: true},
			})
	}
	out := map[string]reply{}
	err := editAsk(ctx, t.env, t.asked.Suite, made, func(v *Answers) error {
		if len(v.Targets) != 1 {
			return fmt.Errorf("ask for descriptions: %w: %d models answer", callvet.ErrInvalid, len(v.Targets))
		}
		used.Run = v.Run
		for row, err := range v.Attempts {
			if err != nil {
				return err
			}
			used.Add(&row.Cell.Trace)
			r := reply{text: row.Cell.Trace.Answer, why: row.Cell.Result.Reason}
			if f := row.Cell.Trace.Fault; f != nil {
				r.why = f.Error()
			}
			out[row.Case.ID] = r
		}
		return nil
	})
	used.Sum()
	return out, err
}
