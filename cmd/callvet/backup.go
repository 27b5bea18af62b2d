// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

func (a *cli) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", Short: "Copy the database of runs into a new file, while it is in use",
		Long: `Copy all that the store holds (runs, suites, answers; of a server also users, jobs and experiments) into a new file that
only its owner may read. A server may go on meanwhile: the copy is as the store was at one moment. The keys of providers in
it are sealed; the key that opens them is in a file of its own, which needs a copy too.`,
		Example: "  callvet backup callvet-monday.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			done, err := a.program().Backup(cmd.Context(), app.BackupRequest{File: args[0]})
			return a.tellBackup("backed up", done, err)
		},
	}
}

func (a *cli) restoreCommand() *cobra.Command {
	var req app.BackupRequest
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Replace the database of runs by a backup",
		Long: `Put what a backup holds in place of all that the store has. The backup is checked first, and one of an older version is
brought up to date. A store that holds runs is replaced with --force only, and none while a run of it goes on. End a server
first: it keeps in memory what it has read.`,
		Example: "  callvet restore callvet-monday.db\n  callvet restore callvet-monday.db --force",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.File = args[0]
			done, err := a.program().Restore(cmd.Context(), req)
			return a.tellBackup("restored", done, err)
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "replace a store that holds runs")
	return cmd
}

func (a *cli) tellBackup(verb string, done *app.BackedUp, err error) error {
	if err != nil {
		return err
	}
	if a.jsonOut {
		return json.NewEncoder(a.out).Encode(done)
	}
	_, err = fmt.Fprintf(a.out, "%s %s: %s, %.1f MB\n", verb, plain.ShellQuote(done.File),
		plain.Count(done.Runs, "run", "runs"), float64(done.Bytes)/(1<<20))
	return err
}

func (a *cli) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check that the database of runs is intact, and list its problems",
		Long: `Read all of the store and say whether it is whole, who may read it, and which runs did not end. Nothing is changed.
Exit code 1 reports a problem; a warning is none.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.program().Doctor(cmd.Context())
			if err != nil {
				return err
			}
			if !d.Healthy {
				a.exitStatus = exitError
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(d)
			}
			for _, c := range d.Checks {
				fmt.Fprintf(a.out, "%-8s %-12s %s\n", c.State, c.Name, plain.Clean(c.Detail))
				if c.Fix != "" {
					fmt.Fprintf(a.out, "  try: %s\n", plain.Clean(c.Fix))
				}
			}
			return nil
		},
	}
}
