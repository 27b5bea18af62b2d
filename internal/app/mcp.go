// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/mcp"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/sys"
)

// MCPServer selects an MCP server: one over HTTP, or a command that speaks MCP over its standard
// input and output.
type MCPServer struct {
	URL     string `json:"url,omitempty"`
	Command string `json:"command,omitempty"`
	// Transport is one of MCPTransports; "": the first that the server speaks.
	Transport string `json:"transport,omitempty"`
	// Protocol is a version of MCP, such as 2025-11-25; "": the newest that the server speaks.
	Protocol string `json:"protocol,omitempty"`
	// Headers go with every request; ${NAME} in them reads the environment.
	Headers map[string]string `json:"headers,omitempty"`
	// Roots are folders that the server may know of.
	Roots []string `json:"roots,omitempty"`
	// ExecEnv are variables that a command may see although they are named like secrets.
	ExecEnv []string `json:"exec_env,omitempty"`
	// TimeoutMS bounds one request; 0: a minute.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// MCPTransports are those of servers over HTTP.
func MCPTransports() []string { return []string{mcp.Streamable, mcp.SSE} }

// Server makes the settings of a connection of a request.
func (a *App) Server(q *MCPServer, events Events) (mcp.Config, error) {
	cfg := mcp.Config{
		URL: q.URL, Transport: q.Transport, Protocol: q.Protocol, HTTP: a.Config.HTTP,
		Timeout: time.Duration(q.TimeoutMS) * time.Millisecond, Version: a.Config.Version, Now: a.Config.Now,
	}
	switch {
	case (q.URL == "") == (q.Command == ""):
		return cfg, Refused("url", "name the address of an MCP server, or its command: {command} 'npx some-mcp-server'")
	case q.Transport != "" && !slices.Contains(MCPTransports(), q.Transport):
		return cfg, Wrong("transport", q.Transport, "it is one of %s", strings.Join(MCPTransports(), ", "))
	case q.TimeoutMS < 0:
		return cfg, Wrong("timeout_ms", fmt.Sprint(q.TimeoutMS), "it is a time, such as 30s")
	}
	if err := redact.RefuseSpelled(q.URL, q.Headers); err != nil {
		return cfg, err
	}
	var err error
	if cfg.URL, err = redact.FillAddress(q.URL, a.Variable); err != nil {
		return cfg, fmt.Errorf("connect to MCP server: %w", err)
	}
	for name, text := range q.Headers {
		filled, err := redact.FillVariables(text, a.Variable)
		if err != nil {
			return cfg, fmt.Errorf("connect to MCP server: header %s: %w", name, err)
		}
		if cfg.Headers == nil {
			cfg.Headers = map[string]string{}
		}
		cfg.Headers[name] = filled
	}
	for _, root := range q.Roots {
		path, _, err := a.Config.Files.Path(root)
		if err != nil {
			return cfg, err
		}
		if path, err = filepath.Abs(path); err != nil {
			return cfg, fmt.Errorf("find %s: %w", root, err)
		}
		cfg.Roots = append(cfg.Roots, path)
	}
	if q.Command == "" {
		return cfg, nil
	}
	return cfg, a.serverCommand(&cfg, q, events)
}

// serverCommand lets a server be a command, where requests may run commands.
func (a *App) serverCommand(cfg *mcp.Config, q *MCPServer, events Events) (err error) {
	if !a.Config.Permit.Commands {
		return &callvet.FieldError{
			Field: "command", Kind: callvet.ErrDenied,
			Text: "{command}: denied: requests may not run commands here",
		}
	}
	if cfg.Command, err = sys.SplitCommand(q.Command); err != nil {
		return err
	}
	if len(cfg.Command) == 0 {
		return Wrong("command", "", "it is empty")
	}
	if cfg.Dir, _, err = a.Config.Files.Path(""); err != nil {
		return err
	}
	var withheld []string
	cfg.Env, withheld = redact.ChildEnvironment(a.Config.Environ, KeyVariables(), q.ExecEnv)
	if len(withheld) > 0 {
		events.Note("withheld", "the server does not see %s", strings.Join(withheld, ", "))
	}
	return nil
}
