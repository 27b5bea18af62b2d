// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/inspect"
	"github.com/callvet/callvet/cmd/callvet/ranged"
	"github.com/callvet/callvet/internal/report/figure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve/route"
)

// tuneFlags are those of TuneCommand.
type tuneFlags struct {
	tools, goal, output string
	settings            Settings
	holdout             float64
	folds, rounds       int
	seed                int64
}

const tuneLong = `Look for weights that find the right tools of a suite more often than those of the preset.

The cases are split by the hash of their right tools: cases of the same right tools are never in both parts. Weights are
looked for on the train part, one number at a time; the outcome is compared with the preset once, on the part held out. Where
the gain there is not beyond chance, the command says so: keep the preset, and do not try other seeds until a gain appears.
With --folds every case is held out once, and the gain is that of the procedure; the weights are those of all cases.`

// TuneCommand looks for weights.
func TuneCommand(e Env) *cobra.Command {
	f := tuneFlags{}
	cmd := &cobra.Command{
		Use: "tune SUITE --tools CATALOGUE", Short: "Look for better weights on one part of a suite, and compare on the other", Long: tuneLong,
		Example: "  callvet select tune suite.json --tools catalogue.json -o weights.json\n  callvet select tune suite.json --tools catalogue.json --folds 5 --goal hit1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.folds != 0 && cmd.Flags().Changed("holdout") {
				return fmt.Errorf("tune: %w: either --holdout or --folds", callvet.ErrInvalid)
			}
			return e.tune(cmd.Context(), args[0], &f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tools, "tools", "", "catalogue of tools: a file, or a folder with a file for each")
	flags.StringVar(&f.settings.Preset, "preset", "", "preset whose weights are changed: default or bigtool")
	flags.Var((*depth)(&f.settings.K), "k", "how many tools are given, for the goal pass (default 5; 2 for bigtool)")
	flags.StringVar(&f.settings.Embed, "embed", "", "model that makes vectors, as for select")
	flags.StringVar(&f.goal, "goal", Goals()[0], "what is made larger: "+strings.Join(Goals(), ", "))
	flags.Var(ranged.Between(&f.holdout, 0.5), "holdout", "share of the sets of right tools that is held out")
	flags.Var(ranged.Int(&f.folds, 0, 2), "folds", "hold every case out once, in so many folds, instead of --holdout")
	flags.Int64Var(&f.seed, "seed", 1, "seed of the split")
	flags.Var(ranged.Int(&f.rounds, 4, 1), "rounds", "how often all weights are gone through, at most")
	flags.StringVarP(&f.output, "output", "o", "", "file for the weights that are proposed")
	return cmd
}

func (f *tuneFlags) check() error {
	switch {
	case f.tools == "":
		return NoCatalogue()
	case !slices.Contains(Goals(), f.goal):
		return &callvet.Hinted{Err: fmt.Errorf("choose goal: %w: none is called %q", callvet.ErrInvalid, f.goal), Hint: strings.Join(Goals(), ", ")}
	case f.rounds < 1 || f.rounds > 20 || f.folds < 0 || f.folds > 100:
		return fmt.Errorf("tune: %w: --rounds are from 1 to 20, --folds from 2 to 100", callvet.ErrInvalid)
	}
	return nil
}

func (e *Env) tune(ctx context.Context, path string, f *tuneFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := e.mayWrite(f.output); err != nil {
		return err
	}
	c := TuneConfig{Settings: f.settings, Goal: f.goal, Holdout: f.holdout, Folds: f.folds, Seed: uint64(f.seed), Rounds: f.rounds}
	var err error
	if c.Catalogue, _, err = Load(f.tools, e.Read); err != nil {
		return err
	}
	s, err := e.Suite(ctx, path, Tools(c.Catalogue))
	if err != nil {
		return err
	}
	c.Cases = s.Cases
	o, err := f.settings.Options(c.Catalogue)
	if err != nil {
		return err
	}
	m := e.Models()
	defer func() { _ = m.Close() }() // has told of what went wrong
	if f.settings.Embed != "" {
		if o.Embedder, o.Cache, err = m.Embedder(ctx, f.settings.Embed); err != nil {
			return err
		}
	}
	t, err := c.Run(ctx, o)
	if err != nil {
		return err
	}
	TellUse(m.Warn, m.Used())
	t.File = f.output
	if f.output != "" && len(t.Weights) > 0 {
		b, err := t.file()
		if err != nil {
			return err
		}
		if err := e.Write(ctx, f.output, plain.Visible(b)); err != nil {
			return err
		}
	}
	return e.Tell(t)
}

