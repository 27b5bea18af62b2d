// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/value"
)

// ToolsConfig are the resources that calls may use.
type ToolsConfig struct {
	// Client sends requests. It decides which addresses may be reached: the guard makes one.
	Client *http.Client
	// Variable reads the environment for ${NAME}; it fails where a name is not set.
	Variable func(name string) (string, error)
	// Secrets are further values that no result may show, in addition to the values of Variable.
	Secrets []string
	// Commands run in Dir and see Env (NAME=VALUE) alone.
	Dir string
	Env []string
	// Servers make the worlds of MCP servers by name, one for each attempt.
	Servers map[string]func() callvet.World
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Tools are the tools of a File, ready to be called. It is safe for concurrent use.
type Tools struct {
	cfg      ToolsConfig
	file     *ToolsFile
	requests map[string]*request
	commands map[string][]string // by the line in the file
	secrets  []string
	families sys.ProcessFamilies
}

// NewTools makes tools ready. The error wraps callvet.ErrInvalid where a variable is not set, and
// callvet.ErrNotFound where there is no such command.
func NewTools(f *ToolsFile, cfg ToolsConfig) (*Tools, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	t := &Tools{cfg: cfg, file: f, requests: map[string]*request{}, commands: map[string][]string{}}
	variable := func(name string) (string, error) {
		v, err := cfg.Variable(name)
		if err == nil {
			t.hide(v)
		}
		return v, err
	}
	for _, v := range cfg.Secrets {
		t.hide(v)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Tools)) {
		tool := f.Tools[name]
		var err error
		switch {
		case tool.HTTP != nil:
			t.requests[name], err = newRequest(tool.HTTP, cfg.Client, variable, cfg.Now)
		case tool.Command != "":
			err = t.command(tool.Command)
		case cfg.Servers[tool.MCP] == nil:
			err = fmt.Errorf("there is no server %q: %w", tool.MCP, callvet.ErrInvalid)
		}
		if err != nil {
			return nil, fmt.Errorf("make tool %s ready: %w", name, err)
		}
	}
	return t, nil
}

// command finds a command before the first call of it.
func (t *Tools) command(line string) error {
	words, err := sys.SplitCommand(line)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return fmt.Errorf("the command is empty: %w", callvet.ErrInvalid)
	}
	if filepath.Base(words[0]) != words[0] && !filepath.IsAbs(words[0]) {
		words[0] = filepath.Join(t.cfg.Dir, words[0])
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return fmt.Errorf("find %q: %w: %w", words[0], err, callvet.ErrNotFound)
	}
	words[0] = path
	t.commands[line] = words
	return nil
}

// minSecret is the least length of a value that is masked everywhere.
const minSecret = 4

func (t *Tools) hide(v string) {
	if len(v) < minSecret || slices.Contains(t.secrets, v) {
		return
	}
	t.secrets = append(t.secrets, v)
	if quoted := string(value.Quote(v)); quoted != `"`+v+`"` {
		t.secrets = append(t.secrets, quoted[1:len(quoted)-1])
	}
	slices.SortFunc(t.secrets, func(a, b string) int { return len(b) - len(a) })
}

// hidden is a text without the values from the environment.
func (t *Tools) hidden(s string) string {
	for _, v := range t.secrets {
		s = strings.ReplaceAll(s, v, "[REDACTED]")
	}
	return s
}

// shown is a reply in the form for targets and traces.
func (t *Tools) shown(r callvet.Reply) callvet.Reply {
	r.Error, r.Note = t.hidden(r.Error), t.hidden(r.Note)
	r.Result = t.hiddenIn(r.Result)
	return r
}

// hiddenIn is hidden for a result, which stays JSON.
func (t *Tools) hiddenIn(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	out := t.hidden(string(raw))
	if out != string(raw) && !value.Valid([]byte(out)) { // the value was a number there
		return value.Quote(out)
	}
	return json.RawMessage(out)
}

// World makes the world of one attempt.
func (t *Tools) World() *LiveWorld {
	return &LiveWorld{of: t, processes: map[string]*process{}, servers: map[string]callvet.World{}}
}

// LiveWorld calls the tools of one attempt. Close it.
type LiveWorld struct {
	of        *Tools
	mu        sync.Mutex
	processes map[string]*process
	servers   map[string]callvet.World
	closed    bool
}

