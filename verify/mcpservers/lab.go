// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcpservers

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

//go:embed client.mjs
var client []byte

// further are the servers that package.json does not list, at the counted versions.
func further() map[string]string {
	return map[string]string{
		"@playwright/mcp": "0.0.83", "@modelcontextprotocol/server-github": "2025.4.8",
		"@notionhq/notion-mcp-server": "2.5.2", "@wonderwhy-er/desktop-commander": "0.2.52",
	}
}

// lab has the folder of the servers, and a folder for their output.
type lab struct{ binary, dir, room string }

// install installs servers and clients by npm, once, at exact versions.
func install(ctx context.Context, from, to string) (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("find %s: %w", tool, err)
		}
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(filepath.Join(from, "package.json"))
	if err != nil {
		return "", fmt.Errorf("read what is installed: %w", err)
	}
	var list struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(b, &list); err != nil || len(list.Dependencies) == 0 {
		return "", fmt.Errorf("read what is installed: %s lists nothing: %w", from,
			errors.Join(err, callvet.ErrInvalid))
	}
	for name, version := range list.Dependencies {
		list.Dependencies[name] = strings.TrimPrefix(version, "^")
	}
	maps.Copy(list.Dependencies, further())
	want, err := json.MarshalIndent(map[string]any{"private": true, "dependencies": list.Dependencies}, "", " ")
	if err != nil {
		return "", err
	}
	done := filepath.Join(to, "installed")
	if was, err := os.ReadFile(done); err != nil || !bytes.Equal(was, want) {
		if err := npm(ctx, to, want); err != nil {
			return "", err
		}
		if err := os.WriteFile(done, want, 0o600); err != nil {
			return "", err
		}
	}
	return to, os.WriteFile(filepath.Join(to, "client.mjs"), client, 0o600)
}

func npm(ctx context.Context, to string, list []byte) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, "package.json"), list, 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
		"--legacy-peer-deps")
	cmd.Dir = to
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install MCP servers: %w: %.300s", err, bytes.TrimSpace(out))
	}
	return nil
}

// module returns the path of an installed program.
func (l *lab) module(name string) string {
	return filepath.Join(l.dir, "node_modules", filepath.FromSlash(name))
}

// run runs a program to its end and returns its output.
func (l *lab) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = l.dir, 5*time.Second
	cmd.Env = append(os.Environ(), "HOME="+l.room, "CALLVET_DB="+filepath.Join(l.room, "runs.db"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.600s", strings.Join(append([]string{filepath.Base(name)}, args...), " "), err,
			bytes.TrimSpace(errs.Bytes()))
	}
	return out, nil
}

func (l *lab) callvet(ctx context.Context, args ...string) ([]byte, error) {
	return l.run(ctx, l.binary, args...)
}

// ask sends requests to a server with the TypeScript SDK's client.
func (l *lab) ask(ctx context.Context, what members) (*clientReport, error) {
	b, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	out, err := l.run(ctx, "node", "client.mjs", string(b))
	if err != nil {
		return nil, err
	}
	var s clientReport
	if err := json.Unmarshal(out, &s); err != nil {
		return nil, fmt.Errorf("read the output of the SDK's client: %w: %.200s", err, out)
	}
	return &s, nil
}

// inspect sends requests to a server, a command or a URL, with the MCP inspector.
func (l *lab) inspect(ctx context.Context, at members, method ...string) ([]byte, error) {
	args := []string{l.module("@modelcontextprotocol/inspector/cli/build/cli.js"), "--cli"}
	if url, ok := at["url"].(string); ok {
		args = append(args, url, "--transport", "http")
	} else if command, ok := at["command"].([]string); ok {
		// The inspector reads options anywhere in the command line, so the command is a script without options.
		script := filepath.Join(l.room, "server.sh")
		if err := os.WriteFile(script, []byte("exec "+quoted(command)+"\n"), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "sh", script)
	}
	return l.run(ctx, "node", slices.Concat(args, []string{"--method"}, method)...)
}

func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// listening starts callvet as a server over HTTP, and returns its address.
func (l *lab) listening(ctx context.Context, args []string) (url string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, l.binary, args...)
	cmd.Dir, cmd.WaitDelay = l.dir, 5*time.Second
	cmd.Env = append(os.Environ(), "HOME="+l.room)
	errs, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	lines := bufio.NewReader(errs)
	var g sys.Group
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		g.Wait()
		_ = cmd.Wait() // 130
	}
	output := ""
	for {
		line, err := lines.ReadString('\n')
		output += line
		if _, at, ok := strings.Cut(strings.TrimSpace(line), "note: MCP at "); ok {
			g.Go(func() { _, _ = io.Copy(io.Discard, lines) })
			return at, stop, nil
		}
		if err != nil {
			stop()
			return "", nil, fmt.Errorf("it does not listen: %.300s", output)
		}
	}
}

// streamable starts server-everything over streamable HTTP.
func (l *lab) streamable(ctx context.Context) (url string, stop func(), err error) {
	var lc net.ListenConfig
	free, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	at := free.Addr().String()
	_, port, err := net.SplitHostPort(at)
	if err = errors.Join(err, free.Close()); err != nil {
		return "", nil, err
	}
	words := l.everything()
	cmd := exec.CommandContext(ctx, words[0], words[1], "streamableHttp")
	cmd.Dir, cmd.Env, cmd.WaitDelay = l.dir, append(os.Environ(), "PORT="+port), 5*time.Second
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
		if err == nil {
			return "http://" + at + "/mcp", stop, conn.Close()
		}
		if ctx.Err() != nil {
			stop()
			return "", nil, fmt.Errorf("server-everything does not listen at %s: %w", at, err)
		}
	}
}
