// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/figure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/stats"
)

func (a *cli) traceCheckCommand() *cobra.Command {
	var req app.CheckRequest
	var all bool
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Say which needed calls attempts made, and what they told the user",
		Long: `Compare each attempt of a trace file with the gold of its task: the calls that it needs, in any order, and the facts
that the user has to be told. The file may have any form that trace import reads.

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
			return printCheck(a.out, c, all)
		},
	}
	cmd.Flags().StringVar(&req.Rules, "rules", "strict", "when a call answers a needed one: strict, tau")
	cmd.Flags().BoolVar(&all, "all", false, "list every attempt that missed something")
	return cmd
}

func printCheck(w io.Writer, c *app.TraceCheck, all bool) error {
	const listed = 20
	out := &bytes.Buffer{}
	bad := 0
	for i := range c.Attempts {
		r := &c.Attempts[i]
		if len(r.Calls)+len(r.Untold) == 0 {
			continue
		}
		if bad++; bad <= listed || all {
			printChecked(out, r)
		}
	}
	if bad > listed && !all {
		fmt.Fprintf(out, "… and %d more attempts that missed something (--all)\n", bad-listed)
	}
	fmt.Fprintf(out, "%d attempts by the %s rules, %d without gold\n", len(c.Attempts), c.Rules, c.NoGold)
	tellShare(out, "needed calls missed", &c.Missed)
	tellShare(out, "facts told", &c.Told)
	_, err := out.WriteTo(w)
	return err
}

func printChecked(out io.Writer, r *app.CheckedAttempt) {
	name := trace.Attempt{Trace: callvet.Trace{CaseID: r.Task, Repeat: r.Attempt, Target: r.Target}}
	fmt.Fprintf(out, "%s: %d of %d needed calls\n", plain.Line(name.Name()), r.Needed-r.Missed, r.Needed)
	for _, m := range r.Calls {
		why := "not called"
		if m.Near != nil {
			why = fmt.Sprintf("call %d has other arguments, or answers another one", *m.Near+1)
		}
		if m.User {
			why += " (the user's)"
		}
		fmt.Fprintf(out, "  missed %s(%s): %s\n", plain.Line(m.Tool), plain.Compact(m.Args, ""), why)
	}
	for _, f := range r.Untold {
		fmt.Fprintf(out, "  not told: %s\n", plain.Line(f))
	}
}

func tellShare(out io.Writer, what string, iv *stats.Interval) {
	if !iv.Defined() {
		return
	}
	fmt.Fprintf(out, "%s: %s of %d, over %s\n", what, figure.Rate(*iv), iv.N, plain.Count(iv.Clusters, "task", "tasks"))
}
