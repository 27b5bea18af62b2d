// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/provider/agent"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/value"
	"github.com/callvet/callvet/verify/proof"
)

// served is one agent behind HTTP: the program that serves it, and one shape of its answer.
type served struct {
	name, program, path string
	preset              string
	// lost are the values that the shape does not record.
	lost []string
	// text and calls are set for an agent with different work than the others.
	text  string
	calls []string
	// noCalls: the shape has no place for calls, so that their absence proves nothing.
	noCalls bool
	// rest names values that are not compared here.
	rest string

	row []string // of the table
}

// agentsSentence is the sentence of the OpenAI Agents SDK about a tool that threw.
const agentsSentence = "failures of tools, but for the SDK's own sentence"

const (
	vercel = "agent-vercel.mjs"
	graph  = "sdk-lc/agent-lg.mjs"
	openai = "sdk-oa/agent-oa.mjs"
	agui   = "sdk-agui/agent-agui.mjs"
	mock   = "mocks"
)

func shapes() []served {
	return []served{
		{
			name: "AI SDK 6, UI message stream", program: vercel, path: "/ui",
			rest: "tokens, unless they are in the metadata of the message",
		},
		{
			name: "AI SDK 6, UI message stream, preset", program: vercel, path: "/ui", preset: "ai-sdk",
			rest: "tokens, unless they are in the metadata of the message",
		},
		{name: "AI SDK 6, JSON with steps", program: vercel, path: "/steps"},
		{
			name: "AI SDK 6, JSON with toolCalls", program: vercel, path: "/json",
			lost: []string{"error", "tokens", "rounds"},
		},
		{name: "AI SDK 6, messages", program: vercel, path: "/messages", lost: []string{"tokens"}},
		{name: "LangGraph 1, stream of updates", program: graph, path: "/updates"},
		{name: "LangGraph 1, stream of updates, preset", program: graph, path: "/updates", preset: "langgraph"},
		{name: "LangGraph 1, stream of values", program: graph, path: "/values"},
		{name: "LangGraph 1, stream of messages", program: graph, path: "/messages"},
		{name: "LangGraph 1, updates and messages", program: graph, path: "/multi"},
		{name: "LangGraph 1, invoke", program: graph, path: "/invoke"},
		{name: "LangGraph 1, invoke, messages as dictionaries", program: graph, path: "/invoke-dict"},
		{name: "OpenAI Agents 0.20, stream", program: openai, path: "/stream", rest: agentsSentence},
		{
			name: "OpenAI Agents 0.20, stream, preset", program: openai, path: "/stream", preset: "openai-agents",
			rest: agentsSentence,
		},
		{
			name: "OpenAI Agents 0.20, items", program: openai, path: "/items", lost: []string{"tokens"},
			rest: agentsSentence,
		},
		{
			name: "OpenAI Agents 0.20, history", program: openai, path: "/history", lost: []string{"tokens"},
			rest: agentsSentence,
		},
		{
			name: "OpenAI Agents 0.20, output", program: openai, path: "/output", lost: []string{"tokens"},
			rest: agentsSentence,
		},
		{name: "OpenAI Agents 0.20, whole result", program: openai, path: "/result", rest: agentsSentence},
		{
			name: "AG-UI 1.0", program: agui, path: "/", preset: "ag-ui", lost: []string{"tokens"},
			rest: "failures of tools: a result that begins with \"Error: \" is one",
		},
		{
			name: "AG-UI, a mock", program: mock, path: "/agui", preset: "ag-ui", lost: []string{"tokens"},
			calls: []string{`get_weather {"city":"Paris"}`},
		},
		{
			name: "A2A 1.0, a mock", program: mock, path: "/a2a", preset: "a2a", text: "Paris is 18 degrees",
			noCalls: true,
		},
		{
			name: "AI SDK 6, text stream", program: vercel, path: "/text",
			text: scriptedText + " because the seat is taken.", noCalls: true,
		},
	}
}

