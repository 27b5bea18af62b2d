// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// Defaults of a Config.
const (
	DefaultTimeout  = 60 * time.Second
	DefaultMaxBytes = 16 << 20
)

// The transports of a server over HTTP.
const (
	Streamable = "streamable"
	SSE        = "sse"
)

// handshake is the last version of the protocol that begins with initialize. It is the second try
// for servers that hang up at the first message of newer versions.
const handshake = "2025-11-25"

// Config is the address of a server and the settings of its requests. Either URL or Command is
// set.
type Config struct {
	// URL is the address of a server over HTTP, with http or https.
	URL string
	// Transport is Streamable, SSE, or "": the first that the server supports.
	Transport string
	// Headers go with every request.
	Headers map[string]string
	// HTTP sends the requests; nil: a new client. Redirects to another host are not followed.
	HTTP *http.Client

	// Command is a server over stdio, with its arguments. It runs in Dir ("": the current folder)
	// with the environment Env (NAME=VALUE) only.
	Command []string
	Dir     string
	Env     []string

	// Protocol is the requested version of MCP; "": the newest.
	Protocol string
	// Roots are the folders that a server may ask for; none by default.
	Roots []string
	// Timeout bounds one request; 0: DefaultTimeout.
	Timeout time.Duration
	// MaxBytes bounds one message of the server; 0: DefaultMaxBytes.
	MaxBytes int
	// Version is the version of this program.
	Version string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Changed is called when the server reports that its tools have changed; it must not wait for
	// the server. Nil: such reports are ignored.
	Changed func()
}

// Server is a server's description of itself.
type Server struct {
	Name     string `json:"name"`
	Title    string `json:"title,omitempty"`
	Version  string `json:"version,omitempty"`
	Protocol string `json:"protocol"`
	// Transport is stdio, Streamable or SSE.
	Transport string `json:"transport"`
	// Where is the address without query and user, or the name of the command.
	Where string `json:"where"`
	// Instructions are the server's instructions for the model.
	Instructions string `json:"instructions,omitempty"`
	// Tools: the server has tools. Resources, Prompts, Completions: Forward can ask for them.
	Tools       bool `json:"tools"`
	Resources   bool `json:"resources,omitempty"`
	Prompts     bool `json:"prompts,omitempty"`
	Completions bool `json:"completions,omitempty"`
}

// Session is a connection with a server. It is safe for concurrent use; Close it.
type Session struct {
	cfg     Config
	session *sdk.ClientSession
	process *process // nil over HTTP
	web     *web     // nil over stdio
	server  Server
	changed *atomic.Int64 // how often the server reported changed tools
	refused *atomic.Int64 // how many requests of the server were refused
	stop    func()        // ends the session's open HTTP requests
}

// Connect opens a session. The error is a *callvet.Fault, or wraps callvet.ErrInvalid if cfg names
// no server. ctx bounds the opening only.
func Connect(ctx context.Context, cfg Config) (*Session, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	if len(cfg.Command) > 0 {
		return cfg.either(ctx, "stdio")
	}
	if cfg.Transport != "" {
		return cfg.either(ctx, cfg.Transport)
	}
	order := []string{Streamable, SSE}
	if u, err := url.Parse(cfg.URL); err == nil && strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/sse") {
		slices.Reverse(order)
	}
	s, err := cfg.either(ctx, order[0])
	if err == nil || ctx.Err() != nil {
		return s, err
	}
	other, err2 := cfg.either(ctx, order[1])
	if err2 == nil {
		return other, nil
	}
	return nil, err // the first error is about the current transport
}

