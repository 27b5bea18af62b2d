// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/verify/proof"
)

// The sizes of the exercise of Evaluating Tool Calling, section 14-2: a tool that reads and one
// that moves money.
const (
	replays       = 100
	replayCases   = 48
	replayRepeats = 2
)

const (
	readTool  = "get_refund_policy"
	writeTool = "create_refund"
)

// replayed records two tools of a real server, replays a run of them a hundred times at three
// numbers of requests in flight, and compares the outputs with each other, byte by byte.
func replayed(ctx context.Context, c *proof.Check, binary string) error {
	const traces, asJSON, asHTML, executed, runs = "traces", "reports in JSON", "reports in HTML",
		"tools that a replay executed not once", "runs without what a clock measured"
	c.Due(traces, replays, "one of each replay")
	c.Due(asJSON, replays, "one of each replay")
	c.Due(asHTML, replays, "one of each replay")
	c.Due(executed, 2, "a tool that reads and one that writes")
	c.Due(runs, 3, "one of each number of requests in flight")
	bin, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "callvet-replay-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lab := &replayLab{dir: dir, bin: bin, db: filepath.Join(dir, "runs.db")}
	tools := httptest.NewServer(lab)
	defer tools.Close()
	if err := lab.record(ctx, tools.URL); err != nil {
		return err
	}
	reads, writes := lab.reads.Load(), lab.writes.Load()
	c.Printf("recorded at a local server: %d executions of %s, %d of %s\n", reads, readTool, writes, writeTool)
	if reads == 0 || writes == 0 {
		return errors.New("a tool was not executed when it was recorded")
	}
	inFlight := []int{1, 8, 64}
	plain := map[string][]string{}
	for i, n := range inFlight {
		name := fmt.Sprint("run-", n)
		if i == 0 {
			name = "first"
		}
		if err := lab.call(ctx, "run", "suite.json", "-m", "script:script.json", "--recordings", "recordings",
			"--repeat", strconv.Itoa(replayRepeats), "--no-cache", "--name", name, "-c", strconv.Itoa(n), "-q", "-o",
			name+".jsonl", "--require-pass"); err != nil {
			return err
		}
		b, err := lab.withoutClock(name + ".jsonl")
		if err != nil {
			return err
		}
		plain[runs] = append(plain[runs], sum(b))
	}
	for i := range replays {
		n := inFlight[i%len(inFlight)]
		name := fmt.Sprint("replay-", i)
		if err := lab.call(ctx, "replay", "first", "--name", name, "-c", strconv.Itoa(n), "-q", "-o", name+".jsonl",
			"-o", name+".json", "-o", name+".html"); err != nil {
			return err
		}
		for kind, ext := range map[string]string{traces: ".jsonl", asJSON: ".json", asHTML: ".html"} {
			b, err := lab.nameless(name, ext)
			if err != nil {
				return err
			}
			plain[kind] = append(plain[kind], sum(b))
		}
	}
	for _, kind := range []string{traces, asJSON, asHTML, runs} {
		for i, s := range plain[kind] {
			c.Compare(kind, strconv.Itoa(i), s == plain[kind][0], "SHA-256 %s, and %s of the first one", s,
				plain[kind][0])
		}
		slices.Sort(plain[kind])
		c.Printf("%-36s %3d, %d different: SHA-256 %s\n", kind, len(plain[kind]), len(slices.Compact(plain[kind])),
			plain[kind][0])
	}
	c.Printf("reports without the id of the run and the time at which it was made\n")
	for tool, n := range map[string]int64{readTool: lab.reads.Load() - reads, writeTool: lab.writes.Load() - writes} {
		c.Compare(executed, tool, n == 0, "executed %d times", n)
	}
	c.Printf("executed on replay: %s %d times, %s %d times\n", readTool, lab.reads.Load()-reads, writeTool,
		lab.writes.Load()-writes)
	return nil
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// replayLab has the server of the tools, and the files of the check.
type replayLab struct {
	dir, bin, db  string
	reads, writes atomic.Int64
	mu            sync.Mutex
	refunded      map[string]bool
}

// ServeHTTP implements the two tools. A refund is made once.
func (l *replayLab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var args map[string]string
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch strings.TrimPrefix(r.URL.Path, "/") {
	case readTool:
		l.reads.Add(1)
		_, _ = fmt.Fprintf(w, `{"window_days": %d, "exceptions": ["defect"]}`, 7+len(args["product_type"]))
	case writeTool:
		n := l.writes.Add(1)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.refunded == nil {
			l.refunded = map[string]bool{}
		}
		if l.refunded[args["order_id"]] {
			http.Error(w, "refunded before", http.StatusConflict)
			return
		}
		l.refunded[args["order_id"]] = true
		_, _ = fmt.Fprintf(w, `{"status": "started", "id": "RF-%d"}`, n)
	default:
		http.NotFound(w, r)
	}
}

// byPost calls the tools.
type byPost struct{ address string }

// Answer posts the arguments.
func (o byPost) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.address+"/"+call.Tool, bytes.NewReader(call.Args))
	if err != nil {
		return callvet.Reply{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return callvet.Reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return callvet.Reply{}, err
	}
	out := callvet.Reply{
		Status: callvet.StatusOK, Latency: time.Since(began),
		Env: callvet.Live("http", o.address+"/"+call.Tool),
	}
	if resp.StatusCode != http.StatusOK {
		out.Status, out.Error = callvet.StatusExecErr, strings.TrimSpace(string(b))
	} else {
		out.Result = b
	}
	return out, nil
}

