// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/figure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/internal/trace/redact"
	"github.com/callvet/callvet/score/trajectory"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

func (a *app) traceCheckCommand() *cobra.Command {
	var rules string
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
			r, ok := map[string]trajectory.Rules{"strict": trajectory.Strict, "tau": trajectory.Tau}[rules]
			if !ok {
				return usagef("--rules is strict or tau, not %q", rules)
			}
			c := traceCheck{Format: "callvet.trace_check", Version: 1, Rules: rules, Attempts: []checkedAttempt{}}
			if err := a.checkTraces(args[0], r, &c); err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(&c)
			}
			return c.print(a.out, all)
		},
	}
	cmd.Flags().StringVar(&rules, "rules", "strict", "when a call answers a needed one: strict, tau")
	cmd.Flags().BoolVar(&all, "all", false, "list every attempt that missed something")
	return cmd
}

// traceCheck is what a file's attempts made of what their tasks need.
type traceCheck struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Rules   string `json:"rules"`
	// NoGold counts attempts at tasks of which nothing is known.
	NoGold int            `json:"no_gold"`
	Missed stats.Interval `json:"miss_rate"`
	Told   stats.Interval `json:"facts_told"`
	// Attempts are those with gold, in the order of the file.
	Attempts []checkedAttempt `json:"attempts"`
}

type checkedAttempt struct {
	Task    string `json:"task_id"`
	Attempt int    `json:"attempt"`
	Target  string `json:"target,omitempty"`
	// Needed and Missed count calls of the target, Extra its calls that nothing
	// in the gold needs.
	Needed int          `json:"needed"`
	Missed int          `json:"missed"`
	Extra  int          `json:"extra"`
	Calls  []missedCall `json:"missed_calls,omitempty"`
	Facts  int          `json:"facts"`
	Untold []string     `json:"untold,omitempty"`
}

// missedCall is a needed call that nobody made.
type missedCall struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
	User bool            `json:"by_user,omitempty"`
	// Near is the first call of that tool, counted from 0; nil: it was not called.
	Near *int `json:"near,omitempty"`
}

func (a *app) checkTraces(path string, r trajectory.Rules, c *traceCheck) error {
	file, err := os.Open(a.path(path))
	if err != nil {
		return fmt.Errorf("read traces: %w", err)
	}
	defer file.Close()
	imp, err := foreign.Open(file, foreign.Options{})
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	red, err := a.keeper().Redactor(nil)
	if err != nil {
		return err
	}
	missed, told := taskSums{}, taskSums{}
	for at, err := range imp.Attempts() {
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if at.Gold == nil {
			c.NoGold++
			continue
		}
		g := goldOf(at.Gold)
		o, err := trajectory.Check(&g, &at.Trace, at.UserCalls, r)
		if err != nil {
			return fmt.Errorf("check %s of %s: %w", at.Name(), path, err)
		}
		row := checkRow(&at, &g, &o)
		row.hide(red)
		missed.add(at.Trace.Target, at.Trace.CaseID, row.Missed, row.Needed)
		told.add(at.Trace.Target, at.Trace.CaseID, row.Facts-len(row.Untold), row.Facts)
		c.Attempts = append(c.Attempts, row)
	}
	log := imp.Report().Log
	a.tellLines(log.Problems(path), &log)
	if len(c.Attempts) == 0 {
		return fmt.Errorf("check %s: none of its %d attempts says what its task needs (gold): %w", path, c.NoGold, callvet.ErrInvalid)
	}
	c.Missed, c.Told = missed.interval(), told.interval()
	return nil
}

func goldOf(in *trace.TaskGold) trajectory.Gold {
	g := trajectory.Gold{Facts: in.Facts}
	for _, s := range in.Steps {
		g.Steps = append(g.Steps, trajectory.Step{Tool: s.Tool, Args: s.Args, Compare: s.Compare, User: s.By == "user"})
	}
	return g
}

func checkRow(at *trace.Attempt, g *trajectory.Gold, o *trajectory.Outcome) checkedAttempt {
	t := &at.Trace
	row := checkedAttempt{Task: t.CaseID, Attempt: t.Repeat, Target: t.Target, Needed: o.Needed, Missed: o.Missed, Extra: len(o.Extra), Facts: len(g.Facts)}
	for i, s := range o.Steps {
		if s.Call >= 0 {
			continue
		}
		m := missedCall{Tool: g.Steps[i].Tool, Args: g.Steps[i].Args, User: g.Steps[i].User}
		if s.Near >= 0 {
			m.Near = &s.Near
		}
		row.Calls = append(row.Calls, m)
	}
	for i, ok := range o.Facts {
		if !ok {
			row.Untold = append(row.Untold, g.Facts[i])
		}
	}
	return row
}

// hide redacts what is shown of the gold, after it was compared.
func (r *checkedAttempt) hide(red *redact.Redactor) {
	red.Begin()
	for i := range r.Calls {
		r.Calls[i].Args = red.JSON(r.Calls[i].Args)
	}
	for i, fact := range r.Untold {
		r.Untold[i] = red.Text(fact)
	}
}

// taskSums adds up by task, which is what repeats: its attempts are alike.
type taskSums map[[2]string]*[2]int

func (s taskSums) add(target, task string, yes, n int) {
	if n == 0 {
		return
	}
	at := s[[2]string{target, task}]
	if at == nil {
		at = &[2]int{}
		s[[2]string{target, task}] = at
	}
	at[0], at[1] = at[0]+yes, at[1]+n
}

func (s taskSums) interval() stats.Interval {
	var r exact.Rate
	for _, at := range s {
		r.Add(at[0], at[1])
	}
	return r.Interval(0.95, stats.DefaultRho0)
}

func (c *traceCheck) print(w io.Writer, all bool) error {
	const listed = 20
	out := &bytes.Buffer{}
	bad := 0
	for i := range c.Attempts {
		r := &c.Attempts[i]
		if len(r.Calls)+len(r.Untold) == 0 {
			continue
		}
		if bad++; bad <= listed || all {
			r.print(out)
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

func (r *checkedAttempt) print(out io.Writer) {
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
