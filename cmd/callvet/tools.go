// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/console"
)

// toolsCommand checks a catalog, and changes its texts.
func (a *cli) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tools", Short: "Check a catalogue of tools: its problems, and tools that are easily confused",
	}
	cmd.AddCommand(&cobra.Command{
		Use: "lint CATALOGUE", Short: "Find problems that make tools hard to find or to distinguish",
		Example: "  callvet tools lint catalogue.json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t := a.eventPrinter(false, "")
			defer t.tellUsed()
			out, err := catalogs.LintTools(cmd.Context(), a.program(),
				catalogs.LintToolsRequest{Tools: args[0]}, t.print)
			if err != nil {
				return err
			}
			if out.Errors() > 0 {
				a.exitStatus = exitUsage
			}
			return emit(a, out, console.CatalogFindings)
		},
	})
	var q catalogs.ConfusableRequest
	confusable := &cobra.Command{
		Use: "confusable CATALOGUE", Short: "List pairs of tools that are easily confused",
		Example: "  callvet tools confusable catalogue.json --run last", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Tools = args[0]
			return catalogued(cmd.Context(), a.eventPrinter(false, ""), q, catalogs.Confusable, console.Confusable)
		},
	}
	confusable.Flags().StringVar(&q.Run, "run", "", "run with confusions to show next to the similarity")
	confusable.Flags().Var(wholeFlag(&q.Top, 20, 1), "top", "how many pairs")
	cmd.AddCommand(confusable, a.vectorsCommand(), a.whatIfCommand(), a.suggestCommand(), a.applyCommand())
	return cmd
}

// vectorsCommand lists stored vectors of models, and removes them.
func (a *cli) vectorsCommand() *cobra.Command {
	list := func(drop bool) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, models []string) error {
			out, err := catalogs.Vectors(cmd.Context(), a.program(),
				catalogs.VectorsRequest{Models: models, Drop: drop})
			if err != nil {
				return err
			}
			return emit(a, out, report.Vectors)
		}
	}
	cmd := &cobra.Command{
		Use: "cache", Short: "List the cached vectors of embedding models, with their size",
		Args: cobra.NoArgs, RunE: list(false),
	}
	cmd.AddCommand(&cobra.Command{
		Use: "clear [MODEL…]", Short: "Delete the cached vectors of all models, or of the named ones",
		Long:    "Forget the vectors that are kept. A model is named as `callvet tools cache` lists it; this is for servers that got\nanother model under the same name, since vectors of a changed text are never used again.",
		Example: "  callvet tools cache clear\n  callvet tools cache clear ollama/nomic-embed-text@127.0.0.1:11434",
		RunE:    list(true),
	})
	return cmd
}

const whatIfLong = `Compare a catalogue with edited texts with the catalogue as it is, case by case over a suite.

By default callvet's retriever answers on both sides; with --model a model chooses among the --offer best tools that the
retriever finds on each side, or among all of them where there are no more. The result has the cases that become right
and wrong, the paired difference, and the tools that lose questions. Cases with a question that an edit contains are
left out; so are the cases that suggestions were made of, where the file names them (docs/guides/catalogues.md).`

func (a *cli) whatIfCommand() *cobra.Command {
	var q catalogs.WhatIfRequest
	cmd := &cobra.Command{
		Use:   "whatif CATALOGUE --edits EDITS --suite SUITE",
		Short: "Measure the effect of other descriptions before you change any", Long: whatIfLong,
		Example: "  callvet tools whatif catalogue.json --edits edits.yaml --suite suite.json\n  callvet tools whatif catalogue.json --edits edits.yaml --suite suite.json -m openai/gpt-5-mini",
		Args:    cobra.ExactArgs(1),
	}
	fs := cmd.Flags()
	fs.StringVar(&q.Edits, "edits", "", "file with the edits")
	fs.StringVar(&q.Suite, "suite", "", "suite with the questions")
	fs.StringSliceVar(&q.Status, "status", []string{"accepted", "proposed"},
		"edits that are tried: accepted, proposed, rejected")
	fs.BoolVar(&q.AllCases, "all-cases", false, "also the cases that suggestions were made of")
	fs.Var(wholeFlag(&q.Offer, 20, 1), "offer", "with --model: how many tools a model chooses among")
	searchFlags(fs, &q.Search, "tools")
	models := a.asking(fs, "output", "resume", "name", "quiet", "seed")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		q.Tools, q.Models = args[0], models.targets
		if q.Run, err = models.request(); err != nil {
			return err
		}
		return ask(cmd.Context(), models, q, catalogs.WhatIf, func(out *catalogs.WhatIfResult, err error) error {
			switch {
			case err == nil:
				return emit(a, out, console.WhatIf)
			case out != nil && !a.jsonOut: // the findings without a model remain
				_ = console.WhatIf(a.out, out)
			}
			return err
		})
	}
	return cmd
}

