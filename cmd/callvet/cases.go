// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) caseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "case",
		Short: "Make cases from prompts, traces and failures; add, lock and archive cases; list untested tools",
		Long: `Regression cases are made once and never edited: the lock next to their file (FILE.lock) has the SHA-256 of each
one's text, and a case that was changed, or that is gone, is an error of lint and run (exit code 2). A case that does
not apply any more is archived.`,
	}
	cmd.AddCommand(a.caseAddCommand(), a.caseLockCommand(), a.caseArchiveCommand(), a.caseCoverageCommand(),
		a.caseNewCommand(), a.caseFromTraceCommand(), a.caseFromFailureCommand())
	return cmd
}

func (a *cli) caseAddCommand() *cobra.Command {
	var f suiteFlags
	cmd := &cobra.Command{
		Use: "add FILE NEW", Short: "Add the cases of NEW to FILE, each with its entry in FILE.lock",
		Example: "  callvet case add evals/get_weather.regression.json new.json",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := cases.Add(cmd.Context(), a.program(),
				cases.AddCaseRequest{File: args[0], From: f.request(args[1])}, a.events())
			if err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(
					map[string]any{"format": "callvet.case_add", "version": 1, "file": args[0], "added": ids})
			}
			fmt.Fprintf(a.out, "added and locked: %s\n", plain.Line(strings.Join(ids, ", ")))
			return nil
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (a *cli) caseLockCommand() *cobra.Command {
	var f suiteFlags
	var req cases.LockRequest
	cmd := &cobra.Command{
		Use:     "lock FILE",
		Short:   "Lock the unlocked cases of FILE, with their present tools, prompt and models",
		Example: "  callvet case lock evals/get_weather.regression.json --tools tools.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.SuiteRequest = f.request(args[0])
			r, err := cases.Lock(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(struct {
					Format  string `json:"format"`
					Version int    `json:"version"`
					*cases.LockResult
				}{"callvet.case_lock", 1, r})
			}
			if r.Lock == "" {
				fmt.Fprintf(a.out, "nothing is new: all of %s were locked before\n",
					plain.Count(r.Cases, "case", "cases"))
				return nil
			}
			if r.Reviewed {
				fmt.Fprintf(a.out, "%s hold with the tools, the prompt and the models of now\n",
					plain.Count(r.Cases, "case", "cases"))
			}
			fmt.Fprintf(a.out, "locked %s of %d in %s; %s must not change any more\n",
				plain.Count(len(r.Locked), "case", "cases"), r.Cases, plain.Line(r.Lock),
				plain.Count(r.Regression, "regression case", "regression cases"))
			return nil
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringArrayVarP(&req.Models, "model", "m", nil, "target that the cases were made with; may be repeated")
	cmd.Flags().BoolVar(&req.Reviewed, "reviewed", false, "all cases were looked at again and hold as things are now")
	return cmd
}

func (a *cli) caseArchiveCommand() *cobra.Command {
	var req cases.ArchiveRequest
	cmd := &cobra.Command{
		Use: "archive FILE CASE --reason TEXT", Short: "Remove a locked case from all later runs",
		Example: "  callvet case archive evals/get_weather.regression.json rg-get-weather-001 --reason 'the tool has no units any more'",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.File, req.Case = args[0], args[1]
			if err := cases.Archive(cmd.Context(), a.program(), req); err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(map[string]any{
					"format": "callvet.case_archive", "version": 1,
					"file": req.File, "case": req.Case, "reason": req.Reason,
				})
			}
			fmt.Fprintf(a.out, "archived %s: it does not run any more, and may be taken out of %s\n",
				plain.Line(req.Case), plain.Line(req.File))
			return nil
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why the case does not apply any more")
	return cmd
}