// The calls and the text of every scripted agent, and the tokens of one of its requests.
func scriptedCalls() []string {
	return []string{
		`get_weather {"city":"Paris"}`, `get_weather {"city":"Oslo"}`,
		`book_flight {"from":"Oslo","seat":"12A","to":"Paris"}`,
	}
}

const (
	scriptedText  = "Paris is 18 degrees; booking failed"
	scriptedUsage = "360 in, 90 out"
	modelPort     = "7030" // where the programs look for their model
	startWithin   = 60 * time.Second
)

// The subjects of the comparisons.
const (
	callsAndText = "calls, arguments and text"
	theResults   = "results"
	theError     = "the error"
	theRounds    = "one task in three requests"
	theTokens    = "tokens"
	cutStreams   = "cut streams that are no verdict with fewer calls"
	theCaptures  = "captures"
)

// overHTTP sends a request to every agent that is installed in a folder.
func overHTTP(ctx context.Context, c *proof.Check, dir string) ([][]string, error) {
	for _, s := range shapes() {
		c.Due(callsAndText, 1, "the list of shapes")
		if s.calls != nil || s.text != "" {
			continue
		}
		for _, what := range [][2]string{
			{theResults, "results"},
			{theError, "error"},
			{theRounds, "rounds"},
			{theTokens, "tokens"},
		} {
			if !slices.Contains(s.lost, what[1]) {
				c.Due(what[0], 1, "the list of shapes")
			}
		}
	}
	return askAgents(ctx, c, dir)
}

// newerNode is the folder of the SDK that needs a newer Node than the others.
const newerNode = "agents/sdk7"

// installAgents copies the programs and installs their dependencies, in the versions of their
// packages, unless they are already installed.
func installAgents(ctx context.Context, source, dir string) (string, error) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("find %s: %w", tool, err)
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for _, room := range []string{
		"agents", "agents/sdk-lc", "agents/sdk-oa", "agents/sdk-agui", "agents/sdk-tl",
		"agents/sdk-mastra", newerNode, "mocks",
	} {
		err := installRoom(ctx, filepath.Join(source, room), filepath.Join(dir, room))
		if err != nil && room != newerNode { // its program is skipped if it does not run
			return "", err
		}
	}
	return dir, nil
}

// exactVersion matches a version in package.json that allows a newer one.
var exactVersion = regexp.MustCompile(`"\^(\d)`)

// jsonExporter is the exporter of OTLP's JSON; the protobuf exporter is installed next to it.
var jsonExporter = regexp.MustCompile(`"@opentelemetry/exporter-(trace|logs)-otlp-http": "([^"]*)"`)

