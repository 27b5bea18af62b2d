// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
)

func (a *app) selectSweepCommand() *cobra.Command {
	var tools, preset string
	var k, draws int
	var seed int64
	var distractors []int
	var configurations []string
	cmd := &cobra.Command{
		Use:   "sweep SUITE --tools CATALOGUE",
		Short: "Hold sizes of the catalogue and settings against one another",
		Long: `Measure how often the first tool is right as a catalogue grows, and under other weights.

For each case the tools that it expects or accepts stand among --distractors others, drawn from the catalogue by --seed; a
smaller number is the beginning of a larger one, so that sizes are compared case by case. Without --distractors the whole
catalogue is searched.`,
		Example: "  callvet select sweep suite.json --tools catalogue.json --distractors 10,50,100,500\n  callvet select sweep suite.json --tools catalogue.json --weights more=vector:0.4 --weights old=preset:bigtool",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base := selector.Settings{Preset: preset, K: k}
			c := selector.SweepConfig{Distractors: distractors, Draws: draws, Seed: uint64(seed), Now: a.now, Configurations: []selector.Configuration{{Name: "base", Settings: base}}}
			for _, s := range configurations {
				one, err := selector.ReadConfiguration(s, base)
				if err != nil {
					return err
				}
				c.Configurations = append(c.Configurations, one)
			}
			if tools == "" || slices.ContainsFunc(distractors, func(n int) bool { return n < 0 || n > 100_000 }) || draws < 1 || draws > 100 {
				return usagef("--tools CATALOGUE is needed; --distractors are from 0 to 100000, --draws from 1 to 100")
			}
			s, err := a.sweep(cmd.Context(), args[0], tools, &c)
			if err != nil {
				return err
			}
			if a.jsonOut {
				return s.JSON(a.out)
			}
			return s.Text(a.out)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&tools, "tools", "", "catalogue of tools")
	fs.StringVar(&preset, "preset", "", "preset of the base configuration: default or bigtool")
	fs.IntVar(&k, "k", 0, "how many tools are given (default 5; 2 for bigtool)")
	fs.IntSliceVar(&distractors, "distractors", nil, "numbers of other tools beside those of a case")
	fs.IntVar(&draws, "draws", 1, "draws of distractors per case")
	fs.Int64Var(&seed, "seed", 1, "seed of the draws")
	fs.StringArrayVar(&configurations, "weights", nil, "NAME=SETTING:VALUE,…: another configuration; may be repeated")
	return cmd
}

func (a *app) sweep(ctx context.Context, path, tools string, c *selector.SweepConfig) (*selector.Sweep, error) {
	var err error
	if c.Catalogue, _, err = a.catalogueOf(tools); err != nil {
		return nil, err
	}
	f := suiteFlags{}
	for i := range c.Catalogue.Entries {
		f.catalogue = append(f.catalogue, c.Catalogue.Entries[i].Tool)
	}
	read, problems, err := a.openSuite(ctx, path, f)
	if err != nil {
		a.tell(problems, false)
		return nil, err
	}
	for k := range read.Cases(ctx) {
		c.Cases = append(c.Cases, callvet.Case{ID: k.ID, Input: k.Input, Expect: k.Expect})
	}
	s, err := c.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("sweep %s: %w", path, err)
	}
	return s, nil
}