func (cfg *Config) complete() error {
	switch {
	case len(cfg.Command) > 0 && cfg.URL != "":
		return fmt.Errorf("connect to MCP server: %w: a command and an address", callvet.ErrInvalid)
	case len(cfg.Command) == 0:
		u, err := url.Parse(cfg.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return &callvet.Hinted{
				Err: fmt.Errorf("connect to MCP server: %w: no address with http or https, and no command",
					callvet.ErrInvalid), Hint: "http://127.0.0.1:3000/mcp",
			}
		}
	}
	if !slices.Contains([]string{"", Streamable, SSE}, cfg.Transport) {
		return fmt.Errorf("connect to MCP server: %w: transport %q, not %s or %s", callvet.ErrInvalid, cfg.Transport,
			Streamable, SSE)
	}
	if cfg.Protocol != "" && !slices.Contains(sdk.SupportedProtocolVersions(), cfg.Protocol) {
		return fmt.Errorf("connect to MCP server: %w: protocol %q, not %s", callvet.ErrInvalid, cfg.Protocol,
			strings.Join(sdk.SupportedProtocolVersions(), ", "))
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return nil
}

// Where is the address of a server without user and query, or the name of its command. It has no
// secrets.
func (cfg *Config) Where() string {
	if len(cfg.Command) > 0 {
		return filepath.Base(cfg.Command[0])
	}
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// either connects with the newest version of the protocol, or else with the last one that begins
// with a handshake. Some servers end or hang at any request before the handshake. The newest version
// has no SSE, which begins with a handshake always.
func (cfg *Config) either(ctx context.Context, transport string) (*Session, error) {
	if transport == SSE {
		if cfg.Protocol >= sessionless {
			return nil, &callvet.Hinted{
				Err:  fmt.Errorf("connect to MCP server: %w: protocol %s has no SSE", callvet.ErrInvalid, cfg.Protocol),
				Hint: "protocol " + handshake + ", or transport " + Streamable,
			}
		}
		return cfg.connect(ctx, transport, cmp.Or(cfg.Protocol, handshake))
	}
	s, err := cfg.connect(ctx, transport, cfg.Protocol)
	if err == nil || ctx.Err() != nil || cfg.Protocol != "" {
		return s, err
	}
	older, err2 := cfg.connect(ctx, transport, handshake)
	if err2 == nil {
		return older, nil
	}
	return nil, err2
}

func (cfg *Config) connect(ctx context.Context, transport, protocol string) (*Session, error) {
	s := &Session{cfg: *cfg, changed: &atomic.Int64{}, refused: &atomic.Int64{}}
	t, err := s.transport(transport)
	if err != nil {
		return nil, err
	}
	// A stream of SSE lives in the context that it was opened with, and the session with it.
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	s.stop = func() { stop(nil) }
	opened := make(chan struct{})
	var g sys.Group
	g.Go(func() {
		late := time.NewTimer(cfg.Timeout)
		defer late.Stop()
		select {
		case <-late.C:
			stop(context.DeadlineExceeded)
		case <-ctx.Done():
			stop(context.Cause(ctx))
		case <-opened:
		}
	})
	s.session, err = s.client().Connect(life, t, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	close(opened)
	g.Wait()
	if err == nil {
		err = context.Cause(life)
	}
	if err != nil {
		fault := s.fault(life, "connect", err)
		return nil, errors.Join(fault, s.Close())
	}
	init := s.session.InitializeResult()
	s.server = Server{
		Protocol: init.ProtocolVersion, Transport: transport, Where: cfg.Where(),
		Instructions: init.Instructions,
	}
	if init.ServerInfo != nil {
		s.server.Name, s.server.Title, s.server.Version = init.ServerInfo.Name, init.ServerInfo.Title,
			init.ServerInfo.Version
	}
	if can := init.Capabilities; can != nil {
		s.server.Tools, s.server.Resources, s.server.Prompts, s.server.Completions = can.Tools != nil,
			can.Resources != nil, can.Prompts != nil, can.Completions != nil
	}
	return s, nil
}

// transport opens the way to the server.
func (s *Session) transport(kind string) (sdk.Transport, error) {
	if kind == "stdio" {
		p, err := startProcess(s.cfg.Command, s.cfg.Dir, s.cfg.Env)
		if err != nil {
			return nil, err
		}
		s.process = p
		return &tapped{Transport: &sdk.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: s.cfg.MaxBytes}}, nil
	}
	w, err := newWeb(&s.cfg)
	if err != nil {
		return nil, err
	}
	s.web = w
	if kind == SSE {
		return &tapped{Transport: &sdk.SSEClientTransport{
			Endpoint: s.cfg.URL, HTTPClient: w.client,
			MaxEventSize: s.cfg.MaxBytes,
		}}, nil
	}
	w.taps = true
	// A broken stream is not resumed silently: messages may be lost.
	return &sdk.StreamableClientTransport{
		Endpoint: s.cfg.URL, HTTPClient: w.client, MaxRetries: -1,
		MaxEventSize: s.cfg.MaxBytes,
	}, nil
}

// client has the capabilities of a full client except opening web pages: servers hide tools from
// clients that lack a capability. The requests of servers are refused.
//
//nolint:staticcheck // 2026-07-28 deprecates roots and sampling, but servers still offer tools for them
func (s *Session) client() *sdk.Client {
	c := sdk.NewClient(&sdk.Implementation{Name: "callvet", Version: s.cfg.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{
			RootsV2: &sdk.RootCapabilities{ListChanged: true},
			Sampling: &sdk.SamplingCapabilities{
				Tools:   &sdk.SamplingToolsCapabilities{},
				Context: &sdk.SamplingContextCapabilities{},
			},
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}},
		},
		CreateMessageWithToolsHandler: func(context.Context,
			*sdk.CreateMessageWithToolsRequest,
		) (*sdk.CreateMessageWithToolsResult, error) {
			s.refused.Add(1)
			return nil, &jsonrpc.Error{Code: -1, Message: "sampling was refused: no model is asked for servers here"}
		},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			s.refused.Add(1)
			return &sdk.ElicitResult{Action: "decline"}, nil
		},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			s.changed.Add(1)
			if s.cfg.Changed != nil {
				s.cfg.Changed()
			}
		},
	})
	for _, root := range s.cfg.Roots {
		c.AddRoots(&sdk.Root{
			URI:  (&url.URL{Scheme: "file", Path: filepath.ToSlash(root)}).String(),
			Name: filepath.Base(root),
		})
	}
	return c
}

