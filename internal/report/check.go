// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/stats"
)

// Check counts the needed calls that the attempts of a file made and missed.
type Check struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Rules   string `json:"rules"`
	// NoGold counts attempts at tasks without gold.
	NoGold int            `json:"no_gold"`
	Missed stats.Interval `json:"miss_rate"`
	Told   stats.Interval `json:"facts_told"`
	// Attempts are the attempts with gold, in the order of the file.
	Attempts []Checked `json:"attempts"`
}

// Checked lists the needed calls that one attempt made and missed.
type Checked struct {
	Task    string `json:"task_id"`
	Attempt int    `json:"attempt"`
	Target  string `json:"target,omitempty"`
	// Needed and Missed count calls of the target, Extra its calls that nothing
	// in the gold needs.
	Needed int      `json:"needed"`
	Missed int      `json:"missed"`
	Extra  int      `json:"extra"`
	Calls  []Missed `json:"missed_calls,omitempty"`
	Facts  int      `json:"facts"`
	Untold []string `json:"untold,omitempty"`
}

// Missed is a needed call that was not made.
type Missed struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
	User bool            `json:"by_user,omitempty"`
	// Near is the first call of that tool, counted from 0; nil: it was not called.
	Near *int `json:"near,omitempty"`
}

// CheckTerminal writes a check for people; all lists every attempt that missed something.
func CheckTerminal(w io.Writer, c *Check, all bool) error {
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

func printChecked(out io.Writer, r *Checked) {
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
	fmt.Fprintf(out, "%s: %s of %d, over %s\n", what, plain.Rate(*iv), iv.N, plain.Count(iv.Clusters, "task", "tasks"))
}