const suggestLong = `Ask a model for better descriptions of the tools that fail most, and measure them on questions that it has not seen.

The suite is divided in two. The tools are chosen, and the prompts made, with one part; the descriptions are measured on the
other, each alone and all together, by callvet's retriever. What repeats a question, names parameters or numbers that the
tool does not have, orders its reader, or lowers the held-out part is written as rejected, with the reason; the rest as
proposed. The catalogue is not changed: look at the file, write status: accepted, then callvet tools apply.`

func (a *cli) suggestCommand() *cobra.Command {
	var q catalogs.SuggestRequest
	var dry bool
	cmd := &cobra.Command{
		Use:   "suggest CATALOGUE --suite SUITE --model MODEL -o EDITS",
		Short: "Have a model suggest descriptions, and measure them on unseen questions", Long: suggestLong,
		Example: "  callvet tools suggest catalogue.json --suite suite.json -m openai/gpt-5-mini -o edits.yaml\n  callvet tools suggest catalogue.json --suite suite.json --tool smhi_prognos --dry-run",
		Args:    cobra.ExactArgs(1),
	}
	fs := cmd.Flags()
	fs.StringVar(&q.Suite, "suite", "", "suite with the questions")
	fs.StringArrayVar(&q.Only, "tool", nil, "tool to describe anew; may be repeated (default: those that fail most)")
	fs.Var(wholeFlag(&q.Top, 5, 1), "top", "how many tools, where none is named")
	fs.Var(innerShareFlag(&q.Holdout, 0.5), "holdout", "share of the questions that is kept from the model")
	fs.Int64Var(&q.Seed, "seed", 1, "seed of the division")
	fs.BoolVar(&dry, "dry-run", false, "print what the model would be asked, and do not ask it")
	fs.StringVarP(&q.Output, "output", "o", "", "file for the edits; it must not exist")
	searchFlags(fs, &q.Search, "tools")
	models := a.asking(fs, "output", "resume", "name", "quiet", "seed", "repeat")
	fs.Lookup("model").Usage = "model that writes the descriptions"
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		q.Tools, q.Models = args[0], models.targets
		if dry {
			return catalogued(cmd.Context(), a.eventPrinter(false, ""), q, catalogs.ListPrompts, console.Prompts)
		}
		if q.Run, err = models.request(); err != nil {
			return err
		}
		return ask(cmd.Context(), models, q, catalogs.Suggest, func(out *catalogs.Suggestions, err error) error {
			var lost *catalogs.Unwritten
			if errors.As(err, &lost) {
				_, _ = a.out.Write(lost.Data)
			}
			if err != nil {
				return err
			}
			return emit(a, out, console.Suggestions)
		})
	}
	return cmd
}

func (a *cli) applyCommand() *cobra.Command {
	var q catalogs.ApplyRequest
	cmd := &cobra.Command{
		Use: "apply CATALOGUE --edits EDITS -o NEW", Short: "Write a catalogue with the accepted edits",
		Long: `Write the catalogue with edits in it, to a file of its own or, when -o names it, in its own place; whole or not at all.
Every byte that no edit is about stays as it was; YAML, JSON with comments, one tool a line and gzip are written as plain JSON, to
another file. A file that is no catalogue is not written over. Only edits with status: accepted are taken, unless --status says otherwise.`,
		Example: "  callvet tools apply catalogue.json --edits edits.yaml -o catalogue.new.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Tools = args[0]
			return catalogued(cmd.Context(), a.eventPrinter(false, ""), q, catalogs.Apply, console.Applied)
		},
	}
	cmd.Flags().StringVar(&q.Edits, "edits", "", "file with the edits")
	cmd.Flags().StringVarP(&q.Output, "output", "o", "", "catalogue to write")
	cmd.Flags().StringSliceVar(&q.Status, "status", []string{"accepted"},
		"edits that are taken: accepted, proposed, rejected")
	return cmd
}
