// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/tunes"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/report/plain"
)

// tuneGroup is `callvet tune`.
func (a *cli) tuneGroup() *cobra.Command {
	group := &cobra.Command{
		Use:   "tune",
		Short: "Search for better parameters or a better prompt, and confirm the winner on held-out cases",
		Long: `Search for parameters or a prompt that do better on a suite.

The cases are divided by family into a training half and a held-out half; the division stays the same for a suite. The search
sees the training half only. Its winner is compared with what you have now, once, on the held-out half with new attempts. It
is promoted only where the lower end of the improvement is above the margin; each further search on the suite must show more.`,
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(a.tuneParamsCommand(), a.tunePromptCommand(), a.tuneListCommand(), a.tuneShowCommand(),
		a.tuneResumeCommand(), a.tuneApplyCommand(), a.tuneDeleteCommand(), a.tunePresetsCommand())
	return group
}

// tuneFlags are the flags of both kinds of searches.
type tuneFlags struct {
	run     runFlags
	req     tunes.Request
	maxTime time.Duration
	dry     bool
	meta    string
	metaURL string
}

// register adds the flags of a run that a search accepts, and the flags of all searches.
func (f *tuneFlags) register(fs *pflag.FlagSet) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.run.register(own)
	addBut(fs, own, "fail-under", "gates", "until-decided", "baseline", "ledger", "require-pass", "judge",
		"judge-model",
		"judge-base-url", "judge-live", "judge-under", "force-rubric", "failed-from", "resume", "no-wait",
		"keep-errors",
		"output", "show-failures", "slice", "name", "notes", "run-tag", "record", "system-for", "target-version",
		"interleave")
	fs.Var(innerShareFlag(&f.req.Holdout, tunes.DefaultShare), "holdout",
		"share of the families of cases that the search does not see")
	fs.Var(shareFlag(&f.req.Margin, 0), "margin", "least improvement that counts, such as 0.02")
	fs.StringVar(&f.req.Metric, "metric", "", "what is made larger, for each case in [0,1] (default: pass_rate)")
	fs.Var(durationFlag(&f.maxTime, 0), "max-time", "end the search after this time, and confirm what it found")
	fs.BoolVar(&f.req.NoRace, "no-race", false, "ask every candidate about all training cases")
	fs.BoolVar(&f.dry, "dry-run", false, "print what would be asked, and ask nothing")
}

// request is the search that the flags define.
func (a *cli) tuneRequest(f *tuneFlags, kind tunes.Kind, path string,
	changed func(string) bool,
) (tunes.Request, error) {
	req := f.req
	var err error
	req.Kind, req.MaxSeconds = kind, f.maxTime.Seconds()
	req.Run, err = a.request(path, &f.run, changed)
	if err != nil || kind != tunes.Prompt || f.meta == "" {
		return req, err
	}
	req.Meta = &app.TargetSpec{Target: f.meta, BaseURL: f.metaURL}
	return req, nil
}

func (a *cli) tuneParamsCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "params SUITE -m MODEL --space FILE",
		Short: "Search for better parameters of a model",
		Long: `Search for parameters of a model that do better on a suite.

The space lists values, or a range with a step, for each parameter; models may have their own:

  params: {temperature: [0, 0.5, 1], top_p: {min: 0.5, max: 1, step: 0.25}, tool_choice: [auto, required]}
  extra: {top_k: [20, 40]}                       # sent as it is
  models: {openai/gpt-5-mini: {params: {reasoning_effort: [low, medium]}}}

Each combination is resolved as a request would be. Those that send the same request are asked once. What is worse than the
best so far is asked no more.`,
		Example: `  callvet tune params suite.yaml -m openai/gpt-5-mini --space space.yaml --max-calls 2000
  callvet tune params suite.yaml -m ollama/qwen3 --preset sampling --mode bayesian --trials 30
  callvet tune params suite.yaml -m openai/gpt-5-mini --space space.yaml --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := a.tuneRequest(&f, tunes.Params, args[0], cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return a.search(cmd.Context(), &f, &req)
		},
	}
	fs := cmd.Flags()
	f.register(fs)
	fs.StringVar(&f.req.Space, "space", "", "YAML or JSON file with the values of each parameter")
	fs.StringVar(&f.req.Preset, "preset", "", "space by its name, in place of a file; shipped: "+strings.Join(tunes.Presets(), ", "))
	fs.StringVar(&f.req.Mode, "mode", "", strings.Join(tunes.Modes(tunes.Params), ", ")+" (default: grid)")
	fs.Var(wholeFlag(&f.req.Trials, 0, 1), "trials",
		fmt.Sprintf("combinations that are tried, of modes other than grid (default %d)", tunes.DefaultTrials))
	return cmd
}

func (a *cli) tunePromptCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "prompt SUITE -m MODEL --meta MODEL",
		Short: "Search for a better system prompt",
		Long: `Search for a system prompt that does better on a suite. Another model (--meta) writes the prompts.

  quick     variations of the present prompt, once
  evolve    generations: the best prompts stay and are asked again, others are written from them, boldly or carefully
  reflect   as evolve; the model that writes sees attempts of the training half that failed, redacted: what was asked, what
            was called and what was found, but nothing that was expected

