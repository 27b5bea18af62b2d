// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/report/plain"
)

// tracingFlags are the flags of the trace file and of the address for agents.
type tracingFlags struct {
	http  string
	trace catalogs.TraceRequest
	hosts []string
}

func (f *tracingFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.http, "http", "",
		"serve streamable HTTP at this address, such as 127.0.0.1:8080; :8080 is this machine only "+
			"(default: standard input and output)")
	fs.StringSliceVar(&f.hosts, "allow-host", nil,
		"further name of the server in HTTP requests; may be repeated")
	fs.StringVarP(&f.trace.Output, "output", "o", "", "trace file to which each call is added before it is answered")
	fs.StringVar(&f.trace.Agent, "agent", "",
		"name of the agent in the trace file (default: its own)")
	fs.StringSliceVar(&f.trace.Keep, "keep", nil, "kinds that are not redacted in the trace file: email, phone, …")
}

// streams opens the connection for agents.
func (f *tracingFlags) streams(ctx context.Context, a *cli) (catalogs.MCPStreams, error) {
	if f.http == "" {
		return catalogs.MCPStreams{In: a.in, Out: a.out}, nil
	}
	host, port, err := net.SplitHostPort(f.http)
	if err != nil {
		return catalogs.MCPStreams{}, usagef("--http %s: write an address with a port, such as 127.0.0.1:8080", f.http)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return catalogs.MCPStreams{}, fmt.Errorf("--http %s: %w", f.http, err)
	}
	return catalogs.MCPStreams{Listener: l}, nil
}

const mcpServeLong = `Serve the tools of a suite over MCP: any agent can call them, and is answered as the mocks of the suite say. Nothing is
really done. Each session is a conversation with a mock world of its own; --case gives it the tools and mocks of a case, and
over HTTP an address may name another: http://127.0.0.1:8080/mcp?case=ID. Arguments that break a tool's schema are answered
as errors of the tool.

With -o each call is added to a trace file before it is answered, so that callvet score says what the agent did:

  callvet mcp serve suite.yaml --case paris-now -o traces.jsonl
  callvet score traces.jsonl --suite suite.yaml`

func (a *cli) mcpServeCommand() *cobra.Command {
	var sf suiteFlags
	var tf tracingFlags
	var q catalogs.ServeMCPRequest
	cmd := &cobra.Command{
		Use: "serve SUITE", Short: "Serve the mock tools of a suite to any agent", Long: mcpServeLong,
		Example: "  callvet mcp serve suite.yaml\n  callvet mcp serve suite.yaml --http :8080 -o traces.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" && tf.http == "" {
				return usagef("the protocol has standard input: name a file, or serve over --http")
			}
			q.SuiteRequest, q.TraceRequest, q.AllowHost = sf.request(args[0]), tf.trace, tf.hosts
			via, err := tf.streams(cmd.Context(), a)
			if err != nil {
				return err
			}
			out, err := catalogs.ServeMCP(cmd.Context(), a.program(), q, via, a.events())
			return a.served(via, out, q.Output, err)
		},
	}
	fs := cmd.Flags()
	sf.register(fs)
	tf.register(fs)
	fs.StringVar(&q.Case, "case", "", "case with the tools and mocks of conversations (default: those of the suite)")
	fs.StringVar(&q.Faults, "faults", "", "file with faults that calls meet, in place of the suite's own")
	fs.Int64Var(&q.Seed, "seed", 0, "seed of the chances of faults")
	fs.BoolVar(&q.RealLatency, "real-latency", false, "wait as long as mocks and faults say")
	fs.BoolVar(&q.NoLint, "no-lint", false, "serve although lint finds errors")
	return cmd
}

// served prints the actions of agents, on standard error if standard output belongs to the
// protocol.
func (a *cli) served(via catalogs.MCPStreams, out *catalogs.ServedMCP, file string, err error) error {
	if out == nil {
		return err
	}
	if via.Listener != nil && a.jsonOut {
		return errors.Join(err, emit(a, out, func(io.Writer, *catalogs.ServedMCP) error { return nil }))
	}
	fmt.Fprintf(a.err, "%s, %s\n", plain.Count(out.Conversations, "conversation", "conversations"),
		plain.Count(out.Calls, "call", "calls"))
	if out.Written > 0 {
		fmt.Fprintf(a.err, "wrote %s to %s\n", plain.Count(out.Written, "attempt", "attempts"), plain.Line(file))
	}
	return err
}