// Answer calls a tool. A tool that is not in the file is not called. A tool's own error, including
// an HTTP status of 300 or more, is an exec_error, and no answer in time a timeout. Any other error
// is a *callvet.Fault: it is not a result of the tool. A refused address is a *callvet.DeniedError.
func (w *LiveWorld) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name, tool := w.of.file.Find(call.Tool)
	switch {
	case w.closed:
		return callvet.Reply{}, fmt.Errorf("the world is closed: %w", callvet.ErrUnavailable)
	case tool == nil:
		return callvet.Reply{
			Status: callvet.StatusExecErr, Error: fmt.Sprintf("unknown tool %q", call.Tool),
			Note: "it is not among the live tools, and nothing was called",
		}, nil
	}
	call.Tool = name
	if tool.MCP != "" {
		r, err := w.ofServer(ctx, tool, call)
		return w.of.shown(r), err
	}
	timeout := time.Duration(orDefault(tool.TimeoutMS, DefaultTimeoutMS) * float64(time.Millisecond))
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := w.of.cfg.Now()
	r, where, version, err := w.ask(limited, tool, &call)
	took := max(w.of.cfg.Now().Sub(start), 0)
	env := envOf(tool, where, version)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return callvet.Reply{Env: env}, ctx.Err()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		r = callvet.Reply{Status: callvet.StatusTimeout, Error: fmt.Sprintf("no answer within %s", timeout)}
	default:
		return callvet.Reply{Env: env}, w.of.fault(where, err)
	}
	r.Env, r.Latency = env, took
	return w.of.shown(r), nil
}

func orDefault[T int64 | float64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// envOf names the source of an answer.
func envOf(t *LiveTool, where, version string) callvet.Env {
	kind := "http"
	if t.Command != "" {
		kind = "command"
	}
	if version == "" {
		version = t.Version
	}
	if version != "" {
		where += " " + strings.Join(strings.Fields(version), "_")
	}
	return callvet.Live(kind, where)
}

// ask calls a tool over HTTP, or as a command.
func (w *LiveWorld) ask(limited context.Context, tool *LiveTool,
	call *callvet.Call,
) (r callvet.Reply, where, version string, err error) {
	most := orDefault(tool.MaxBytes, DefaultMaxBytes)
	if tool.HTTP != nil {
		r, err = w.of.requests[call.Tool].send(limited, call.Args, most)
		return r, tool.HTTP.where(), "", err
	}
	words := w.of.commands[tool.Command]
	where = filepath.Base(words[0])
	p := w.processes[tool.Command]
	if p == nil {
		if p, err = w.of.start(words, most); err != nil {
			return r, where, "", err
		}
		w.processes[tool.Command] = p
	}
	r, version, err = p.ask(limited, call)
	return r, where, version, err
}

// ofServer calls a tool of a server.
func (w *LiveWorld) ofServer(ctx context.Context, tool *LiveTool, call callvet.Call) (callvet.Reply, error) {
	s := w.servers[tool.MCP]
	if s == nil {
		s = w.of.cfg.Servers[tool.MCP]()
		w.servers[tool.MCP] = s
	}
	if tool.TimeoutMS > 0 {
		timeout := time.Duration(tool.TimeoutMS * float64(time.Millisecond))
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		r, err := s.Answer(limited, call)
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			return callvet.Reply{
				Status: callvet.StatusTimeout, Error: fmt.Sprintf("no answer within %s", timeout),
				Latency: timeout, Env: r.Env,
			}, nil
		}
		return r, err
	}
	return s.Answer(ctx, call)
}

// fault describes an error between this program and a tool.
func (t *Tools) fault(where string, err error) error {
	var denied *callvet.DeniedError
	var own *callvet.Fault
	switch {
	case errors.As(err, &denied):
		return err
	case errors.As(err, &own):
		return &callvet.Fault{Kind: own.Kind, Message: where + ": " + t.hidden(own.Message)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &callvet.Fault{Kind: callvet.FaultNetwork, Message: where + ": the answer ended in the middle"}
	}
	return &callvet.Fault{Kind: callvet.FaultNetwork, Message: where + ": " + t.hidden(unsent(err).Error())}
}

// Close ends the commands of the attempt with their children, and the sessions with its servers.
func (w *LiveWorld) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, p := range w.processes {
		p.end()
	}
	var errs []error
	for _, s := range w.servers {
		if c, ok := s.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	w.processes, w.servers = nil, nil
	return errors.Join(errs...)
}