func installRoom(ctx context.Context, from, to string) error {
	list, err := filepath.Glob(filepath.Join(from, "*.*js*"))
	if err != nil || len(list) == 0 {
		return fmt.Errorf("read %s: nothing is there: %w", from, callvet.ErrNotFound)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	same := true
	for _, path := range list {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		own := filepath.Join(to, filepath.Base(path))
		if filepath.Base(path) == "package.json" {
			b = exactVersion.ReplaceAll(b, []byte(`"$1`))
			b = jsonExporter.ReplaceAll(b, []byte(`$0, "@opentelemetry/exporter-$1-otlp-proto": "$2"`))
			was, _ := os.ReadFile(own)
			same = bytes.Equal(was, b)
		}
		if err := os.WriteFile(own, b, 0o600); err != nil {
			return err
		}
	}
	done := filepath.Join(to, "installed")
	if _, err := os.Stat(done); err == nil && same {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(limited, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
		"--legacy-peer-deps")
	cmd.Dir = to
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install %s: %w: %.300s", filepath.Base(to), err, bytes.TrimSpace(out))
	}
	return os.WriteFile(done, nil, 0o600)
}

// askAgents starts every program at a free port and requests each shape.
func askAgents(ctx context.Context, c *proof.Check, dir string) ([][]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	model := scriptedModel()
	defer model.Close()
	bases := map[string]string{}
	for _, program := range []string{vercel, graph, openai, agui, mock} {
		port, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		room, args := filepath.Join(dir, "agents", filepath.Dir(program)), []string{filepath.Base(program)}
		if program == mock {
			room, args = filepath.Join(dir, mock),
				[]string{"node_modules/@copilotkit/aimock/dist/aimock-cli.js", "-c", "a2a.json", "-p", port}
		} else if args[0], err = moved(room, args[0], port, model.Listener.Addr().String()); err != nil {
			return nil, err
		}
		stop, err := start(ctx, port, room, args...)
		if err != nil {
			return nil, err
		}
		defer stop()
		bases[program] = "http://127.0.0.1:" + port
	}
	c.Printf("%-46s %-7s %-9s %-7s %-7s %-9s %s\n", "shape", "calls", "results", "error", "rounds", "tokens",
		"cuts read wrongly")
	var table [][]string
	for _, s := range shapes() {
		s.ask(ctx, c, bases[s.program])
		if s.row == nil {
			s.row = make([]string, 6)
		}
		wrong, _, _ := strings.Cut(s.row[5], " ") // the number of events of a stream depends on time
		table = append(table, append([]string{s.name, s.shown(dir)}, append(s.row[:5:5], wrong, s.unrecordedParts())...))
	}
	return table, nil
}

func freePort(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

var listensAt = regexp.MustCompile(`\.listen\(\d+`)

// moved writes a copy of a program that listens at a port, and finds its model at an address.
func moved(room, program, port, model string) (string, error) {
	b, err := os.ReadFile(filepath.Join(room, program))
	if err != nil {
		return "", err
	}
	b = bytes.ReplaceAll(b, []byte("127.0.0.1:"+modelPort), []byte(model))
	b = listensAt.ReplaceAll(b, []byte(".listen("+port))
	return "moved-" + program, os.WriteFile(filepath.Join(room, "moved-"+program), b, 0o600)
}

// start runs a program of Node until it listens; stop ends it.
func start(ctx context.Context, port, dir string, args ...string) (stop func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its output is in errs
		close(ended)
	}()
	stop = func() { cancel(); <-ended }
	var d net.Dialer
	for tick, began := time.NewTicker(100*time.Millisecond), time.Now(); ; {
		conn, err := d.DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err == nil {
			tick.Stop()
			return stop, conn.Close()
		}
		select {
		case <-ended:
			tick.Stop()
			stop()
			return nil, fmt.Errorf("run %s: it ended: %.300s", args[0], strings.TrimSpace(errs.String()))
		case <-tick.C:
			if time.Since(began) > startWithin {
				tick.Stop()
				stop()
				return nil, fmt.Errorf("run %s: it does not listen: %w", args[0], callvet.ErrUnavailable)
			}
		}
	}
}

// ask requests one answer and compares the imported attempt.
func (s *served) ask(ctx context.Context, c *proof.Check, base string) {
	m, _, err := agent.OpenHTTP(agent.HTTPConfig{URL: base + s.path, Preset: s.preset, Timeout: time.Minute})
	if err != nil {
		c.Compare(callsAndText, s.name, false, "%v", err)
		return
	}
	req := &callvet.Request{
		CaseID: s.name,
		Turns:  []callvet.Turn{{Role: callvet.RoleUser, Content: "Weather in Paris and Oslo, then book a flight."}},
	}
	resp, err := m.Generate(ctx, req)
	if err != nil {
		c.Compare(callsAndText, s.name, false, "%v", err)
		return
	}
	got := agentOf(resp)
	if s.calls != nil || s.text != "" {
		want := strings.Join(s.calls, "; ") + " | " + s.text
		c.Compare(callsAndText, s.name, got.calls+" | "+got.text == want && resp.UnknownCalls() == s.noCalls,
			"want %s, got %s | %s, unknown: %v", want, got.calls, got.text, resp.UnknownCalls())
		s.print(c, &got)
		return
	}
	s.compare(c, &got)
	wrong := 0
	for _, cut := range cuts(resp.Exchanges[0].Response) {
		r, err := agent.Stream(strings.NewReader(cut), s.preset, message.Options{Input: req.Turns},
			time.Now(), time.Now)
		verdict := err == nil && agentOf(r).n < got.n
		if verdict {
			wrong++
		}
		c.Compare(cutStreams, fmt.Sprintf("%s, %d bytes", s.name, len(cut)), !verdict, "it is read as a whole answer")
	}
	if n := len(cuts(resp.Exchanges[0].Response)); n > 0 {
		c.Due(cutStreams, n, "the streams")
		got.cut = fmt.Sprintf("%d of %d", wrong, n)
	}
	s.print(c, &got)
}

// print writes the row of a shape, and stores it for the table of the docs.
func (s *served) print(c *proof.Check, got *readAgent) {
	due := 3
	if s.calls != nil {
		due = len(s.calls)
	}
	s.row = []string{
		fmt.Sprintf("%d of %d", got.n, due), fmt.Sprintf("%d of %d", got.results, due),
		s.cell("error", got.failed), s.cell("rounds", got.rounds), s.cell("tokens", got.tokens), cmp.Or(got.cut, "-"),
	}
	switch {
	case s.noCalls:
		s.row = []string{"unknown", "-", "-", "-", "-", "-"}
	case s.calls != nil:
		s.row = []string{s.row[0], "-", "-", "-", "-", "-"}
	}
	c.Printf("%-46s %-7s %-9s %-7s %-7s %-9s %s\n", s.name, s.row[0], s.row[1], s.row[2], s.row[3], s.row[4], s.row[5])
}

// shown returns the versions of the programs that answer in the shape.
func (s *served) shown(dir string) string {
	switch s.program {
	case mock:
		return versionsOf(filepath.Join(dir, mock), "@copilotkit/aimock")
	case agui:
		return versionsOf(filepath.Join(dir, "agents", "sdk-agui"), "@ag-ui/core")
	case graph:
		return versionsOf(filepath.Join(dir, "agents", "sdk-lc"), "@langchain/langgraph", "langchain")
	case openai:
		return versionsOf(filepath.Join(dir, "agents", "sdk-oa"), "@openai/agents")
	}
	return versionsOf(filepath.Join(dir, "agents"), "ai")
}

// unrecordedParts describes the values that the shape does not record, in a reader's words.
func (s *served) unrecordedParts() string {
	var out []string
	for _, l := range s.lost {
		out = append(out, map[string]string{"error": "which call failed", "rounds": "requests of the model"}[l])
		if l == "tokens" {
			out[len(out)-1] = l
		}
	}
	if s.noCalls {
		out = append(out, "what was called: it is unknown")
	}
	if s.rest != "" {
		out = append(out, s.rest)
	}
	return strings.Join(out, "; ")
}

// cell is the imported value; "not recorded" if the shape has none.
func (s *served) cell(what string, got any) string {
	if slices.Contains(s.lost, what) {
		return "-"
	}
	return fmt.Sprint(got)
}

func (s *served) compare(c *proof.Check, got *readAgent) {
	want := strings.Join(scriptedCalls(), "; ")
	c.Compare(callsAndText, s.name, got.calls == want && strings.HasPrefix(got.text, scriptedText),
		"want %s, got %s and %q", want, got.calls, got.text)
	if !slices.Contains(s.lost, "results") {
		c.Compare(theResults, s.name, got.results == 3 || got.results == 2 && slices.Contains(s.lost, "error"),
			"%d of 3", got.results)
	}
	if !slices.Contains(s.lost, "error") {
		c.Compare(theError, s.name, got.failed == "third", "failed: %s", got.failed)
	}
	if !slices.Contains(s.lost, "rounds") {
		c.Compare(theRounds, s.name, got.rounds == 3, "%d requests", got.rounds)
	}
	if !slices.Contains(s.lost, "tokens") {
		c.Compare(theTokens, s.name, got.usage == scriptedUsage, "want %s, got %s", scriptedUsage, got.usage)
	}
}

// readAgent is an imported attempt.
type readAgent struct {
	calls, text string
	n, results  int
	failed      string // which calls did
	rounds      int
	usage       string
	tokens, cut string
}

func agentOf(resp *callvet.Response) readAgent {
	r := readAgent{usage: fmt.Sprintf("%d in, %d out", resp.Usage.InputTokens, resp.Usage.OutputTokens), tokens: "no"}
	if resp.Usage.Known {
		r.tokens = fmt.Sprint(resp.Usage.InputTokens + resp.Usage.OutputTokens)
	}
	var list, failed []string
	for _, t := range resp.Turns {
		if t.Role != callvet.RoleAssistant {
			continue
		}
		r.rounds++
		r.text += t.Content
		for i := range t.Calls {
			call := &t.Calls[i]
			list = append(list, call.Tool+" "+sameArgs(call.Args))
			if call.Result != nil || call.Error != "" {
				r.results++
			}
			if call.Error != "" {
				failed = append(failed, []string{"first", "second", "third"}[min(len(list), 3)-1])
			}
		}
	}
	r.n, r.calls, r.failed = len(list), strings.Join(list, "; "), strings.Join(failed, ", ")
	return r
}

// cuts returns the beginnings of a stream, up to each of its events; none for an answer in one
// piece.
func cuts(body string) []string {
	if !isStream(body) {
		return nil
	}
	var out []string
	for at := 0; ; {
		n := strings.Index(body[at:], "\n\n")
		if n < 0 || at+n+2 >= len(body) {
			return out
		}
		at += n + 2
		out = append(out, body[:at])
	}
}

// capturesOverHTTP returns the files of a folder with answers of agents: streams of events, and
// JSON values that are not telemetry. Other captures are spans and logs.
func capturesOverHTTP(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		form := foreign.Detect(b)
		if isStream(string(b)) || json.Valid(b) && (form == "messages" || !isTelemetry(form)) {
			out = append(out, path)
		}
	}
	return out, nil
}

