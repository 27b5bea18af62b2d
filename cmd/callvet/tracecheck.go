// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report"
)

func (a *cli) traceCheckCommand() *cobra.Command {
	var req app.CheckRequest
	var all bool
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Check which needed calls the attempts made, and which facts they reported to the user",
		Long: `Compare each attempt of a trace file with the gold of its task: the calls that it needs, in any order, and the facts
that the user must get. The file may have any form that trace import reads.

strict: a call answers one needed call, with the same arguments. tau: the rules of tau2-bench, where a call may answer
several and an argument left out is no difference.`,
		Example: "  callvet trace check traces.jsonl\n  callvet trace check simulations.json --rules tau --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			req.Traces = args[0]
			c, err := a.program().Check(req, a.events())
			if err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(c)
			}
			return report.CheckTerminal(a.out, c, all)
		},
	}
	cmd.Flags().StringVar(&req.Rules, "rules", "strict", "when a call answers a needed one: strict, tau")
	cmd.Flags().BoolVar(&all, "all", false, "list every attempt that missed something")
	return cmd
}
