// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/curve"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/report"
)

// Asking asks models, as the flags of a command say.
type Asking struct {
	// Models tells whether any model was named.
	Models func() bool
	// Run carries a suite out and keeps it as a run; tell is called with what came out.
	Run func(ctx context.Context, path string, s *callvet.Suite, tell func(*report.View) error) error
	// Progress is the live line of what is searched before anything is asked; nothing
	// is drawn but on a terminal.
	Progress func() *report.Progress
	// Spent takes from the budget what a run cost, in USD, before another is made;
	// dearest is the most that one attempt of it cost, and what the next may cost.
	Spent func(usd, dearest float64)
	// Resume goes on with the interrupted run that was named, if one was.
	Resume func(ctx context.Context, tell func(*report.View) error) (named bool, err error)
}

// sweepFlags are those of SweepCommand.
type sweepFlags struct {
	tools, preset  string
	embed, rerank  string
	k, draws, most int
	seed           int64
	distractors    []int
	configurations []string
}

const sweepLong = `Measure how often the first tool is right as a catalogue grows, and under other weights.

For each case the tools that it expects or accepts stand among --distractors others, drawn from the catalogue by --seed; a
smaller number is the beginning of a larger one, so that sizes are compared case by case. Without --distractors the whole
catalogue is searched.

With --model the retriever gives its best --k of those tools to models, and, as far as --max-tools allows, models are given
all of them: what is lost by retrieval, what by the model, and what each costs. The attempts are kept as a run, which
--resume goes on with. With one --weights its settings are the retriever's.`

// SweepCommand holds sizes of the catalog and settings against one another, and models
// with the tools that were retrieved.
func SweepCommand(e Env) *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use: "sweep SUITE --tools CATALOGUE", Short: "Compare sizes of the catalogue, and settings", Long: sweepLong,
		Example: `  callvet select sweep suite.json --tools catalogue.json --distractors 10,50,100,500
  callvet select sweep suite.json --tools catalogue.json --weights more=vector:0.4 --weights old=preset:bigtool
  callvet select sweep suite.json --tools catalogue.json --distractors 10,50,100 --model openai/gpt-5-mini`,
		Args: cobra.MaximumNArgs(1),
	}
	fs := cmd.Flags()
	fs.StringVar(&f.tools, "tools", "", "catalogue of tools: a file, or a folder with a file for each")
	fs.StringVar(&f.preset, "preset", "", "preset of the base configuration: default or bigtool")
	fs.Var((*depth)(&f.k), "k", "how many tools are given (default 5; 2 for bigtool)")
	fs.StringVar(&f.embed, "embed", "", "model that makes vectors, for all configurations (default: none is needed)")
	fs.StringVar(&f.rerank, "rerank", "", "model that orders the best tools anew, for all configurations")
	fs.IntSliceVar(&f.distractors, "distractors", nil, "numbers of other tools beside those of a case")
	fs.Var(ranged.Int(&f.draws, 1, 1), "draws", "draws of distractors per case")
	fs.Int64Var(&f.seed, "seed", 1, "seed of the draws")
	fs.StringArrayVar(&f.configurations, "weights", nil, "NAME=SETTING:VALUE,…: another configuration; may be repeated")
	fs.Var(ranged.Int(&f.most, 128, 1), "max-tools", "with --model: the most tools that a model is given at once")
	asking := e.Asking(fs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if named, err := asking.Resume(cmd.Context(), e.tellCurve); named || err != nil {
			return err
		}
		if len(args) == 0 {
			return fmt.Errorf("sweep: %w: which suite?", callvet.ErrInvalid)
		}
		c, err := f.config(&e)
		if err != nil {
			return err
		}
		if asking.Models() {
			if err := c.one(f.most); err != nil {
				return err
			}
		}
		c.Models = e.Models()
		if err := c.fromSuite(args[0], e.Read, c.Models.Warn); err != nil {
			return err
		}
		s, err := e.Suite(cmd.Context(), args[0], Tools(c.Catalogue))
		if err != nil {
			return err
		}
		defer func() {
			TellUse(c.Models.Warn, c.Models.Used())
			_ = c.Models.Close() // has told of what went wrong
		}()
		live := asking.Progress()
		defer live.Finish()
		c.Progress = func(done, total int) {
			if live.Update(report.Tick{Done: done, Total: total, Of: "searches"}); done == total {
				live.Finish()
			}
		}
		if asking.Models() {
			return e.curve(cmd.Context(), args[0], s, c, f.most, asking)
		}
		c.Cases = s.Cases
		out, err := c.Run(cmd.Context())
		if err != nil {
			return err
		}
		return e.Tell(out)
	}
	return cmd
}

