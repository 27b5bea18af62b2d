// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

// promptCommand writes prompts.
func (a *cli) promptCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "prompt", Short: "Write system prompts for models that call tools"}
	cmd.AddCommand(a.promptToolCallerCommand())
	return cmd
}

const promptToolCallerLong = `Write a system prompt for a model that calls tools: eight rules, what a user says with right and wrong calls, one of them no call, and a page with
all of them on which those that are easily confused stand apart. TOOLS is a catalogue, a suite, or what an MCP server
answered to tools/list; without it the rules stand alone.

All of it comes from the definitions of the tools, and nothing from the cases of a suite. A run shows whether it helps your
model: callvet run SUITE -m MODEL, again with --system @prompt.txt, and callvet diff.`

func (a *cli) promptToolCallerCommand() *cobra.Command {
	var q app.PromptRequest
	cmd := &cobra.Command{
		Use: "tool-caller [TOOLS]", Short: "Write rules, examples and a page of tools for a model",
		Long:    promptToolCallerLong,
		Example: "  callvet prompt tool-caller suite.yaml -o prompt.txt\n  callvet run suite.yaml -m openai/gpt-5-mini --system @prompt.txt",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Tools = append(args, "")[0]
			out, err := a.program().ToolCallerPrompt(cmd.Context(), q, a.events())
			if err != nil {
				return err
			}
			return emit(a, out, func(w io.Writer, out *app.PromptResult) error {
				if q.Output == "" {
					_, err := io.WriteString(w, out.Text)
					return err
				}
				_, err := fmt.Fprintf(w, "wrote %s: tool-caller %d (%s), %s\n", plain.Line(q.Output), out.Revision,
					out.Hash, plain.Count(out.Tools, "tool", "tools"))
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&q.Output, "output", "o", "", "file for the prompt (default: print it)")
	return cmd
}
