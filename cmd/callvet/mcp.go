// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report/console"
)

// mcpCommand works with servers that speak the Model Context Protocol.
func (a *cli) mcpCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "mcp", Short: "Import the tools of MCP servers into suites, and serve the mocks of suites"}
	cmd.AddCommand(a.mcpImportCommand(), a.mcpServeCommand())
	return cmd
}

// serverFlags are the flags of an MCP server.
type serverFlags struct {
	server  app.MCPServer
	headers []string
	timeout time.Duration
}

func (f *serverFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.server.Command, "command", "",
		"command of an MCP server over standard input and output, such as 'npx some-mcp-server'")
	f.flags(fs)
}

// flags registers the flags of a server except its command.
func (f *serverFlags) flags(fs *pflag.FlagSet) {
	fs.StringVar(&f.server.Transport, "transport", "",
		"of a server over HTTP: streamable or sse (default: the first that works)")
	fs.StringVar(&f.server.Protocol, "protocol", "",
		"version of MCP, such as 2025-11-25 (default: the server's newest)")
	fs.StringArrayVar(&f.headers, "header", nil,
		"'NAME: VALUE' for a server over HTTP; ${VAR} reads the environment; may be repeated")
	fs.StringArrayVar(&f.server.Roots, "roots", nil, "folder that the server may know of; may be repeated")
	fs.StringSliceVar(&f.server.ExecEnv, "exec-env", nil,
		"variable named like a secret that the command may see; * stands for any letters; may be repeated")
	fs.Var(durationFlag(&f.timeout, time.Minute), "timeout", "time for one request")
}

// request names the server; url is "" where a command is one.
func (f *serverFlags) request(url string) (app.MCPServer, error) {
	q := f.server
	q.URL, q.TimeoutMS = url, max(1, f.timeout.Milliseconds())
	var err error
	q.Headers, err = pairs(f.headers, ":", "--header 'NAME: VALUE'")
	return q, err
}

const mcpImportLong = `Ask an MCP server for its tools and write them as a suite: over streamable HTTP or SSE by its address, or over standard input
and output with --command. What the server says of a tool (readOnlyHint, idempotentHint) becomes read_only and idempotent;
what it does not say stays unknown, and callvet treats such a tool as one that writes.

Odd definitions are kept as far as possible, and reported. Also reported are tools that are easily taken for one
another, texts that give orders to the model that reads them, and the changes since the suite was written, if it
exists: its cases, comments and settings stay as they are.`

func (a *cli) mcpImportCommand() *cobra.Command {
	var f serverFlags
	var q catalogs.ImportMCPRequest
	cmd := &cobra.Command{
		Use: "import (URL | --command COMMAND)", Short: "Write the tools of an MCP server as a suite",
		Long:    mcpImportLong,
		Example: "  callvet mcp import http://127.0.0.1:3000/mcp -o suite.yaml\n  callvet mcp import --command 'npx -y @modelcontextprotocol/server-memory' -o suite.yaml --draft-cases",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.MCPServer, err = f.request(append(args, "")[0]); err != nil {
				return err
			}
			out, err := catalogs.ImportMCP(cmd.Context(), a.program(), q, a.events())
			if err != nil {
				return err
			}
			a.printProblems(out.Problems, true)
			if q.Output != "" || a.jsonOut {
				return emit(a, out,
					func(w io.Writer, out *catalogs.ImportMCPResult) error {
						return console.MCPImported(w, out, q.Output)
					})
			}
			_, err = a.out.Write(out.Data)
			return err
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVarP(&q.Output, "output", "o", "", "suite to write, or to bring up to date (default: print it)")
	cmd.Flags().StringVar(&q.Prefix, "prefix", "",
		"text before the names of tools, such as mcp__github__")
	cmd.Flags().BoolVar(&q.DraftCases, "draft-cases", false,
		"add a case for each tool without one; it runs once a person has approved it")
	return cmd
}
