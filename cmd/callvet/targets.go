// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/provider"
)

func (a *app) targetsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "targets", Short: "List what can be evaluated", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, n := range provider.Names() {
				fmt.Fprintf(a.out, "%s/MODEL\n", n)
			}
			_, err := fmt.Fprint(a.out, "offline/lexical\nscript:FILE\nrecorded:FILE\nhttp://HOST/PATH\nexec:COMMAND\n")
			return err
		},
	}
}