The present prompt takes part, and wins unless another is better. Length and cost are shown next to the score.`,
		Example: `  callvet tune prompt suite.yaml -m openai/gpt-5-mini --meta anthropic/claude-sonnet-4-5 --max-cost 5
  callvet tune prompt suite.yaml -m ollama/qwen3 --meta ollama/qwen3 --mode reflect --generations 4`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := a.tuneRequest(&f, tunes.Prompt, args[0], cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return a.search(cmd.Context(), &f, &req)
		},
	}
	fs := cmd.Flags()
	f.register(fs)
	fs.StringVar(&f.meta, "meta", "", "model that writes the prompts")
	fs.StringVar(&f.metaURL, "meta-base-url", "",
		"endpoint of the model that writes the prompts, instead of the provider's own")
	fs.StringVar(&f.req.Mode, "mode", "", strings.Join(tunes.Modes(tunes.Prompt), ", ")+" (default: quick)")
	fs.Var(wholeFlag(&f.req.Population, tunes.DefaultPopulation, tunes.MinPopulation), "population",
		"prompts of a generation")
	fs.Var(wholeFlag(&f.req.Generations, tunes.DefaultGenerations, 1), "generations",
		"generations, of evolve and reflect")
	fs.Var(shareFlag(&f.req.Selection, tunes.DefaultSelection), "selection", "share of a generation that stays")
	return cmd
}

// search carries out a search, or prints its planned requests.
func (a *cli) search(ctx context.Context, f *tuneFlags, req *tunes.Request) error {
	tell := a.tunePrinter(f.run.quiet, f.run.suite.lint(a.hints(), req.Run.Suite))
	if f.dry {
		e, err := tunes.Preview(ctx, a.program(), *req, nil, tell)
		if err != nil {
			return err
		}
		return emit(a, e, console.SearchEstimate)
	}
	s, err := tunes.Start(ctx, a.program(), *req, tell)
	if err != nil {
		return err
	}
	return a.carryOut(ctx, s)
}

// carryOut carries out a search that is open, and prints it.
func (a *cli) carryOut(ctx context.Context, s *tunes.Session) error {
	a.process.OnInterrupt("interrupted; what was received is stored; go on with: " + a.tuneLine("resume", s.ID))
	t, err := s.Do(ctx)
	if t == nil {
		return err
	}
	if t.State == tunes.Interrupted {
		a.process.WriteInterrupt()
		a.exitStatus = exitInterrupted
		return nil
	}
	if err != nil {
		return &callvet.Hinted{Err: err, Hint: "what was received is stored; go on with: " + a.tuneLine("resume", t.ID)}
	}
	t.Halves = nil
	return emit(a, t, a.printTune)
}

// tuneLine is a command line about a search.
func (a *cli) tuneLine(verb, id string) string {
	line := "callvet tune " + verb + " " + id
	if a.dbPath != "" {
		line += " --db " + plain.ShellQuote(a.dbPath)
	}
	return line
}

// printTune writes a search.
func (a *cli) printTune(out io.Writer, t *tunes.Tune) error {
	return console.Search(out, t, a.tuneLine)
}

// tunePrinter shows the events of a search.
func (a *cli) tunePrinter(quiet bool, lint string) app.Events {
	p := a.eventPrinter(quiet, lint)
	return func(ev app.Event) {
		t := ev.Tune
		if t == nil {
			p.print(ev)
			return
		}
		if quiet {
			return
		}
		p.finish()
		switch t.What {
		case tunes.EventRound:
			fmt.Fprintf(a.err, "%d of %s still in: the best is %s with %s on %d of %d training cases\n", t.In,
				plain.Count(t.Asked, "candidate", "candidates"), plain.Line(t.Name), plain.Rate(*t.Score),
				t.Tasks, t.Of)
		case tunes.EventGeneration:
			fmt.Fprintf(a.err, "generation %d\n", t.Generation)
		case tunes.EventGenerationError:
			fmt.Fprintf(a.err, "note: generation %d: %s\n", t.Generation, plain.Line(t.Text))
		case tunes.EventConfirm:
			fmt.Fprintf(a.err, "confirming %s on the held-out cases\n", plain.Line(t.Name))
		}
	}
}

func (a *cli) tuneListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the searches", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := tunes.List(cmd.Context(), a.program())
			if err != nil {
				return err
			}
			return emit(a, list, func(w io.Writer, list []tunes.Tune) error {
				for i := range list {
					t := &list[i]
					outcome := string(t.State)
					for _, m := range t.Models {
						if m.Outcome != "" {
							outcome = string(m.Outcome)
						}
					}
					if _, err := fmt.Fprintf(w, "%s  %s  %-11s  %-13s  %s\n", t.ID,
						t.Created.Local().Format("2006-01-02 15:04"),
						t.Kind, outcome, plain.Line(t.Suite)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

func (a *cli) tuneShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show SEARCH", Short: "Show a search: its candidates and the confirmed result",
		Example: "  callvet tune show last\n  callvet tune show last --json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := tunes.Get(cmd.Context(), a.program(), args[0])
			if err != nil {
				return err
			}
			return emit(a, t, a.printTune)
		},
	}
}

func (a *cli) tuneResumeCommand() *cobra.Command {
	var f runFlags
	var maxTime time.Duration
	cmd := &cobra.Command{
		Use: "resume SEARCH", Short: "Resume a search that was interrupted, or that reached its limits",
		Example: "  callvet tune resume last --max-calls 4000", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			changed := cmd.Flags().Changed
			seconds := maxTime.Seconds()
			s, err := tunes.Resume(cmd.Context(), a.program(), tunes.ResumeRequest{
				Tune: args[0], MaxCalls: ifGiven(changed("max-calls"), &f.maxCalls),
				MaxCostUSD: ifGiven(changed("max-cost"), &f.maxCost),
				MaxSeconds: ifGiven(changed("max-time"), &seconds),
			}, a.tunePrinter(f.quiet, ""))
			if err != nil {
				return err
			}
			return a.carryOut(cmd.Context(), s)
		},
	}
	fs := cmd.Flags()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.register(own)
	for _, name := range []string{"max-calls", "max-cost", "quiet"} {
		fs.AddFlag(own.Lookup(name))
	}
	fs.Var(durationFlag(&maxTime, 0), "max-time", "end the search after this time in all, and confirm what it found")
	return cmd
}

func (a *cli) tuneDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete SEARCH", Short: "Delete a search; its uses of the held-out cases still count",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := tunes.Delete(cmd.Context(), a.program(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "deleted %s\n", id)
			return err
		},
	}
}

func (a *cli) tuneApplyCommand() *cobra.Command {
	var req tunes.ApplyRequest
	cmd := &cobra.Command{
		Use:   "apply SEARCH",
		Short: "Write a confirmed winner into a suite or a targets file",
		Long: `Write the winner of a search where it is used.

