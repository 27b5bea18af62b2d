// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/report/plain"
)

// promptCommand writes prompts and stores them.
func (a *cli) promptCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "prompt", Short: "Write and store system prompts for models that call tools"}
	cmd.AddCommand(a.promptToolCallerCommand(), a.promptListCommand(), a.promptShowCommand(), a.promptAddCommand(),
		a.promptDeleteCommand())
	return cmd
}

func (a *cli) promptListCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "List the stored prompts, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, damaged, err := tunes.ListPrompts(cmd.Context(), a.program(), tunes.PromptPage{N: limit})
			if err != nil {
				return err
			}
			if damaged > 0 {
				a.events().Warn("damaged", plain.Count(damaged, "prompt is", "prompts are")+" damaged and not listed")
			}
			return emit(a, promptsOut{"callvet.prompts", 1, list}, writePrompts)
		},
	}
	cmd.Flags().VarP(wholeFlag(&limit, 20, 0), "limit", "n", "how many versions of prompts (0: all)")
	return cmd
}

// promptsOut is a list of prompts in JSON.
type promptsOut struct {
	Format  string             `json:"format"`
	Version int                `json:"version"`
	Prompts []tunes.KeptPrompt `json:"prompts"`
}

func writePrompts(w io.Writer, out promptsOut) error {
	if len(out.Prompts) == 0 {
		_, err := fmt.Fprintln(w, "No prompts yet. Keep one with: callvet prompt add FILE")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "prompt\tcharacters\tsource\tcreated\tnote")
	for i := range out.Prompts {
		p := &out.Prompts[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", plain.Line(p.Ref()), plain.Thousands(p.Characters), plain.Line(p.Source),
			p.Created.Local().Format("2006-01-02 15:04"), cmp.Or(plain.Limited(plain.Line(p.Note), 60), "–"))
	}
	return t.Flush()
}

func (a *cli) promptShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME[@VERSION]", Short: "Print a stored prompt: its newest version, or the named one",
		Example: "  callvet prompt show concierge@2 > prompt.txt\n  callvet run suite.yaml -m openai/gpt-5-mini --system @prompt.txt",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := tunes.ShowPrompt(cmd.Context(), a.program(), "", args[0])
			if err != nil {
				return err
			}
			return emit(a, promptOut{"callvet.kept-prompt", 1, p}, func(w io.Writer, _ promptOut) error {
				_, err := fmt.Fprintln(w, p.Text)
				return err
			})
		},
	}
}

// promptOut is a stored prompt, in JSON.
type promptOut struct {
	Format  string            `json:"format"`
	Version int               `json:"version"`
	Prompt  *tunes.KeptPrompt `json:"prompt"`
}

func (a *cli) promptAddCommand() *cobra.Command {
	var q tunes.KeepPromptRequest
	var found tunes.ApplyRequest
	var candidate int
	cmd := &cobra.Command{
		Use: "add (FILE | --search SEARCH)", Short: "Store a prompt as the newest version of its name",
		Example: "  callvet prompt add concierge.txt --note \"asks before it books\"\n  callvet prompt add --search last --name concierge",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (found.Tune != "") {
				return usagef("which prompt? Name a file, or a search with --search")
			}
			if cmd.Flags().Changed("candidate") {
				found.Candidate = &candidate
			}
			p, kept, err := a.keepPrompt(cmd.Context(), &q, &found, args)
			if err != nil {
				return err
			}
			return emit(a, promptOut{"callvet.kept-prompt", 1, p}, func(w io.Writer, _ promptOut) error {
				verb := "kept"
				if !kept {
					verb = "unchanged:"
				}
				_, err := fmt.Fprintf(w, "%s %s (%s), %s\n", verb, plain.Line(p.Ref()), p.Hash,
					plain.Count(p.Characters, "character", "characters"))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&q.Name, "name", "",
		"name of the prompt (default: that of the file, or of the suite of the search)")
	cmd.Flags().StringVar(&q.Note, "note", "", "what is new in it")
	cmd.Flags().StringVar(&found.Tune, "search", "", "keep the prompt that this search found, in place of a file")
	cmd.Flags().Var(wholeFlag(&candidate, 0, 0), "candidate",
		"number of the candidate of the search (default: its confirmed winner)")
	cmd.Flags().StringVarP(&found.Model, "model", "m", "", "of a search with several models: which one")
	return cmd
}

func (a *cli) keepPrompt(ctx context.Context, q *tunes.KeepPromptRequest, found *tunes.ApplyRequest, args []string,
) (*tunes.KeptPrompt, bool, error) {
	if found.Tune != "" {
		return tunes.KeepFound(ctx, a.program(), tunes.KeepFoundRequest{Chosen: *found, Name: q.Name, Note: q.Note})
	}
	q.File = args[0]
	if q.Name == "" {
		q.Name = strings.TrimSuffix(filepath.Base(q.File), filepath.Ext(q.File))
	}
	return tunes.KeepPrompt(ctx, a.program(), *q)
}

func (a *cli) promptDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME[@VERSION] …", Short: "Delete stored prompts: one version, or all versions of a name",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := tunes.DeletePrompts(cmd.Context(), a.program(), "", args)
			for i := range list {
				fmt.Fprintf(a.out, "deleted %s\n", plain.Line(list[i].Ref()))
			}
			return err
		},
	}
}

const promptToolCallerLong = `Write a system prompt for a model that calls tools: eight rules, what a user says with right and wrong calls, one of them no call, and a page with
all of them on which those that are easily confused stand apart. TOOLS is a catalogue, a suite, or what an MCP server
answered to tools/list; without it the rules stand alone.

All of it comes from the definitions of the tools, and nothing from the cases of a suite. A run shows whether it helps your
model: callvet run SUITE -m MODEL, again with --system @prompt.txt, and callvet diff.`

func (a *cli) promptToolCallerCommand() *cobra.Command {
	var q app.PromptRequest
	cmd := &cobra.Command{
		Use: "tool-caller [TOOLS]", Short: "Write a system prompt: rules, examples and a list of tools",
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