// record writes the suite, the script and the recordings of the script's calls: every attempt at
// once, with its own conversation.
func (l *replayLab) record(ctx context.Context, address string) error {
	tools := []callvet.Tool{
		{
			Name: readTool, Version: "v3", Description: "Refund window of a product type in a country.",
			ReadOnly: ptr(true),
			Parameters: json.RawMessage(
				`{"type":"object","required":["country","product_type"],"properties":{"country":{"type":"string"},"product_type":{"type":"string"}}}`),
		},
		{
			Name: writeTool, Version: "v1", Description: "Start a refund. Moves money.", ReadOnly: ptr(false),
			Idempotent: ptr(false),
			Parameters: json.RawMessage(
				`{"type":"object","required":["order_id"],"properties":{"order_id":{"type":"string"}}}`),
		},
	}
	var cases, rules []any
	var plans [][]map[string]any
	for i := range replayCases {
		order := fmt.Sprintf("AR-%05d", i)
		calls := []map[string]any{
			{"tool": readTool, "args": map[string]any{
				"country":      []string{"AR", "BR"}[i%2],
				"product_type": []string{"food", "books", "electronics"}[i%3],
			}},
			{"tool": writeTool, "args": map[string]any{"order_id": order}},
		}
		if i%4 == 0 { // once more: the service refuses it
			calls = append(calls, calls[1])
		}
		plans = append(plans, calls)
		id := fmt.Sprintf("refund-%02d", i)
		steps := []any{}
		for _, call := range calls {
			steps = append(steps, map[string]any{"calls": []any{call}})
		}
		rules = append(rules, map[string]any{
			"case":  id,
			"steps": append(steps, map[string]any{"text": "Order " + order + " is refunded."}),
		})
		cases = append(cases, map[string]any{
			"id": id, "prompt": "Please refund order " + order + "; I confirm.",
			"expect": map[string]any{"calls": calls, "response": map[string]any{"contains": []string{order}}},
		})
	}
	suite := map[string]any{"callvet": 1, "name": "replays", "tools": tools, "cases": cases}
	if err := errors.Join(l.write("suite.json", suite),
		l.write("script.json", map[string]any{"model": "scripted-1", "rules": rules})); err != nil {
		return err
	}
	folder := filepath.Join(l.dir, "recordings")
	if err := sys.MakeFolder(folder); err != nil {
		return err
	}
	tape, err := world.NewTape(folder, func(ctx context.Context, name string, data []byte) error {
		return sys.WriteFile(ctx, filepath.Join(folder, name), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}, time.Now)
	if err != nil {
		return err
	}
	return sys.InParallel(16, replayCases*replayRepeats, func(i int) error {
		at, repeat := i/replayRepeats, i%replayRepeats
		world := tape.World(byPost{address},
			world.Conversation{
				Case: fmt.Sprintf("refund-%02d", at), Target: "script:script.json", Repeat: repeat,
				Tools: tools,
			})
		for _, call := range plans[at] {
			args, err := json.Marshal(call["args"])
			if err != nil {
				return err
			}
			if _, err := world.Answer(ctx, callvet.Call{Tool: fmt.Sprint(call["tool"]), Args: args}); err != nil {
				return err
			}
		}
		return nil
	})
}

func ptr[T any](v T) *T { return &v }

func (l *replayLab) write(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.dir, name), b, 0o600)
}

// call runs callvet.
func (l *replayLab) call(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, l.bin, append(args, "--db", l.db)...)
	cmd.Dir = l.dir
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("callvet %s: %w\n%s", strings.Join(args, " "), err, b)
	}
	return nil
}

// nameless returns a file of a replay without the id and the time of the run. Traces have neither, and
// are returned unchanged.
func (l *replayLab) nameless(name, ext string) ([]byte, error) {
	path := filepath.Join(l.dir, name)
	b, err := os.ReadFile(path + ext)
	if err != nil || ext == ".jsonl" {
		return b, err
	}
	text, err := os.ReadFile(path + ".json")
	if err != nil {
		return nil, err
	}
	var head struct {
		Run     string    `json:"run"`
		Created time.Time `json:"created"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	made := head.Created.UTC()
	for old, with := range map[string]string{
		head.Run: "RUN", made.Format(time.RFC3339Nano): "MADE",
		made.Format("2006-01-02T15:04:05Z"): "MADE", made.Format("2 January 2006, 15:04"): "MADE",
	} {
		b = bytes.ReplaceAll(b, []byte(old), []byte(with))
	}
	return b, nil
}

// withoutClock returns the lines of a trace file without measured times of the target.
func (l *replayLab) withoutClock(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		delete(v, "started")
		delete(v, "wall_ms")
		line, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), nil
}
