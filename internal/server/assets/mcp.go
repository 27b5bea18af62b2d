// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
)

// Time limits of asking an MCP server: in total, and for one request.
const (
	mcpTime    = 30 * time.Second
	mcpRequest = 10_000 // milliseconds
)

type (
	// MCPAddress is the address of a server of the Model Context Protocol.
	MCPAddress struct {
		URL       string `json:"url" minLength:"1" maxLength:"2000" doc:"http:// or https://"`
		Transport string `json:"transport,omitempty" required:"false" enum:"streamable,sse" doc:"empty: the first one that the server speaks"`
	}
	// MCPTools are the tools of a server.
	MCPTools struct {
		ServerName    string    `json:"server_name"`
		ServerVersion string    `json:"server_version"`
		Tools         []MCPTool `json:"tools" nullable:"false"`
		ToolCount     int       `json:"tool_count"`
		// Problems are odd tools, tools that look alike, and texts that give orders to models.
		Problems []Remark `json:"problems" nullable:"false"`
	}
	// MCPTool is a tool of a server.
	MCPTool struct {
		Name           string     `json:"name"`
		Description    string     `json:"description"`
		InputSchema    api.Object `json:"inputSchema"`
		ParameterCount int        `json:"parameter_count" doc:"of the top of the schema"`
		ReadOnly       *bool      `json:"read_only,omitempty" doc:"the server's hint; absent without one"`
	}
	// MCPImport asks for a suite of tools of a server.
	MCPImport struct {
		MCPAddress
		Tools      []string `json:"tools,omitempty" required:"false" nullable:"false" maxItems:"10000" doc:"the tools that are taken, as the server calls them; none: all"`
		Prefix     string   `json:"prefix,omitempty" required:"false" maxLength:"64" doc:"prefix of the names of the tools in the suite, such as mcp__github__: distinguishes the tools of two servers"`
		SuiteName  string   `json:"suite_name,omitempty" required:"false" maxLength:"256" doc:"empty: the name of the server"`
		DraftCases bool     `json:"draft_cases,omitempty" required:"false" doc:"adds a case for each tool, which does not run until a person approves it"`
	}
)

func addMCP(s *api.Server) {
	op := api.Operations("import", "/api/mcp")
	api.Answer(s, op("discover-mcp", http.MethodPost, "/discover", "Asks an MCP server which tools it has."),
		api.Access{Role: account.Member, Reads: true}, api.With(s, discoverMCP))
	api.Add(s, api.Returning(http.StatusCreated, op("import-mcp", http.MethodPost, "/import",
		"Makes a suite of the tools of an MCP server.")), api.Access{Role: account.Member}, api.With(s, importMCP))
}

// askMCP asks a server for its tools with the user's network permissions. The address of the server
// in req comes from at.
func askMCP(ctx context.Context, s *api.Server, by *account.Principal, at *MCPAddress,
	req catalogs.ImportMCPRequest,
) (*catalogs.ImportMCPResult, error) {
	u, err := url.Parse(at.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.ContainsAny(at.URL, "${}") {
		return nil, &callvet.FieldError{
			Field: "url",
			Text:  "{url}: it is no address of a server: http://HOST/PATH or https://HOST/PATH, without a user and without variables",
		}
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, mcpTime)
	defer cancel()
	req.MCPServer = app.MCPServer{URL: at.URL, Transport: at.Transport, TimeoutMS: mcpRequest}
	out, err := catalogs.ImportMCP(ctx, a, req, nil)
	var fault *callvet.Fault
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.As(err, &fault) {
		return nil, fmt.Errorf("%w: the tools of the server were not read and checked within %v",
			callvet.ErrLimited, mcpTime)
	}
	if err != nil {
		return nil, api.NotReached(err)
	}
	return out, nil
}

func discoverMCP(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body MCPAddress },
) (*MCPTools, error) {
	res, err := askMCP(ctx, s, by, &in.Body, catalogs.ImportMCPRequest{})
	if err != nil {
		return nil, err
	}
	out := MCPTools{
		ServerName: res.Suite.Name, ServerVersion: res.Server.Version, Tools: []MCPTool{},
		Problems: []Remark{},
	}
	for i := range res.Suite.Tools {
		t := &res.Suite.Tools[i]
		schema := t.Parameters
		if t.Declared != nil {
			schema = t.Declared
		}
		var shape struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		_ = json.Unmarshal(schema, &shape) // a schema of another form has none
		out.Tools = append(out.Tools,
			MCPTool{
				Name: t.Name, Description: t.Description, InputSchema: api.Object{RawMessage: schema},
				ParameterCount: len(shape.Properties), ReadOnly: t.ReadOnly,
			})
	}
	out.ToolCount = len(out.Tools)
	for _, p := range res.Problems {
		out.Problems = append(out.Problems,
			Remark{Code: p.Code, Location: p.Key, Message: p.Message, Fix: p.Fix, Warning: p.Warning})
	}
	return &out, nil
}

func importMCP(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body MCPImport },
) (*Versioned[Imported], error) {
	res, err := askMCP(ctx, s, by, &in.Body.MCPAddress,
		catalogs.ImportMCPRequest{DraftCases: in.Body.DraftCases, Prefix: in.Body.Prefix})
	if err != nil {
		return nil, err
	}
	made := res.Suite
	if err := chosen(made, in.Body.Tools, in.Body.Prefix); err != nil {
		return nil, err
	}
	if in.Body.SuiteName != "" {
		made.Name = in.Body.SuiteName
	}
	if len(made.Tools) == 0 {
		return nil, fmt.Errorf("import tools: %w: the server has none", callvet.ErrInvalid)
	}
	d, err := library.Made(made)
	if err != nil {
		return nil, err
	}
	w, err := s.Library.Add(ctx, by.User, d, "imported from an MCP server", false)
	if err != nil {
		return nil, err
	}
	return &Versioned[Imported]{Etag(w.Version), imported(w)}, nil
}

// chosen keeps the named tools of a suite, and the cases that expect one of them; no names keep
// all. In the suite the names begin with the prefix.
func chosen(s *callvet.Suite, names []string, prefix string) error {
	if len(names) == 0 {
		return nil
	}
	names = slices.Clone(names)
	for i, name := range names {
		names[i] = prefix + name
		if !slices.ContainsFunc(s.Tools, func(t callvet.Tool) bool { return t.Name == names[i] }) {
			return &callvet.FieldError{Field: "tools", Text: fmt.Sprintf("{tools}: the server has no tool %q", name)}
		}
	}
	s.Tools = slices.DeleteFunc(s.Tools, func(t callvet.Tool) bool { return !slices.Contains(names, t.Name) })
	s.Cases = slices.DeleteFunc(s.Cases, func(c callvet.Case) bool {
		expected := slices.Clone(c.Expect.ToolsCalled) // as in drafts
		for _, p := range c.Expect.Plans {
			for _, call := range p.Calls {
				expected = append(expected, call.Tools...)
			}
		}
		return !slices.ContainsFunc(expected, func(t string) bool { return slices.Contains(names, t) })
	})
	return nil
}
