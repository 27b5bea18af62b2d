// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
)

func (a *cli) convertCommand() *cobra.Command {
	var f suiteFlags
	var out, to string
	cmd := &cobra.Command{
		Use: "convert SUITE", Short: "Write a suite in another format",
		Long:    "Read a suite in any known format and write it in another. What the other format cannot say is listed on standard error.\nIt reads " + strings.Join(app.SuiteForms(), ", ") + ",\nand writes " + strings.Join(app.SuiteExports(), ", ") + ".",
		Example: "  callvet convert import.json -o suite.yaml\n  callvet convert suite.yaml --to toolsuite -o import.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.program().Convert(cmd.Context(),
				app.ConvertRequest{SuiteRequest: f.request(args[0]), To: to, Output: out}, a.events())
			a.printProblems(r.Problems, true)
			a.printProblems(r.Lost, true)
			if err != nil {
				return err
			}
			if out == "" || out == "-" {
				_, err = a.out.Write(r.Data)
				return err
			}
			return a.write(cmd.Context(), out, func(w io.Writer) error {
				_, err := w.Write(r.Data)
				return err
			})
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().StringVar(&to, "to", "callvet", "format to write")
	return cmd
}