// mayWrite is an error where a file would be lost that tuning did not write.
func (e *Env) mayWrite(file string) error {
	if file == "" {
		return nil
	}
	b, there, err := e.Old(file)
	if err != nil || !there {
		return err
	}
	var old struct {
		Composite, Tuned json.RawMessage
	}
	if json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), &old) != nil || old.Tuned == nil || old.Composite != nil {
		return &callvet.Hinted{Err: fmt.Errorf("write weights %s: %w: there is a file that was not written by select tune", file, callvet.ErrConflict), Hint: "-o with another name"}
	}
	return nil
}

// seen is how many cases ask what routes were learned from; nil saw nothing.
func seen(l *route.Learned, cases []callvet.Case) (n int) {
	for i := range cases {
		if in := cases[i].Input; l != nil && len(in) > 0 && l.Saw(in[len(in)-1].Content) {
			n++
		}
	}
	return n
}

// Caution tells, on w, of routes and agents that cases expect and nothing gives, when
// weights were tuned or routes learned on the very suite that they are used on, and when
// weights were tuned for other settings. It reads the suite for that.
func (f *Flags) Caution(ctx context.Context, e *Env, w io.Writer, suite string) error {
	by, _, err := routes(f.Settings.Routes, e.Read)
	if err != nil {
		return err
	}
	if f.Tools == "" || suite == "-" { // standard input is read once
		return nil
	}
	c, _, err := Load(f.Tools, e.Read)
	if err != nil {
		return err
	}
	s, err := e.Suite(ctx, suite, Tools(c))
	if err != nil {
		return err
	}
	for _, p := range inspect.Expected(suite, s.Cases, c, by) {
		fmt.Fprintf(w, "warning: %s: %s\n", p.Code, plain.Line(p.Error()))
	}
	learned, _ := by.(*route.Learned)
	if n := seen(learned, s.Cases); n > 0 {
		fmt.Fprintf(w, "warning: %s learned the questions of %s of this suite: their routes flatter it\n", f.Settings.Routes, plain.Count(n, "case", "cases"))
	}
	u := f.tuned
	if u == nil {
		return nil
	}
	if u.Embed != f.Settings.Embed {
		fmt.Fprintf(w, "warning: %s was tuned with %s, and is used with %s\n", f.Weights, vectorsOf(u.Embed), vectorsOf(f.Settings.Embed))
	}
	if SuiteHash(s.Cases) != u.Suite {
		return nil // whether it shares cases with the other one is not known
	}
	change := fmt.Sprintf("%s %s under the preset, %s as tuned, change %s", u.Goal, plain.Percent(u.Before), plain.Percent(u.After), figure.Change(u.Change))
	if u.Folds > 0 {
		fmt.Fprintf(w, "warning: %s was tuned on this suite, on all of its %d cases: the figures below flatter it; held out in %d folds: %s\n", f.Weights, u.Train.Cases, u.Folds, change)
		return nil
	}
	fmt.Fprintf(w, "warning: %s was tuned on this suite: the figures below flatter it by its train part of %s; on the %d held out: %s\n", f.Weights, plain.Count(u.Train.Cases, "case", "cases"), u.Held.Cases, change)
	return nil
}

func vectorsOf(spec string) string {
	if spec == "" {
		return "vectors that need no model"
	}
	return "vectors of " + spec
}