// isStream reports whether an answer is server-sent events.
func isStream(body string) bool {
	for _, field := range []string{"data:", "event:", "id:", ":"} {
		if strings.HasPrefix(body, field) {
			return true
		}
	}
	return false
}

// readCapture compares one recorded answer.
func readCapture(c *proof.Check, path string) {
	name := filepath.Base(path)
	b, err := os.ReadFile(path)
	if err != nil {
		c.Compare(theCaptures, name, false, "%v", err)
		return
	}
	var resp *callvet.Response
	opts := message.Options{Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}}}
	if json.Valid(b) {
		var v value.Value
		if v, err = value.Parse(b); err == nil {
			resp, err = message.Decode(v, opts)
		}
	} else {
		resp, err = agent.Stream(bytes.NewReader(b), "", opts, time.Now(), time.Now)
	}
	if err != nil {
		c.Compare(theCaptures, name, false, "%v", err)
		return
	}
	got := agentOf(resp)
	c.Printf("%-46s %d of 3  %d of 3    %-7s %-7d %s\n", name, got.n, got.results, got.failed, got.rounds, got.tokens)
	want := strings.Join(scriptedCalls(), "; ")
	// a history may have two rounds in one message
	rounds := got.rounds == 3 || got.rounds == 2 && foreign.Detect(b) == "messages"
	c.Compare(theCaptures, name, got.calls == want && got.results == 3 && got.failed == "third" && rounds,
		"want %s, got %s, %d results, failed: %s, %d rounds", want, got.calls, got.results, got.failed, got.rounds)
	n := 0
	for _, cut := range cuts(string(b)) {
		r, err := agent.Stream(strings.NewReader(cut), "", opts, time.Now(), time.Now)
		n++
		c.Compare(cutStreams, fmt.Sprintf("%s, %d bytes", name, len(cut)), err != nil || agentOf(r).n == got.n,
			"it is read as a whole answer")
	}
	if n > 0 {
		c.Due(cutStreams, n, "the streams")
	}
}
