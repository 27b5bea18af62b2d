// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcpservers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet/verify/proof"
)

// The subjects of the check.
const (
	theCounts  = "tools of real servers, imported"
	theAnswers = "answers of a real server through the proxy, as without it"
	theTraces  = "calls in trace files of the proxy"
	theClients = "lists and calls of clients that others wrote"
)

// real is a third party's server, with its number of tools.
type real struct {
	name string
	args []string
	want int
}

func reals(room string) []real {
	return []real{
		{"everything", []string{"@modelcontextprotocol/server-everything/dist/index.js"}, 16},
		{"filesystem", []string{"@modelcontextprotocol/server-filesystem/dist/index.js", room}, 14},
		{"memory", []string{"@modelcontextprotocol/server-memory/dist/index.js"}, 9},
		{"sequential-thinking", []string{"@modelcontextprotocol/server-sequential-thinking/dist/index.js"}, 1},
		{"playwright", []string{"@playwright/mcp/cli.js"}, 25},
		{"server-github", []string{"@modelcontextprotocol/server-github/dist/index.js"}, 26},
		{"notion", []string{"@notionhq/notion-mcp-server/bin/cli.mjs"}, 24},
		{"desktop-commander", []string{"@wonderwhy-er/desktop-commander/dist/index.js"}, 26},
	}
}

// withoutCapabilities is the number of tools of server-everything for a client without capabilities.
const withoutCapabilities = 13

// call is one call of a tool.
type call struct {
	Tool string `json:"tool"`
	Args any    `json:"args"`
}

type members = map[string]any

// calls has a call of server-everything for each kind of answer.
func calls() []call {
	return []call{
		{"echo", members{"message": "blå “lamper” 灯\n"}},
		{"get-sum", members{"a": 1, "b": 2.5}},
		{"get-sum", members{"a": 1, "b": "x"}},
		{"get-structured-content", members{"location": "Chicago"}},
		{"get-tiny-image", members{}},
		{"get-annotated-message", members{"messageType": "error", "includeImage": true}},
		{"get-resource-links", members{"count": 3}},
		{"trigger-long-running-operation", members{"duration": 0.2, "steps": 2}},
		{"no-such-tool", members{}},
	}
}

// clientReport is the data of a server in a client.
type clientReport struct {
	Names     []string          `json:"names"`
	Answers   []json.RawMessage `json:"answers"`
	Resources []string          `json:"resources"`
	Read      []string          `json:"read"`
	Prompts   []string          `json:"prompts"`
}

