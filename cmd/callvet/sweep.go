// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report/console"
)

const sweepLong = `Measure how often the first tool is right as a catalogue grows, and under other weights.

For each case the tools that it expects or accepts stand among --distractors others, drawn from the catalogue by --seed; a
smaller number is the beginning of a larger one, so that sizes are compared case by case. Without --distractors the whole
catalogue is searched.

With --model the retriever gives its best --k of those tools to models, and, as far as --max-tools allows, models are given
all of them: what is lost by retrieval, what by the model, and what each costs. The attempts are kept as a run, which
--resume goes on with. With one --weights its settings are the retriever's.`

// sweepCommand compares sizes of the catalog and settings, and models with retrieved tools.
func (a *cli) sweepCommand() *cobra.Command {
	var q catalogs.SweepRequest
	var others []string
	var seed int64
	cmd := &cobra.Command{
		Use: "sweep SUITE --tools CATALOGUE", Short: "Compare sizes of the catalogue, and settings", Long: sweepLong,
		Example: `  callvet select sweep suite.json --tools catalogue.json --distractors 10,50,100,500
  callvet select sweep suite.json --tools catalogue.json --weights more=vector:0.4 --weights old=preset:bigtool
  callvet select sweep suite.json --tools catalogue.json --distractors 10,50,100 --model openai/gpt-5-mini`,
		Args: cobra.MaximumNArgs(1),
	}
	fs := cmd.Flags()
	toolsFlag(fs, &q.Tools)
	fs.StringVar(&q.Preset, "preset", "", "preset of the base configuration: default or bigtool")
	fs.Var((*depth)(&q.K), "k", "how many tools are given (default 5; 2 for bigtool)")
	fs.StringVar(&q.Embed, "embed", "", "model that makes vectors, for all configurations (default: none is needed)")
	fs.StringVar(&q.Rerank, "rerank", "", "model that orders the best tools anew, for all configurations")
	fs.IntSliceVar(&q.Distractors, "distractors", nil, "numbers of other tools, added to those of a case")
	fs.Var(wholeFlag(&q.Draws, 1, 1), "draws", "draws of distractors per case")
	fs.Int64Var(&seed, "seed", 1, "seed of the draws")
	fs.StringArrayVar(&others, "weights", nil, "NAME=SETTING:VALUE,…: another configuration; may be repeated")
	fs.Var(wholeFlag(&q.MaxTools, 128, 1), "max-tools", "with --model: most tools for a model at once")
	models := a.asking(fs)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		show := func(c *catalogs.Curve, err error) error {
			if c == nil || models.quiet && !a.jsonOut { // there may be a curve although its run ended early
				return err
			}
			return errors.Join(err, emit(a, c, console.Curve))
		}
		if models.resume != "" {
			return ask(cmd.Context(), models, models.resumed("", models.changed), catalogs.ResumeCurve, show)
		}
		if q.Seed, q.Models = uint64(seed), models.targets; len(args) > 0 {
			q.Suite = args[0]
		}
		for _, s := range others {
			one, err := catalogs.ReadConfiguration(s)
			if err != nil {
				return err
			}
			q.Configurations = append(q.Configurations, one)
		}
		if len(q.Models) == 0 {
			return catalogued(cmd.Context(), a.eventPrinter(models.quiet, ""), q, catalogs.RunSweep, console.Sweep)
		}
		if q.Run, err = models.request(); err != nil {
			return err
		}
		return ask(cmd.Context(), models, q, catalogs.DrawCurve, show)
	}
	return cmd
}
