// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report/plain"
)

const proxyMCPLong = `Stand between an agent and an MCP server. The agent starts the proxy in the place of the server, or asks it at --http ADDR, and
sees the same tools, resources and prompts; what the server answers passes as it is. Each conversation has a server of its own.

With -o each call is added to a trace file before it is answered. --guard POLICY decides which calls are made and which results
are shown, and --faults FILE makes calls go wrong, as for runs.`

func (a *cli) proxyMCPCommand() *cobra.Command {
	var sf serverFlags
	var tf tracingFlags
	var q catalogs.ProxyMCPRequest
	cmd := &cobra.Command{
		Use: "mcp (URL | -- COMMAND [ARG…])", Short: "Run a proxy between an agent and an MCP server", Long: proxyMCPLong,
		Example: "  callvet proxy mcp -o traces.jsonl -- npx -y @modelcontextprotocol/server-memory\n  callvet proxy mcp http://127.0.0.1:3000/mcp --http :8080 --guard policy.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			url, err := proxied(cmd, args, &sf.server.Command)
			if err != nil {
				return err
			}
			if q.MCPServer, err = sf.request(url); err != nil {
				return err
			}
			q.TraceRequest, q.AllowHost = tf.trace, tf.hosts
			via, err := tf.streams(cmd.Context(), a)
			if err != nil {
				return err
			}
			out, err := catalogs.ProxyMCP(cmd.Context(), a.program(), q, via, a.events())
			return a.served(via, out, q.Output, err)
		},
	}
	fs := cmd.Flags()
	sf.register(fs)
	tf.register(fs)
	fs.StringVar(&q.Guard, "guard", "", "file with a policy: which calls are made and which results shown")
	fs.StringVar(&q.Faults, "faults", "", "file with faults that calls meet")
	fs.Int64Var(&q.Seed, "seed", 0, "seed of the chances of faults")
	fs.StringVar(&q.Record, "record", "",
		"folder for answers of the tools, for callvet run --recordings")
	fs.StringVar(&q.Task, "task", "",
		"task in the trace file, such as the id of a case (default: the session)")
	return cmd
}

// proxied is the server that the arguments name: an address, or a command after --.
func proxied(cmd *cobra.Command, args []string, command *string) (url string, err error) {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash > 0 || dash < 0 && len(args) > 1:
		return "", usagef("name one server: an address, or its command behind --: callvet proxy mcp -- %s",
			strings.Join(args, " "))
	case dash == 0 && *command != "":
		return "", usagef("name the command once: behind --, or with --command")
	case dash == 0 && len(args) > 0:
		words := make([]string, len(args))
		for i, w := range args {
			words[i] = plain.ShellQuote(w)
		}
		*command = strings.Join(words, " ")
		return "", nil
	}
	return append(args, "")[0], nil
}
