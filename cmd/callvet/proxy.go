// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import "github.com/spf13/cobra"

// proxyCommand stands between programs and what they talk to.
func (a *cli) proxyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "proxy", Short: "Stand between an agent and its models: record and replay"}
	cmd.AddCommand(a.proxyModelCommand())
	return cmd
}
