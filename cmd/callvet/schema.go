// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/editfile"
	"github.com/callvet/callvet/internal/gatefile"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/toolfile"
	"github.com/callvet/callvet/internal/trace"
)

func (a *app) schemaCommand() *cobra.Command {
	formats := schemaFormats()
	return &cobra.Command{
		Use: "schema " + strings.Join(formats, "|"), Short: "Print the JSON Schema of a file format, for editors",
		Args: cobra.ExactArgs(1), ValidArgs: formats,
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := schemaOf(args[0])
			if err != nil {
				return usageError{err}
			}
			_, err = a.out.Write(b)
			return err
		},
	}
}

func schemaFormats() []string {
	return []string{"suite", "targets", "trace", "tool", "gates", "edits", "labels", "calibration"}
}

func schemaOf(format string) ([]byte, error) {
	switch format {
	case "suite":
		return suite.Schema(), nil
	case "targets":
		return []byte(targetsSchema), nil
	case "trace":
		return trace.Schema(), nil
	case "tool":
		return toolfile.Schema(), nil
	case "gates":
		return gatefile.Schema(), nil
	case "edits":
		return editfile.Schema(), nil
	case "labels", "calibration":
		return labels.Schema(format)
	}
	return nil, &callvet.Hinted{Err: fmt.Errorf("print schema: %w: no schema is called %q", callvet.ErrNotFound, format), Hint: "there are " + strings.Join(schemaFormats(), ", ")}
}

func (a *app) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "init [FILE]", Short: "Write a commented suite, ready to run", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "suite.yaml"
			if len(args) == 1 {
				name = args[0]
			}
			path := a.path(name)
			if _, err := os.Lstat(path); err == nil && !force {
				return &callvet.Hinted{Err: fmt.Errorf("write %s: %w: the file exists", name, callvet.ErrConflict), Hint: "another name, or --force to replace it"}
			} else if err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("write %s: %w", name, err)
			}
			if err := a.write(cmd.Context(), name, func(w io.Writer) error { _, err := w.Write(suite.Template()); return err }); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "wrote %s\n\nnow:\n  callvet run %s -m offline/lexical   # needs no key\n  callvet run %s -m openai/gpt-5-mini\n", name, shellQuote(name), shellQuote(name))
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	return cmd
}
