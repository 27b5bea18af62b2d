// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) fixturesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "fixtures", Short: "Make mocks and recordings that answer calls"}
	var req runs.FixturesRequest
	make1 := &cobra.Command{
		Use:   "make SUITE|RUN -o FILE|FOLDER",
		Short: "Make mocks from the gold of a suite, or mocks and recordings from a run",
		Long: `Write a suite with mocks, or a folder of recordings.

Of a SUITE: each call that a case expects, and that no mock answers, gets one. Its result is made of the call's
result_check, where that is made of equalities; other calls answer {"status":"ok"}, which you may want to edit.
Of a RUN: mocks answer as the calls of the run were answered, of each case as in its first attempt. With a folder
as the output its calls become recordings (docs/guides/worlds.md).`,
		Example: `  callvet fixtures make suite.yaml -o mocked.yaml
  callvet fixtures make last -o mocked.yaml
  callvet fixtures make last -o recordings`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.From = args[0]
			made, err := runs.MakeFixtures(cmd.Context(), a.program(), req, a.events())
			if err != nil {
				return err
			}
			if a.jsonOut {
				enc := json.NewEncoder(a.out)
				enc.SetEscapeHTML(false)
				return enc.Encode(made)
			}
			switch {
			case made.Calls > 0 || made.Mocks == 0 && made.Run != "":
				fmt.Fprintf(a.out, "%s: %s of run %s, %s changed\n", made.Output,
					plain.Count(made.Calls, "call", "calls"), made.Run, plain.Count(made.Files, "file", "files"))
			default:
				fmt.Fprintf(a.out, "%s: %s in %s\n", made.Output, plain.Count(made.Mocks, "mock", "mocks"),
					plain.Count(made.Cases, "case", "cases"))
			}
			if made.Plain > 0 {
				fmt.Fprintf(a.out,
					"%d of %d expected calls say nothing of their result, and answer {\"status\":\"ok\"}\n", made.Plain,
					made.Plain+made.Checks)
			}
			return nil
		},
	}
	make1.Flags().StringVarP(&req.Output, "output", "o", "",
		"file that gets a suite (.yaml, .json), or folder that gets recordings")
	cmd.AddCommand(make1)
	return cmd
}