// Verify installs servers and clients from the folder source and compares. The tools of suite are
// served.
func Verify(ctx context.Context, c *proof.Check, binary, source, suite string) error {
	room, err := os.MkdirTemp("", "callvet-mcp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(room)
	l := &lab{room: room}
	if l.binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	if suite, err = filepath.Abs(suite); err != nil {
		return err
	}
	ways := []string{"serve over stdio", "serve over HTTP", "proxy over stdio", "proxy over HTTP"}
	c.Due(theCounts, len(reals(room))+1, "the README of the servers")
	c.Due(theAnswers, 2*(len(calls())+2),
		"the calls of server-everything, its resources and prompts, over two transports")
	c.Due(theTraces, 2*len(calls()), "the calls of server-everything, over two transports")
	c.Due(theLive, 2*len(lived()), "the calls of a run, over two transports")
	c.Due(theRecorded, 2*len(lived()), "the calls of a run, over two transports")
	c.Due(theClients, 2*2*len(ways), "two clients, which list and call, at four servers")
	if l.dir, err = install(ctx, source, filepath.Join(".cache", "real", "mcp")); err != nil {
		return err
	}
	return errors.Join(l.counts(ctx, c), l.through(ctx, c), l.clients(ctx, c, suite))
}

// counts imports the tools of every server.
func (l *lab) counts(ctx context.Context, c *proof.Check) error {
	c.Printf("%-22s %s\n", "server", "tools")
	for _, r := range reals(l.room) {
		out, err := l.callvet(ctx, "mcp", "import", "--json", "--draft-cases", "--command",
			strings.Join(append([]string{"node", l.module(r.args[0])}, r.args[1:]...), " "), "-o",
			filepath.Join(l.room, r.name+".yaml"))
		var got struct{ Tools int }
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		if err != nil {
			return fmt.Errorf("import %s: %w", r.name, err)
		}
		c.Printf("%-22s %d\n", r.name, got.Tools)
		c.Compare(theCounts, r.name, got.Tools == r.want, "%d tools, %d by the README", got.Tools, r.want)
		if _, err := l.callvet(ctx, "lint", filepath.Join(l.room, r.name+".yaml")); err != nil {
			return fmt.Errorf("lint what was imported of %s: %w", r.name, err)
		}
	}
	s, err := l.ask(ctx, members{"command": l.everything()})
	if err != nil {
		return err
	}
	c.Compare(theCounts, "everything, for a client without capabilities", len(s.Names) == withoutCapabilities,
		"%d tools, %d by the README", len(s.Names), withoutCapabilities)
	return nil
}

// everything is the command of server-everything.
func (l *lab) everything() []string {
	return []string{"node", l.module("@modelcontextprotocol/server-everything/dist/index.js")}
}

// full are the capabilities of a client for all tools of the server.
func full() members {
	return members{"elicitation": members{}, "sampling": members{}, "roots": members{}}
}

// through compares the answers to a client directly and through the proxy.
func (l *lab) through(ctx context.Context, c *proof.Check) error {
	url, stop, err := l.streamable(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for _, way := range []struct {
		name   string
		direct members
		behind []string
		live   members
	}{
		{
			"stdio",
			members{"command": l.everything()},
			append([]string{"--"}, l.everything()...),
			members{"command": quoted(l.everything())},
		},
		{"streamable HTTP", members{"url": url}, []string{url}, members{"url": url}},
	} {
		direct, proxied := way.direct, members{}
		traces := filepath.Join(l.room, strings.ReplaceAll(way.name, " ", "-")+".jsonl")
		proxied["command"] = slices.Concat([]string{l.binary, "proxy", "mcp", "--task", "all", "-o", traces},
			way.behind)
		for _, ask := range []members{direct, proxied} {
			ask["caps"], ask["calls"] = full(), calls()
		}
		want, err := l.ask(ctx, direct)
		if err != nil {
			return fmt.Errorf("ask server-everything over %s: %w", way.name, err)
		}
		got, err := l.ask(ctx, proxied)
		if err != nil {
			return fmt.Errorf("ask server-everything over %s through the proxy: %w", way.name, err)
		}
		compareAnswers(c, way.name, want, got)
		if err := l.traced(ctx, c, way.name, traces); err != nil {
			return err
		}
		if err := l.live(ctx, c, way.name, way.live); err != nil {
			return err
		}
	}
	return nil
}

func compareAnswers(c *proof.Check, way string, want, got *clientReport) {
	for i, k := range calls() {
		if i >= len(want.Answers) || i >= len(got.Answers) {
			continue // the comparison is then missing and fails
		}
		same, err := proof.SameJSON(want.Answers[i], got.Answers[i])
		c.Compare(theAnswers, fmt.Sprintf("%s, call %d of %s", way, i+1, k.Tool), same && err == nil,
			"%.300s, without the proxy %.300s", got.Answers[i], want.Answers[i])
	}
	c.Compare(theAnswers, way+", tools", slices.Equal(want.Names, got.Names), "%v, without the proxy %v",
		got.Names, want.Names)
	rest := slices.Equal(want.Resources, got.Resources) && slices.Equal(want.Read, got.Read) &&
		slices.Equal(want.Prompts, got.Prompts)
	c.Compare(theAnswers, way+", resources and prompts", rest && len(want.Prompts) > 0 && len(want.Read) > 0,
		"%+v, without the proxy %+v", got, want)
}

// traced compares a trace file with the calls, and scores it.
func (l *lab) traced(ctx context.Context, c *proof.Check, way, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read traces: %w", err)
	}
	type step struct {
		Type, Tool, Status, Env string
		TaskID                  string `json:"task_id"`
		Args                    json.RawMessage
	}
	var steps []step
	for line := range strings.Lines(string(b)) {
		var s step
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return fmt.Errorf("read traces: %w", err)
		}
		if s.Type == "" {
			steps = append(steps, s)
		}
	}
	for i, k := range calls() {
		if i >= len(steps) {
			continue
		}
		s := steps[i]
		args, err := json.Marshal(k.Args)
		if err != nil {
			return err
		}
		same, err := proof.SameJSON(args, s.Args)
		status := "ok"
		if k.Tool == "no-such-tool" || string(args) == `{"a":1,"b":"x"}` {
			status = "exec_error"
		}
		c.Compare(theTraces, fmt.Sprintf("%s, call %d of %s", way, i+1, k.Tool),
			err == nil && same && s.Tool == k.Tool && s.Status == status && s.TaskID == "all" &&
				strings.HasPrefix(s.Env, "live mcp "), "%+v", s)
	}
	if _, err := l.callvet(ctx, "score", path); err != nil {
		return fmt.Errorf("score what was called over %s: %w", way, err)
	}
	return nil
}

