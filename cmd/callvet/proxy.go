// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import "github.com/spf13/cobra"

// proxyCommand is the command of the proxies between agents and models or servers.
func (a *cli) proxyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Run a proxy between an agent and its models or tools: record, replay, guard, inject failures",
	}
	cmd.AddCommand(a.proxyModelCommand(), a.proxyMCPCommand())
	return cmd
}
