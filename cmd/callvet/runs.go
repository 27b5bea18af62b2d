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
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/value/typed"
)

func (a *app) runsCommand() *cobra.Command {
	var limit int
	var remove []string
	cmd := &cobra.Command{
		Use: "runs", Short: "List the stored runs, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			db, err := a.openStore(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			if len(remove) > 0 {
				return a.removeRuns(cmd.Context(), db, remove)
			}
			list, err := db.Runs(cmd.Context(), limit)
			if err != nil {
				return err
			}
			out := make([]report.RunSummary, len(list))
			for i := range list {
				if out[i], err = summary(&list[i]); err != nil {
					return err
				}
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(map[string]any{"format": "callvet.runs", "version": 1, "runs": out})
			}
			return report.Runs(a.out, out, time.Local, report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY)})
		},
	}
	cmd.Flags().VarP(ranged.Int(&limit, 20, 0), "limit", "n", "how many runs (0: all)")
	cmd.Flags().StringArrayVar(&remove, "delete", nil, "delete this run for good; may be repeated")
	return cmd
}

func (a *app) removeRuns(ctx context.Context, db *store.DB, refs []string) error {
	c, err := a.claim()
	if err != nil {
		return err
	}
	hints := a.hints()
	for _, ref := range refs {
		r, err := db.Run(ctx, ref)
		if err != nil {
			return hints.missing(err)
		}
		err = db.DeleteRun(ctx, r.ID, c.Gone)
		if held := (*store.HeldError)(nil); errors.As(err, &held) {
			return &callvet.Hinted{Err: fmt.Errorf("delete run: %w", held), Hint: fmt.Sprintf("wait for it (%s follows it), or end process %d first", hints.text(action{Verb: verbResume, Run: r.ID}, nil), held.Owner.PID)}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "deleted run %s\n", r.ID)
	}
	return db.Vacuum(ctx)
}

// summary is a run's line in the list, from what was counted when it ended.
func summary(r *store.Run) (report.RunSummary, error) {
	m, err := readManifest(r)
	if err != nil {
		return report.RunSummary{}, err
	}
	out := report.RunSummary{ID: r.ID, Name: r.Name, Created: r.Created, Suite: r.SuiteName, Status: string(r.State())}
	for i := range m.Targets {
		out.Targets = append(out.Targets, m.Targets[i].Name)
	}
	if len(r.Totals) == 0 {
		return out, nil
	}
	var t run.Summary
	if err := json.Unmarshal(r.Totals, &t); err != nil {
		return out, fmt.Errorf("read totals of run %s: %w", r.ID, typed.Explain(err))
	}
	out.Cells, out.InPart = panel.Verdicts{Pass: t.Pass, Fail: t.Fail, Error: t.Error, NotRun: t.NotRun}, t.InPart
	models := slices.ContainsFunc(m.Targets, func(t callvet.Target) bool { return !t.Floor })
	for i := range t.Targets {
		if models && i < len(m.Targets) && m.Targets[i].Floor { // expected to fail: it does not count beside others
			f := &t.Targets[i]
			out.Cells.Pass, out.Cells.Fail = out.Cells.Pass-f.Pass, out.Cells.Fail-f.Fail
			out.Cells.Error, out.Cells.NotRun = out.Cells.Error-f.Error, out.Cells.NotRun-f.NotRun
			out.InPart -= f.InPart
		}
	}
	out.Pass = report.RateOf(out.Cells)
	if t.CostKnown && t.CostUSD > 0 { // targets that report no usage count as 0
		out.CostUSD = &t.CostUSD
	}
	return out, nil
}

func (a *app) showCommand() *cobra.Command {
	var all bool
	var target string
	var keep []string
	cmd := &cobra.Command{
		Use: "show RUN [CASE]", Short: "Explain a run, or every attempt at one case of it",
		Example: "  callvet show last\n  callvet show last paris-now",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			if len(args) == 2 {
				return a.showCase(ctx, args[0], args[1], target, keep)
			}
			db, _, v, err := a.openView(ctx, args[0], nil, keep)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			shown := 20
			if all {
				shown = -1
			}
			return a.show(v, &runFlags{maxFailures: shown})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "explain every failing attempt")
	cmd.Flags().StringVarP(&target, "model", "m", "", "attempts of this target only")
	cmd.Flags().StringSliceVar(&keep, "keep", nil, "kinds of personal data that are shown: email, phone, …")
	return cmd
}

// showCase tells the attempts at one case. It reads no others: nothing is summed up.
func (a *app) showCase(ctx context.Context, ref, id, target string, keep []string) (err error) {
	db, l, err := a.openStored(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	red, err := a.viewer(l.man, keep)
	if err != nil {
		return err
	}
	var rows []report.Row
	for r, err := range l.shown(ctx, db, store.Filter{CaseID: id, Exchanges: true}, red) {
		if err != nil {
			return err
		}
		if target == "" || l.man.Targets[r.Cell.Target].Name == target {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return &callvet.Hinted{Err: fmt.Errorf("show case %q of run %s: %w", id, l.run.ID, callvet.ErrNotFound), Hint: l.hints.text(action{Verb: verbShow, Run: l.run.ID}, l.man) + " lists the failing ones"}
	}
	if a.jsonOut {
		enc := json.NewEncoder(a.out)
		for _, r := range rows {
			if err := enc.Encode(map[string]any{"case": r.Case, "target": l.man.Targets[r.Cell.Target].Name, "trace": r.Cell.Trace, "result": r.Cell.Result}); err != nil {
				return err
			}
		}
		return nil
	}
	v := l.viewOf(ctx, db, &panel.Panels{Repeats: l.man.Repeats}, red)
	return report.Attempts(a.out, v, rows, report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY)})
}