// Server is the server's description of itself.
func (s *Session) Server() Server { return s.server }

// Changed is how often the server reported changed tools.
func (s *Session) Changed() int64 { return s.changed.Load() }

// Close ends the session, and the command of the server with its children.
func (s *Session) Close() error {
	err := s.process.end() // the SDK would wait for missing answers
	if s.session != nil {
		_ = s.session.Close() // fails if the server has ended
	}
	s.stop()
	s.web.close()
	return err
}

// fault describes an error between this program and a server.
func (s *Session) fault(ctx context.Context, doing string, err error) *callvet.Fault {
	f := &callvet.Fault{Kind: callvet.FaultNetwork}
	var own *callvet.Fault
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &own):
		return own
	case answered(err, &wire): // its error, not the later hang-up
		f.Kind = callvet.FaultRequest
	case s.web.cause() != nil:
		f = s.web.cause()
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		f.Kind, err = callvet.FaultTimeout, fmt.Errorf("no answer within %s", s.cfg.Timeout)
	case ctx.Err() != nil:
		f.Kind = callvet.FaultCanceled
	case strings.Contains(err.Error(), tooMany("")):
		f.Kind = callvet.FaultTooLarge
	case s.process != nil:
		f.Kind = callvet.FaultProcess
		if strings.Contains(err.Error(), "maximum line length") {
			f.Kind, err = callvet.FaultTooLarge, fmt.Errorf("a message has more than %d bytes", s.cfg.MaxBytes)
		} else if malformed(err) {
			f.Kind = callvet.FaultMalformed
		}
	case strings.Contains(err.Error(), "SSE event exceeded"):
		f.Kind, err = callvet.FaultTooLarge, fmt.Errorf("a message has more than %d bytes", s.cfg.MaxBytes)
	case malformed(err):
		f.Kind = callvet.FaultMalformed
	}
	if f.Message == "" {
		f.Message = fmt.Sprintf("%s: MCP server %s: %v", doing, s.cfg.Where(), err)
	}
	if f.Kind == callvet.FaultProcess {
		s.process.settle()
	}
	if tail := s.process.tail(); tail != "" && f.Kind != callvet.FaultCanceled {
		f.Message += "; it wrote: " + tail
	}
	return f
}

// answered reports whether the server answered with a protocol error. The SDK makes one itself when
// a request did not get through.
func answered(err error, into **jsonrpc.Error) bool {
	const rejected = "rejected by transport"
	return errors.As(err, into) && (*into).Message != rejected
}

// malformed recognizes errors of messages that are not JSON-RPC. They have no type in the SDK.
func malformed(err error) bool {
	text := err.Error()
	for _, s := range []string{
		"invalid character", "unmarshal", "trailing data", "decode", "unexpected end of JSON",
		"invalid message", "unsupported content type", "malformed",
	} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// tail is the end of the server's standard error; "" over HTTP.
func (p *process) tail() string {
	if p == nil {
		return ""
	}
	return strings.TrimSpace(p.stderr.String())
}