// clients lists and calls the tools of callvet's servers with clients of other projects.
func (l *lab) clients(ctx context.Context, c *proof.Check, suite string) error {
	served := []string{"mcp", "serve", suite, "--case", "paris-now"}
	proxied := append([]string{"proxy", "mcp", "--"}, l.everything()...)
	overHTTP := func(args []string) []string { // after the words of the command and before --
		return slices.Insert(slices.Clone(args), 2, "--http", "127.0.0.1:0")
	}
	weather := call{"get_weather", members{"city": "Paris"}}
	for _, way := range []struct {
		name  string
		args  []string
		http  bool
		call  call
		names string
		want  string
	}{
		{"serve over stdio", served, false, weather, "get_weather get_forecast get_air_quality", `"structuredContent"`},
		{
			"serve over HTTP", overHTTP(served), true, weather, "get_weather get_forecast get_air_quality",
			`"structuredContent"`,
		},
		{"proxy over stdio", proxied, false, call{"echo", members{"message": "hello"}}, "echo", "Echo: hello"},
		{"proxy over HTTP", overHTTP(proxied), true, call{"echo", members{"message": "hello"}}, "echo", "Echo: hello"},
	} {
		at, stop := members{"command": append([]string{l.binary}, way.args...)}, func() {}
		if way.http {
			url, end, err := l.listening(ctx, way.args)
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			at, stop = members{"url": url}, end
		}
		err := l.client(ctx, c, way.name, at, way.call, way.names, way.want)
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// client compares the answers of one server to both clients.
func (l *lab) client(ctx context.Context, c *proof.Check, way string, at members, k call, names, want string) error {
	listed, err := l.inspect(ctx, at, "tools/list")
	if err != nil {
		return fmt.Errorf("%s: the inspector lists: %w", way, err)
	}
	var tools struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(listed, &tools); err != nil {
		return fmt.Errorf("%s: the inspector lists: %w", way, err)
	}
	var found []string
	for _, t := range tools.Tools {
		found = append(found, t.Name)
	}
	begins := func(all []string) bool { return strings.HasPrefix(strings.Join(all, " ")+" ", names+" ") }
	c.Compare(theClients, way+": the inspector lists", begins(found), "%v", found)
	args := []string{"tools/call", "--tool-name", k.Tool}
	for key, v := range k.Args.(members) {
		args = append(args, "--tool-arg", fmt.Sprintf("%s=%v", key, v))
	}
	called, err := l.inspect(ctx, at, args...)
	if err != nil {
		return fmt.Errorf("%s: the inspector calls: %w", way, err)
	}
	c.Compare(theClients, way+": the inspector calls", strings.Contains(string(called), want), "%s", called)
	ask := members{"caps": full(), "calls": []call{k}}
	for key, v := range at {
		ask[key] = v
	}
	s, err := l.ask(ctx, ask)
	if err != nil {
		return fmt.Errorf("%s: the SDK: %w", way, err)
	}
	c.Compare(theClients, way+": the SDK lists", begins(s.Names), "%v", s.Names)
	c.Compare(theClients, way+": the SDK calls", len(s.Answers) == 1 && strings.Contains(string(s.Answers[0]), want),
		"%s", s.Answers)
	return nil
}
