// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
)

func (a *cli) runsCommand() *cobra.Command {
	var limit int
	var remove, cancel []string
	var edit string
	var f runFlags
	cmd := &cobra.Command{
		Use: "runs", Short: "List the stored runs, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if edit != "" {
				return a.describeRun(cmd.Context(), edit, &f.words, cmd.Flags().Changed)
			}
			for _, name := range []string{"name", "notes", "run-tag"} {
				if cmd.Flags().Changed(name) {
					return usagef("--%s describes a run: name it, callvet runs --edit RUN --%s …", name, name)
				}
			}
			if len(cancel) > 0 && len(remove) > 0 {
				return usagef("--cancel and --delete do not go together: a run is deleted once it has ended")
			}
			if len(cancel) > 0 {
				return a.cancelRuns(cmd.Context(), cancel)
			}
			if len(remove) > 0 {
				return a.removeRuns(cmd.Context(), remove)
			}
			out, err := results.List(cmd.Context(), a.program(), limit)
			if err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(
					map[string]any{"format": "callvet.runs", "version": 1, "runs": out})
			}
			return report.Runs(a.out, out, time.Local, report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY)})
		},
	}
	cmd.Flags().VarP(wholeFlag(&limit, 20, 0), "limit", "n", "how many runs (0: all)")
	cmd.Flags().StringArrayVar(&remove, "delete", nil, "delete this run for good; may be repeated")
	cmd.Flags().StringArrayVar(&cancel, "cancel", nil,
		"ask the process that carries this run out to end it; may be repeated")
	cmd.Flags().StringVar(&edit, "edit", "", "change --name, --notes or --run-tag of this run")
	f.wordFlags(cmd.Flags())
	return cmd
}

// describeRun changes the name, the notes or the tags of a run.
func (a *cli) describeRun(ctx context.Context, run string, w *store.Words, changed func(string) bool) error {
	req := results.DescribeRequest{Run: run}
	if changed("name") {
		req.Name = &w.Name
	}
	if changed("notes") {
		req.Notes = &w.Notes
	}
	if changed("run-tag") {
		tags := slices.DeleteFunc(w.Tags, func(t string) bool { return t == "" })
		req.Tags = &tags
	}
	if req.Name == nil && req.Notes == nil && req.Tags == nil {
		return usagef("--edit %s: what of it? Write --name, --notes or --run-tag; an empty value removes it", run)
	}
	_, err := results.Describe(ctx, a.program(), req)
	return err
}

func (a *cli) cancelRuns(ctx context.Context, refs []string) error {
	for _, ref := range refs {
		c, err := runs.Cancel(ctx, a.program(), ref)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "run %s ends soon: process %d was asked to stop\n", c.Run, c.By.PID)
		fmt.Fprintf(a.out, "Next: %s\n", a.hints().Text(app.Action{Verb: app.VerbResume, Run: c.Run}, nil))
	}
	return nil
}

func (a *cli) removeRuns(ctx context.Context, refs []string) error {
	deleted, err := results.DeleteRuns(ctx, a.program(), refs)
	for _, id := range deleted {
		fmt.Fprintf(a.out, "deleted run %s\n", id)
	}
	if held := (*store.HeldError)(nil); errors.As(err, &held) {
		follow := a.hints().Text(app.Action{Verb: app.VerbResume, Run: held.Run}, nil)
		return &callvet.Hinted{
			Err:  err,
			Hint: fmt.Sprintf("wait for it (%s follows it), or end process %d first", follow, held.Owner.PID),
		}
	}
	return err
}

func (a *cli) showCommand() *cobra.Command {
	var all, scores, full bool
	var target string
	var keep []string
	cmd := &cobra.Command{
		Use: "show RUN [CASE]", Short: "Explain a run, or every attempt at one case of it",
		Example: "  callvet show last\n  callvet show last paris-now",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) == 2 {
				return a.showCase(ctx, results.CaseRequest{Run: args[0], Case: args[1], Target: target, Keep: keep},
					scores, all, full)
			}
			if full {
				return usagef("--full is for the attempts at one case: callvet show %s CASE --json --full", args[0])
			}
			if scores {
				return usagef("--scores is for the attempts at one case: callvet show %s CASE --scores", args[0])
			}
			if target != "" {
				return usagef("--model is for the attempts at one case: callvet show %s CASE --model %s",
					args[0], target)
			}
			v, err := runs.View(ctx, a.program(), results.ViewRequest{Run: args[0], Keep: keep}, a.events())
			if err != nil {
				return err
			}
			shown := 20
			if all {
				shown = -1
			}
			return a.show(a.view(v), &runFlags{maxFailures: shown, whole: true})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false,
		"explain every failing attempt; at CASE, also all assertions, scores, requests and answers")
	cmd.Flags().BoolVar(&full, "full", false,
		"at CASE with --json: whole attempts, not 2,000 bytes of each")
	cmd.Flags().BoolVar(&scores, "scores", false, "all scores of the attempts at CASE, each with its good direction")
	cmd.Flags().StringVarP(&target, "model", "m", "", "attempts of this target only, at CASE")
	cmd.Flags().StringSliceVar(&keep, "keep", nil, "kinds of personal data that are shown: email, phone, …")
	return cmd
}

// showCase shows the attempts at one case.
func (a *cli) showCase(ctx context.Context, req results.CaseRequest, scores, all, full bool) error {
	if full && !a.jsonOut {
		return usagef("--full is for --json: callvet show %s %s --json --full, or --all for a text", req.Run, req.Case)
	}
	v, err := results.ShowCase(ctx, a.program(), req)
	if err != nil {
		return err
	}
	if a.jsonOut {
		for _, r := range v.Rows {
			if err := report.AttemptJSON(a.out, v.Manifest.Targets[r.Cell.Target].Name, r, full); err != nil {
				return err
			}
		}
		return nil
	}
	return report.Attempts(a.out, v.View, v.Rows,
		report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY), Scores: scores, All: all})
}
