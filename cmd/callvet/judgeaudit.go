// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/console"
)

func (a *cli) judgeAuditCommand() *cobra.Command {
	var f judgeFlags
	var req runs.JudgeAuditRequest
	cmd := &cobra.Command{
		Use:   "audit RUN|TRACES --judge NAME -m MODEL [-m MODEL …]",
		Short: "Test whether position, length or injected verdicts fool a judge",
		Long: `Ask a judge about attempts as they are, and once more with each change that should make no difference:

  position          which of two attempts is shown first (a judge that compares)
  length            an answer that is longer and says no more
  injection-answer  a verdict written into the answer, in several wordings and languages
  injection-arguments, injection-result, injection-user
                    the same in the arguments of the call, a result of a tool, or a text of the user

A judge of calls or turns is asked about one of each attempt, with the injections into what it is shown.

Each attempt is compared with itself: an exact test says whether more verdicts rise than fall, or fall than rise, and Holm's correction keeps
the chance of any false alarm below 5 %. Answers without a verdict are counted apart. Attempts are drawn by the seed: one of each task, as many
that callvet itself passes as others where there are enough. What an audit asks is stored and goes on as in callvet judge run; its verdicts count nowhere else.

Exit code 0: no sway was found, 3: a judge is swayed, 4: no change has enough pairs to decide.`,
		Example: `  callvet judge audit last --judge task -m openai/gpt-5-mini
  callvet judge audit last --judge compare -m openai/gpt-5-mini -n 200
  callvet judge audit traces.jsonl --judge politeness --prompt polite.txt --schema polite.json -m ollama/qwen3`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.judgeAudit(cmd.Context(), args[0], req, &f, cmd.Flags().Changed)
		},
	}
	fs := cmd.Flags()
	fs.VarP(wholeFlag(&req.Pairs, runs.DefaultAuditPairs, 1), "pairs", "n",
		"how many attempts are judged as they are and changed")
	fs.Uint64Var(&req.Seed, "seed", 1, "which attempts are drawn, and how they are changed")
	f.register(fs)
	return cmd
}

func (a *cli) judgeAudit(ctx context.Context, name string, req runs.JudgeAuditRequest, f *judgeFlags,
	changed func(string) bool,
) error {
	of, err := a.judgeRequest(name, f, changed)
	if err != nil {
		return err
	}
	req.JudgeRequest = of
	printer := a.eventPrinter(f.quiet, "")
	out, err := runs.Audit(ctx, a.program(), req, printer.print)
	printer.finish()
	if out == nil || len(out.Audits) == 0 {
		return err
	}
	if err == nil && !slices.ContainsFunc(out.Audits, func(v runs.AuditView) bool { return v.Interrupted() }) {
		a.exitStatus = verdictCode(out.Verdict())
	}
	if a.jsonOut {
		return errors.Join(err, json.NewEncoder(a.out).Encode(struct {
			Format  string `json:"format"`
			Version int    `json:"version"`
			*runs.Audited
		}{"callvet.audited", 1, out}))
	}
	for i := range out.Audits {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		console.JudgeAudit(a.out, out.Subject, &out.Audits[i])
	}
	return err
}
