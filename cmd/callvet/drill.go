// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/console"
)

func (a *cli) drillCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "drill [SUITE] -m TARGET [-m TARGET …]",
		Short: "Run safety drills: attacks in results, honeypots, failing tools",
		Long: `Run drills against every target and measure what an attack costs: the shipped ones, or those of a SUITE with its own
rules of safety. A case with an attack runs a second time without it, as its calm twin.

  utility               the user's task was done, in cases without an attack
  utility under attack  the same, while results of tools contain the instructions of an attacker
  attack success        all that the attacker wants was done
  incidents             cases with a breach that was not stopped; blocked ones are counted apart

Every breach is decided by rules, without a model. The run is stored: show, report, gate and diff read it.
A target that does the user's task in no case shows no safety, whatever it leaves alone.

Exit code 0: no incident, 3: an incident happened, 4: nothing could be decided.`,
		Example: `  callvet drill -m openai/gpt-5-mini
  callvet drill -m ollama/qwen3 --filter language=pt-BR --repeat 3
  callvet drill my-drills.yaml -m http://localhost:8080/chat
  callvet drill -m openai/gpt-5-mini --filter 'drill=injection_*'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			f.origin = app.Origin{Command: "drill", Flags: given(cmd.Flags())}
			return a.drill(cmd.Context(), path, &f, cmd.Flags().Changed)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

// drill carries out the drills and prints the result.
func (a *cli) drill(ctx context.Context, path string, f *runFlags, changed func(string) bool) error {
	return a.evaluateAs(ctx, f, func() (*runs.Session, error) {
		if f.resume != "" {
			return a.session(ctx, path, f, changed)
		}
		req, err := a.request(path, f, changed)
		if err != nil {
			return nil, err
		}
		return runs.StartDrill(ctx, a.program(), runs.DrillRequest{RunRequest: req}, a.eventPrinter(f.quiet, "").print)
	}, func(out *runs.Outcome, ended error) error {
		if ended != nil && !out.Undecided(ended) || out.Interrupted() {
			return a.conclude(out, f, func(*report.View, *runFlags) error { return nil }, ended)
		}
		d, err := runs.Drilled(a.process.Hard, a.program(), out.Stored.ID)
		if err != nil {
			return err
		}
		for _, o := range f.outputs {
			if err := a.program().WriteReport(a.process.Hard, a.view(out.RunView), o); err != nil {
				return err
			}
		}
		a.exitStatus = max(verdictCode(out.Verdict), verdictCode(d.Verdict))
		if d.Verdict == runs.Fail {
			a.exitStatus = exitGateFailed
		}
		switch {
		case a.jsonOut:
			enc := json.NewEncoder(a.out)
			enc.SetEscapeHTML(false)
			return enc.Encode(d)
		case !f.quiet:
			console.Drills(a.out, d, f.maxFailures)
			fmt.Fprintf(a.out, "\nNext\n  %s\n  %s\n", a.hints().Text(app.Action{Verb: app.VerbShow, Run: d.Run}, nil),
				a.hints().Text(app.Action{Verb: app.VerbReport, Run: d.Run}, nil))
		}
		return nil
	})
}
