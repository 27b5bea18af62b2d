// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/compare"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score/selection"
)

func (a *app) diffCommand() *cobra.Command {
	var by []string
	var judge string
	cmd := &cobra.Command{
		Use: "diff BASELINE CANDIDATE", Short: "Say what changed between two runs or trace files, case by case, with intervals",
		Long: `Compare two runs, or two trace files, case by case. Each side is a run or, where it names a file, a trace file:
callvet's lines or any form that trace import reads. Attempts of trace files are paired by task, and their targets by
name; the verdict is that of the source's own checks, or of a judge (--judge).`,
		Example: "  callvet diff last~1 last\n  callvet diff before.jsonl after.jsonl --slice domain",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg := compare.Config{Judge: judge, By: by}
			base, err := a.ledger(cmd.Context(), args[0], cfg, scoreFlags{slices: []string{}})
			if err != nil {
				return err
			}
			cand, err := a.ledger(cmd.Context(), args[1], cfg, scoreFlags{slices: []string{}})
			if err != nil {
				return err
			}
			c := panel.Diff(base, cand, 0)
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(struct {
					Format  string `json:"format"`
					Version int    `json:"version"`
					*panel.Comparison
				}{"callvet.diff", 1, c})
			}
			return report.Comparison(a.out, c, report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY)})
		},
	}
	cmd.Flags().StringSliceVar(&by, "slice", nil, "slices to compare: tag, tier or field names")
	cmd.Flags().StringVar(&judge, "judge", "", "judge whose verdicts in trace files count, instead of the source's own checks")
	return cmd
}

// ledger reads one side of a comparison, a run or a trace file.
func (a *app) ledger(ctx context.Context, arg string, cfg compare.Config, f scoreFlags) (led *panel.Ledger, err error) {
	if a.isTraceFile(arg) {
		return a.traceLedger(ctx, arg, cfg, f)
	}
	if cfg.Judge != "" {
		return nil, usagef("--judge is about trace files, and %s is none", arg)
	}
	db, l, err := a.openStored(ctx, arg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := l.sliceable(cfg.By); err != nil {
		return nil, err
	}
	return l.ledger(ctx, db, cfg)
}

// selecting are the metrics by which decisions are compared beside the pass rate; none
// where nobody decides, or where others are asked for.
func (l *loaded) selecting(asked []string) []string {
	if len(asked) > 0 || !slices.ContainsFunc(l.man.Targets, func(t callvet.Target) bool { return t.Selects }) {
		return nil
	}
	set, _ := selection.SettingsOf(l.suite.Defaults.Scoring.Selection) // what is wrong with it was told before the run
	out := []string{selection.Composite, selection.Precision1, selection.MRR}
	for _, name := range []string{selection.NDCGAt, selection.RecallAt} {
		for _, k := range set.K {
			if k > 1 { // at 1 it is precision@1, or nearly
				out = append(out, fmt.Sprint(name, k))
			}
		}
	}
	return append(out, panel.MetricLatencyMean, panel.MetricCost, panel.MetricTokens)
}

func compareRuns(ctx context.Context, db *store.DB, base, cand *loaded, cfg compare.Config) (*panel.Comparison, error) {
	b, err := base.ledger(ctx, db, cfg)
	if err != nil {
		return nil, err
	}
	c, err := cand.ledger(ctx, db, cfg)
	if err != nil {
		return nil, err
	}
	return panel.Diff(b, c, 0), nil
}

func (l *loaded) ledger(ctx context.Context, db *store.DB, cfg compare.Config) (*panel.Ledger, error) {
	names := make([]string, len(l.man.Targets))
	for i := range names {
		names[i] = l.man.Targets[i].Name
	}
	led := panel.NewLedger(l.run.ID, names, cfg.By)
	led.Tools(l.suite.Tools)
	led.Measure(append(slices.Clip(cfg.Metrics), l.selecting(cfg.Metrics)...)...)
	led.Sample(l.suite.Tools)
	if len(l.man.Specs) == len(l.man.Targets) {
		led.Files(l.man.Catalogues)
	}
	for r, err := range l.rows(ctx, db, store.Filter{}) {
		if err != nil {
			return nil, err
		}
		led.Add(r.Case, r.Cell)
	}
	return led, nil
}

func (a *app) reportCommand() *cobra.Command {
	var outputs, slices, keep []string
	var baseline string
	cmd := &cobra.Command{
		Use: "report RUN -o FILE", Short: "Write a report of a run: .html .md .xml .csv .json .jsonl .txt",
		Example: "  callvet report last -o report.html -o junit.xml\n  callvet report last --baseline main -o comment.md",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			if len(outputs) == 0 {
				return usagef("where to? callvet report RUN -o report.html")
			}
			db, l, v, err := a.openView(ctx, args[0], slices, keep)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			if baseline != "" {
				base, err := a.openRun(ctx, db, baseline)
				if err != nil {
					return err
				}
				if v.Diff, err = compareRuns(ctx, db, base, l, compare.Config{By: slices}); err != nil {
					return err
				}
			}
			for _, o := range outputs {
				if err := a.writeReport(ctx, v, o); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVarP(&outputs, "output", "o", nil, "file to write; its extension is the format; may be repeated")
	cmd.Flags().StringSliceVar(&slices, "slice", nil, "slices of the report: tag, tier or field names; * for all fields")
	cmd.Flags().StringVar(&baseline, "baseline", "", "run to compare with")
	cmd.Flags().StringSliceVar(&keep, "keep", nil, "kinds of personal data that are shown: email, phone, …")
	return cmd
}
