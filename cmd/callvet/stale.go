// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) staleCommand() *cobra.Command {
	var f suiteFlags
	var req results.StaleRequest
	var strict bool
	var with string
	cmd := &cobra.Command{
		Use: "stale SUITE|RUN", Short: "List what has changed since cases were made, or since a run",
		Long: `Compare what cases were made for with what is now: descriptions, schemas and major versions of the tools that they
expect, the system prompt, the model, tools that are like those, and the size of the registry. What was recorded is
in the envelope of an eval file, or in the lock next to it (callvet case lock). What was not recorded is reported.

Of a RUN, what it was made with is compared with the suite that is there now: its own file, or --suite.`,
		Example: "  callvet stale evals --tools tools.json\n  callvet stale last --tools tools.json -m openai/gpt-5-mini",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.SuiteRequest = f.request(args[0])
			if kind := (paths{a}).Kind(args[0]); kind == app.KindNone {
				req.Run, req.Suite = args[0], with
			} else if with != "" {
				return usagef("--suite is for runs: callvet stale RUN --suite %s", with)
			}
			r, err := results.Stale(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			if strict && r.Stale {
				a.exitStatus = exitGateFailed
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(r)
			}
			a.tellStale(r)
			return nil
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringArrayVarP(&req.Models, "model", "m", nil, "target that is asked now; may be repeated")
	cmd.Flags().StringVar(&with, "suite", "",
		"of a run: the present suite (default: the file that it was read from)")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 3 when something has changed")
	return cmd
}

// tellStale prints the changes, group by group.
func (a *cli) tellStale(r *results.StaleResult) {
	for i := range r.Groups {
		g := &r.Groups[i]
		made := ""
		if g.Made != "" {
			made = ", made " + plain.Line(g.Made)
		}
		fmt.Fprintf(a.out, "%s: %s%s\n", plain.Line(g.From), plain.Count(len(g.Cases), "case", "cases"), made)
		for _, w := range g.Warnings {
			fmt.Fprintf(a.out, "  %s: %s\n", w.Code, plain.Line(w.Text))
		}
		if len(g.Warnings) == 0 {
			fmt.Fprintf(a.out, "  nothing that was recorded has changed\n")
		}
		if len(g.Unknown) > 0 {
			fmt.Fprintf(a.out, "  not recorded: %s\n", plain.Line(strings.Join(g.Unknown, ", ")))
		}
	}
	if len(r.Groups) == 0 {
		fmt.Fprintln(a.out, "there is no case")
	}
}
