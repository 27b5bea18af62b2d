// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server"
)

func (a *cli) schemaCommand() *cobra.Command {
	formats := append(app.Formats(), "openapi")
	return &cobra.Command{
		Use:   "schema " + strings.Join(formats, "|"),
		Short: "Print the JSON Schema of a file format, or the OpenAPI description of the server",
		Args:  cobra.ExactArgs(1), ValidArgs: formats,
		RunE: func(_ *cobra.Command, args []string) error {
			var b []byte
			var err error
			if args[0] == "openapi" {
				b, err = server.Description(buildVersion())
			} else if b, err = app.Schema(args[0]); err != nil {
				err = usageError{&callvet.Hinted{Err: err, Hint: "there are " + strings.Join(formats, ", ")}}
			}
			if err != nil {
				return err
			}
			_, err = a.out.Write(b)
			return err
		},
	}
}

func (a *cli) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "init [FILE]", Short: "Write a commented suite, ready to run", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "suite.yaml"
			if len(args) == 1 {
				name = args[0]
			}
			if err := a.program().InitSuite(cmd.Context(), name, force); errors.Is(err, callvet.ErrConflict) {
				return &callvet.Hinted{Err: err, Hint: "another name, or --force to replace it"}
			} else if err != nil {
				return err
			}
			fmt.Fprintf(a.out,
				"wrote %s\n\nnow:\n  callvet run %s -m offline/lexical   # needs no key\n  callvet run %s -m openai/gpt-5-mini\n", name, plain.ShellQuote(name), plain.ShellQuote(name))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}