--suite FILE gives the suite the prompt of the winner. --targets FILE adds the model with the parameters and the prompt of the
winner as a target, for run --targets. A winner that was not confirmed is refused without --anyway.`,
		Example: "  callvet tune apply last --suite suite.yaml\n  callvet tune apply last --targets targets.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Tune = args[0]
			if !cmd.Flags().Changed("candidate") {
				req.Candidate = nil
			}
			done, err := tunes.Apply(cmd.Context(), a.program(), req)
			if err != nil {
				return err
			}
			return emit(a, done, func(w io.Writer, d *tunes.Applied) error {
				for _, f := range d.Written {
					if _, err := fmt.Fprintf(w, "wrote %s: %s\n", f, plain.Line(d.Name)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	fs := cmd.Flags()
	req.Candidate = new(int)
	fs.StringVar(&req.Suite, "suite", "", "suite file that gets the prompt")
	fs.StringVar(&req.Targets, "targets", "", "targets file that gets the model with its parameters and prompt")
	fs.StringVarP(&req.Model, "model", "m", "", "of a search with several models: which one")
	fs.IntVar(req.Candidate, "candidate", 0, "number of the candidate (default: the winner)")
	fs.BoolVar(&req.Anyway, "anyway", false, "apply a candidate that was not confirmed")
	return cmd
}

func (a *cli) tunePresetsCommand() *cobra.Command {
	group := &cobra.Command{
		Use: "presets", Short: "List the named search spaces, and store your own",
		Example: "  callvet tune presets\n  callvet tune presets add mine space.yaml", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := tunes.ListPresets(cmd.Context(), a.program())
			if err != nil {
				return err
			}
			return emit(a, list, func(w io.Writer, list []tunes.PresetView) error {
				for i := range list {
					p := &list[i]
					about := cmp.Or(p.Problem, p.About)
					if p.Own && p.Problem == "" {
						about = "your own"
					}
					if _, err := fmt.Fprintf(w, "%-14s %s\n", p.Name, plain.Line(about)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	group.AddCommand(&cobra.Command{
		Use: "add NAME FILE", Short: "Store a search space under a name; it replaces an earlier one", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := a.program().Read(args[1], tunes.MaxPresetBytes)
			if err != nil {
				return err
			}
			if _, err := tunes.KeepPreset(cmd.Context(), a.program(), args[0], b); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "kept %s\n", args[0])
			return err
		},
	}, &cobra.Command{
		Use: "delete NAME", Short: "Delete a search space of your own", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := tunes.DeletePreset(cmd.Context(), a.program(), args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(a.out, "deleted %s\n", args[0])
			return err
		},
	})
	return group
}
