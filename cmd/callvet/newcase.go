// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

func newCaseFlags(fs *pflag.FlagSet, q *app.NewCaseSettings) {
	fs.StringVar(&q.Bug, "bug", "", "issue, or commit of the fix (required)")
	fs.StringVarP(&q.Output, "output", "o", "", "file that the case is added to (default TOOL.regression.json)")
	fs.StringVar(&q.Tool, "tool", "", "tool whose case it is (default: the first that is expected, or else called)")
	fs.StringVar(&q.Description, "description", "", "what the bug was (default: what the case says)")
	fs.StringSliceVar(&q.Keep, "keep", nil, "kind of personal data that is not redacted; may be repeated")
}

func (a *cli) caseFromFailureCommand() *cobra.Command {
	var q app.FromFailureRequest
	cmd := &cobra.Command{
		Use: "from-failure RUN CASE --bug REF", Short: "Make a regression case of a case that failed in a run",
		Long: `Make a regression case of a case that failed in a run, and add it to TOOL.regression.json with its entry in the lock.
Nothing else in that file changes. Secrets and personal data are taken out, as in all that is kept. What the form of
regression files cannot say is told; a case that the attempts which failed would pass is not written.`,
		Example: "  callvet case from-failure last paris-now --bug '#12'", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Run, q.Case = args[0], args[1]
			out, err := a.program().CaseFromFailure(cmd.Context(), q, a.events())
			if err != nil {
				return err
			}
			return emit(a, out, newCase)
		},
	}
	newCaseFlags(cmd.Flags(), &q.NewCaseSettings)
	return cmd
}

// newCase tells which regression case was made.
func newCase(w io.Writer, c *app.NewCase) error {
	var b strings.Builder
	fmt.Fprintf(&b, "added to %s and locked: %s\n", plain.Line(c.File), plain.Line(c.ID))
	if c.Caught == c.Failed {
		fmt.Fprintf(&b, "%s fails it, as it should\n", plain.Count(c.Failed, "attempt that failed,", "attempts that failed, each"))
	} else {
		fmt.Fprintf(&b, "%d of %d attempts that failed fail it, too; the others failed by what is not carried\n", c.Caught, c.Failed)
	}
	for i := range c.Lost {
		fmt.Fprintf(&b, "not carried: %s\n", plain.Line(c.Lost[i].Message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
