// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *cli) targetsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "targets", Short: "List the targets that can be evaluated", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			forms := a.program().Targets()
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(
					map[string]any{"format": "callvet.targets", "version": 1, "targets": forms})
			}
			_, err := fmt.Fprintln(a.out, strings.Join(forms, "\n"))
			return err
		},
	}
}