func (f *sweepFlags) config(e *Env) (*SweepConfig, error) {
	base := Settings{Preset: f.preset, K: f.k, Embed: f.embed, Rerank: f.rerank}
	c := &SweepConfig{Distractors: f.distractors, Draws: f.draws, Seed: uint64(f.seed), Now: e.Now, Configurations: []Configuration{{Name: "base", Settings: base}}}
	for _, s := range f.configurations {
		one, err := ReadConfiguration(s, base)
		if err != nil {
			return nil, err
		}
		c.Configurations = append(c.Configurations, one)
	}
	if err := distinct(c); err != nil {
		return nil, err
	}
	switch {
	case f.tools == "":
		return nil, NoCatalogue()
	case slices.ContainsFunc(f.distractors, func(n int) bool { return n < 0 || n > 100_000 }) || f.draws < 1 || f.draws > 100:
		return nil, fmt.Errorf("sweep: %w: --distractors are from 0 to 100000, --draws from 1 to 100", callvet.ErrInvalid)
	}
	var err error
	c.Catalogue, _, err = Load(f.tools, e.Read)
	return c, err
}

// fromSuite takes from a suite's config.tool_retrieval what no flag says, for every
// configuration what it leaves open. A reranker that is missing is told on w once.
func (c *SweepConfig) fromSuite(suite string, read Files, w io.Writer) error {
	for i := range c.Configurations {
		f := Flags{Settings: c.Configurations[i].Settings}
		if err := f.FromSuite(suite, read, w); err != nil {
			return err
		}
		c.Configurations[i].Settings, w = f.Settings, io.Discard
	}
	return nil
}

// distinct is an error for a configuration or a size that is there twice: their points
// could not be told apart.
func distinct(c *SweepConfig) error {
	names, sizes := map[string]bool{}, map[int]bool{}
	for _, one := range c.Configurations {
		if names[one.Name] {
			return fmt.Errorf("sweep: %w: two configurations are called %s", callvet.ErrInvalid, one.Name)
		}
		names[one.Name] = true
	}
	for _, n := range c.Distractors {
		if sizes[n] {
			return fmt.Errorf("sweep: %w: --distractors has %d twice", callvet.ErrInvalid, n)
		}
		sizes[n] = true
	}
	return nil
}

// one leaves the retriever whose tools models are given, at most most of them.
func (c *SweepConfig) one(most int) error {
	if n := len(c.Configurations); n > 2 {
		return fmt.Errorf("sweep: %w: models are given the tools of one retriever: at most one --weights with --model", callvet.ErrInvalid)
	} else if n == 2 {
		c.Configurations = c.Configurations[1:]
	}
	if most < 0 {
		return fmt.Errorf("sweep: %w: --max-tools is 0 or more", callvet.ErrInvalid)
	}
	return nil
}

// curve asks models.
func (e *Env) curve(ctx context.Context, path string, s *callvet.Suite, c *SweepConfig, most int, asking Asking) error {
	x, err := c.Expand(ctx, s, most)
	if err != nil {
		return err
	}
	return asking.Run(ctx, path, x.Suite, e.tellCurve)
}

func (e *Env) tellCurve(v *report.View) error {
	c, err := curve.Of(v)
	if err != nil {
		return err
	}
	return e.Tell(c)
}
