// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) lintCommand() *cobra.Command {
	var f suiteFlags
	var strict bool
	var months int
	cmd := &cobra.Command{
		Use: "lint SUITE…", Short: "Find mistakes in suites before a run costs money",
		Long: `Check suites: unknown keys, duplicate ids, tools that do not exist, expected arguments that their own
schema rejects, cases that assert nothing or pass by doing nothing, gold answers that do not pass their own case.
Prompts that are nearly those of an earlier case, prompts that name the tool that is expected, and labels that are older
than their tool's version or than --max-age are warnings.
Each finding names file, line, column and the fix. Exit code 2 when there is an error.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			errs, warns, cases := 0, 0, 0
			var all []callvet.Problem
			for _, path := range args {
				events := a.lintEvents()
				if tell := events; a.jsonOut {
					events = func(ev app.Event) {
						if all = append(all, ev.Problems...); ev.Problems == nil {
							tell(ev)
						}
					}
				}
				before := len(all)
				r, err := a.program().Lint(cmd.Context(),
					app.LintRequest{SuiteRequest: f.request(path), MaxAge: months}, events)
				if a.jsonOut && err != nil {
					if slices.ContainsFunc(all[before:], func(p callvet.Problem) bool { return !p.Warning }) {
						err = nil // the problems contain it
					} else if p, ok := errors.AsType[callvet.Problem](err); ok {
						all, err = append(all, p), nil
					}
				}
				if err != nil {
					return err
				}
				cases += r.Cases
				all = append(all, r.Problems...)
				if !a.jsonOut {
					e, w := a.printProblems(r.Problems, true)
					errs, warns = errs+e, warns+w
				}
			}
			if a.jsonOut {
				return a.lintJSON(all, cases)
			}
			if errs > 0 || strict && warns > 0 {
				return fmt.Errorf("lint: %w: %s, %s in %s", callvet.ErrInvalid, plain.Count(errs, "error", "errors"),
					plain.Count(warns, "warning", "warnings"), plain.Count(cases, "case", "cases"))
			}
			fmt.Fprintf(a.out, "%s, no errors, %s\n", plain.Count(cases, "case", "cases"),
				plain.Count(warns, "warning", "warnings"))
			return nil
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings are errors")
	cmd.Flags().Var(wholeFlag(&months, 0, 0), "max-age",
		"months after which a label (as_of, createdAt) is old; 0: any age")
	return cmd
}

// lintEvents also prints warnings.
func (a *cli) lintEvents() app.Events {
	t := a.eventPrinter(false, "")
	t.warnings = true
	return t.print
}

func (a *cli) lintJSON(problems []callvet.Problem, cases int) error {
	if problems == nil {
		problems = []callvet.Problem{}
	}
	for i := range problems {
		if !problems[i].Warning {
			a.exitStatus = exitUsage
		}
	}
	return json.NewEncoder(a.out).Encode(
		map[string]any{"format": "callvet.lint", "version": 1, "cases": cases, "problems": problems})
}
