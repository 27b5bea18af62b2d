// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
)

// replayFlags are the flags of `callvet replay`.
type replayFlags struct {
	runFlags
	req  runs.ReplayRequest
	from int
}

func (a *cli) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay RUN",
		Short: "Replay a stored run with the recorded results of its calls; fork it at a step",
		Long: `Make a new run of the attempts of a stored one. Calls get what they got then: nothing is executed.

Without more, targets are not asked: every attempt is what it was, with its times, and is scored anew.
With --from-step N the first N answers of each attempt stand, and its target is asked from there.
With -m another target is asked, from the beginning or from --from-step on.

A call that the run did not make has no recording: its attempt ends with an error, which says nothing of
the target, and the nearest call is shown. --recordings DIR answers from a folder instead (docs/guides/worlds.md).`,
		Example: `  callvet replay last
  callvet replay last --case refund --from-step 1
  callvet replay last -m openai/gpt-5-mini`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.req.Run = args[0]
			return a.evaluate(cmd.Context(), &f.runFlags,
				func() (*runs.Session, error) { return a.replayed(cmd.Context(), &f, cmd.Flags()) })
		},
	}
	fs := cmd.Flags()
	fs.Var(wholeFlag(&f.from, 0, 0), "from-step",
		"how many answers of each attempt are kept; the target is asked for later ones")
	fs.StringVar(&f.req.Case, "case", "", "the only case to replay")
	fs.StringVar(&f.req.Of, "of", "", "with -m: target of the run with the kept answers")
	fs.StringVar(&f.req.Recordings, "recordings", "",
		"folder with recorded answers of tools, in place of the run's results")
	fs.StringVar(&f.req.OnMiss, "on-miss", "",
		"a call without a recording: fail ends the attempt with an error (default), tell gives the target an error")
	fs.StringArrayVarP(&f.targets, "model", "m", nil, "target to ask in place of those of the run; may be repeated")
	f.pace(fs)
	f.wordFlags(fs)
	fs.StringArrayVarP(&f.outputs, "output", "o", nil,
		"also write a report: .html .pdf .md .xml .csv .json .jsonl; may be repeated")
	fs.Var(shareFlag(&f.failUnder, 0), "fail-under",
		"exit with 3 when the interval of the pass rate is below this bound, with 4 when it contains it")
	fs.BoolVar(&f.requirePass, "require-pass", false, "exit with 3 unless every attempt passed")
	fs.StringSliceVar(&f.slices, "slice", nil, "slices of the report: tag, tier or field names; * for all fields")
	fs.StringSliceVar(&f.keepKinds, "keep", nil,
		"kinds of personal data that are not redacted: email, phone, …")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, no tables")
	fs.Var(wholeFlag(&f.maxFailures, 20, -1), "show-failures", "failing cases to explain on the terminal")
	fs.Int64Var(&f.seed, "seed", 0, "sent to models that take one")
	fs.StringVar(&f.toolChoice, "tool-choice", "",
		"auto, required, none or a tool's name, for cases that do not say (default: the suite's)")
	f.target.register(fs)
	return cmd
}

// replayed starts the replay that the flags define.
func (a *cli) replayed(ctx context.Context, f *replayFlags, fs *pflag.FlagSet) (*runs.Session, error) {
	shared, err := a.shared(&f.runFlags, fs.Changed)
	if err != nil {
		return nil, err
	}
	prompts, err := a.systemFor(f.target.systemFor)
	if err != nil {
		return nil, err
	}
	req := f.req
	req.SystemFor, req.Prices = prompts, f.target.prices
	req.Words, req.Slices, req.Keep, req.Settings = f.words, f.slices, f.keepKinds, f.settings(fs.Changed)
	req.Origin = app.Origin{Command: "replay", Flags: given(fs)}
	if fs.Changed("from-step") {
		req.FromStep = &f.from
	}
	for _, t := range f.targets {
		spec := shared
		spec.Target = t
		req.Targets = append(req.Targets, spec)
	}
	return runs.StartReplay(ctx, a.program(), req, a.eventPrinter(f.quiet, "").print)
}
