// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/judge"
)

// PromptRequest requests a prompt for a model that calls tools.
type PromptRequest struct {
	// Tools is a catalogue, a suite, or the answer of an MCP server to tools/list; "": the rules
	// alone.
	Tools string `json:"tools,omitempty"`
	// Output is the file for the prompt; "": the prompt is only in the result.
	Output string `json:"output,omitempty"`
}

// PromptResult is a prompt.
type PromptResult struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Name     string `json:"name"`
	Revision int    `json:"revision"`
	Tools    int    `json:"tools"`
	judge.ToolPrompt
}

// ToolCallerPrompt writes the prompt for a model that calls tools. It reports tools that the prompt
// cannot distinguish.
func (a *App) ToolCallerPrompt(ctx context.Context, req PromptRequest, events Events) (*PromptResult, error) {
	var tools []callvet.Tool
	if req.Tools != "" {
		var err error
		if tools, err = Catalogued(a, events, func(e *catalog.Env) ([]callvet.Tool, error) {
			c, _, err := e.Catalogue(req.Tools)
			if err != nil {
				return nil, err
			}
			out := make([]callvet.Tool, len(c.Entries))
			for i := range c.Entries {
				out[i] = c.Entries[i].Tool
			}
			return out, nil
		}); err != nil {
			return nil, err
		}
	}
	near, left, err := catalog.Overlaps(ctx, tools, nil, catalog.AlikeFrom)
	if err != nil {
		return nil, err
	}
	if left > 0 {
		events.Warn("not-compared",
			fmt.Sprintf(
				"%d tools were not compared with the others: a catalogue of more than %d is for a retriever, not for a prompt", left, catalog.MaxCompared))
	}
	pairs := make([][2]string, len(near))
	for i, p := range near {
		pairs[i] = [2]string{p.A, p.B}
	}
	out := &PromptResult{
		Format: "callvet.prompt", Version: 1, Name: "tool-caller", Revision: judge.ToolPromptRevision,
		Tools: len(tools), ToolPrompt: *judge.MakeToolPrompt(tools, pairs),
	}
	if len(out.Alike) > 0 {
		names := make([]string, len(out.Alike))
		for i, p := range out.Alike {
			names[i] = p[0] + " and " + p[1]
		}
		events.Warn("not-told-apart",
			"nothing in their definitions distinguishes these tools: "+strings.Join(names, "; "))
	}
	if req.Output == "" {
		return out, nil
	}
	if err := a.Config.Files.Write(ctx, req.Output, func(w io.Writer) error {
		_, err := io.WriteString(w, out.Text)
		return err
	}); err != nil {
		return nil, fmt.Errorf("write prompt: %w", err)
	}
	return out, nil
}
