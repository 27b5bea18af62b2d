// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/provider"
)

func (a *app) targetsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "targets", Short: "List what can be evaluated", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var forms []string
			for _, n := range provider.Names() {
				forms = append(forms, n+"/MODEL")
			}
			forms = append(forms, "offline/lexical", "script:FILE", "recorded:FILE", "retrieve:CATALOGUE", "retrieve:http://HOST/PATH", "http://HOST/PATH", "exec:COMMAND")
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(map[string]any{"format": "callvet.targets", "version": 1, "targets": forms})
			}
			_, err := fmt.Fprintln(a.out, strings.Join(forms, "\n"))
			return err
		},
	}
}
