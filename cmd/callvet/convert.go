// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
)

func (a *app) convertCommand() *cobra.Command {
	var f suiteFlags
	var out, to string
	cmd := &cobra.Command{
		Use: "convert SUITE", Short: "Write a suite in another format",
		Long:    "Read a suite in any known format and write it in another. What the other format cannot say is listed on standard error.\nIt reads " + strings.Join(suite.Dialects(), ", ") + ",\nand writes " + strings.Join(suite.Exports(), ", ") + ".",
		Example: "  callvet convert import.json -o suite.yaml\n  callvet convert suite.yaml --to toolsuite -o import.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := a.suiteOptions(f)
			if err != nil {
				return err
			}
			opt.KeepTokens = true
			s, problems, err := suite.Load(a.path(args[0]), opt)
			if errs, _ := a.tell(problems, true); err == nil && errs > 0 {
				err = fmt.Errorf("convert %s: %w: %s", args[0], callvet.ErrInvalid, plain.Count(errs, "error", "errors"))
			}
			if err != nil {
				return err
			}
			b, lost, err := export(to, out, s)
			if err != nil {
				return err
			}
			a.tell(lost, true)
			if out == "" || out == "-" {
				_, err = a.out.Write(b)
				return err
			}
			return a.write(cmd.Context(), out, func(w io.Writer) error {
				_, err := w.Write(b)
				return err
			})
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().StringVar(&to, "to", "callvet", "format to write")
	return cmd
}

// export writes callvet's own format as the file's extension asks, and other
// formats as they are.
func export(to, out string, s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	if to == "callvet" && strings.EqualFold(filepath.Ext(out), ".json") {
		b, err := suite.Export(s, "json")
		return b, nil, err
	}
	return suite.ExportAs(to, s)
}
