// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"

	"github.com/google/go-cmp/cmp"
)

const honest = `{"id":"r","model":"liar-1","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ping","arguments":"{\"host\":\"a\"}"}}]}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`

// said answers with a message of plain text.
func textReply(text string) string {
	b, _ := json.Marshal(text)
	return `{"id":"r","model":"liar-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + string(b) + `}}]}`
}

// liar is an OpenAI-compatible server that treats each case as its name describes.
type liar struct {
	mu   sync.Mutex
	seen map[string]int
	done chan struct{}
}

var caseName = regexp.MustCompile(`case ([a-z0-9-]+)`)

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := caseName.FindSubmatch(body)
	if m == nil {
		http.Error(w, "no case", http.StatusBadRequest)
		return
	}
	name := string(m[1])
	l.mu.Lock()
	l.seen[name]++
	n := l.seen[name]
	l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch name {
	case "limited-once":
		if n == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error":{"message":"slow down","type":"rate_limit_error"}}`)
			return
		}
	case "broken-always":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "<html><h1>Oops</h1>")
		return
	case "half-json":
		fmt.Fprint(w, honest[:len(honest)/2])
		return
	case "hangs":
		select {
		case <-r.Context().Done():
		case <-l.done:
		}
		return
	case "wrong-type":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>welcome</html>")
		return
	case "ten-megabytes":
		fmt.Fprint(w, `{"choices":[{"message":{"content":"`)
		chunk := strings.Repeat("a", 1<<20)
		for range 10 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
		fmt.Fprint(w, `"}}]}`)
		return
	case "invalid-utf8":
		fmt.Fprint(w, strings.Replace(honest, "liar-1", "liar-\xff\xfe", 1))
		return
	case "call-in-text":
		fmt.Fprint(w, textReply("```json\n{\"name\": \"ping\", \"arguments\": {\"host\": \"a\"}}\n```"))
		return
	case "cut-call-in-text":
		fmt.Fprint(w, textReply(`<tool_call>{"name": "ping", "arguments": {"host": "a`))
		return
	case "cut-arguments":
		fmt.Fprint(w, strings.Replace(honest, `{\"host\":\"a\"}`, `{\"host\":\"a`, 1))
		return
	case "hangs-up":
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
		return
	case "just-talks":
		fmt.Fprint(w, textReply("Which host?"))
		return
	}
	fmt.Fprint(w, honest)
}

// TestLyingServer evaluates with a server that breaks in every way it can. Each attempt ends with
// the right outcome, nothing is lost or counted twice, and the key is nowhere in the output.
func TestLyingServer(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"honest":           "called pass ",
		"limited-once":     "called pass ",
		"broken-always":    "error error server",
		"half-json":        "error error malformed",
		"hangs":            "error error timeout",
		"wrong-type":       "error error malformed",
		"ten-megabytes":    "error error too_large",
		"invalid-utf8":     "called pass ",
		"call-in-text":     "called pass ",
		"cut-call-in-text": "unparseable fail ",
		"cut-arguments":    "unparseable fail ",
		"hangs-up":         "error error network",
		"just-talks":       "abstained fail ",
	}
	l := &liar{seen: map[string]int{}, done: make(chan struct{})}
	srv := httptest.NewServer(l)
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(l.done) })
	dir := t.TempDir()
	var cases []any
	for name := range want {
		cases = append(cases, map[string]any{
			"id": name, "prompt": "case " + name, "expected_tool": "ping",
			"expected_params": map[string]any{"host": "a"},
		})
	}
	suite, err := json.Marshal(map[string]any{
		"callvet": 1, "name": "liar", "cases": cases,
		"tools": []any{map[string]any{
			"name": "ping", "description": "Ping",
			"parameters": map[string]any{
				"type":       "object",
				"properties": map[string]any{"host": map[string]any{"type": "string"}},
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "suite.json"), suite, 0o600); err != nil {
		t.Fatal(err)
	}
	const secret = "sk-very-secret-1234567890"
	out := runApp(t, dir, map[string]string{"LIAR_KEY": secret}, exitOK,
		"run", "suite.json", "-m", "openai/liar", "--base-url", srv.URL, "--api-key-env", "LIAR_KEY", "--timeout",
		"1500ms", "--retries", "1", "-c", "16", "-q", "-o", "cells.jsonl", "-o", "r.html")
	if strings.Contains(out, secret) {
		t.Error("the key was printed")
	}
	got := map[string]string{}
	b := readFile(t, dir, "cells.jsonl")
	for line := range bytes.Lines(b) {
		var row struct {
			Type    string
			Case    string `json:"task_id"`
			Outcome string
			Pass    *bool
			Fault   *struct{ Kind string }
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if row.Type != "task" {
			continue
		}
		verdict := "error"
		if row.Pass != nil {
			verdict = map[bool]string{true: "pass", false: "fail"}[*row.Pass]
		}
		kind := ""
		if row.Fault != nil {
			kind = row.Fault.Kind
		}
		if _, twice := got[row.Case]; twice {
			t.Errorf("%s is counted twice", row.Case)
		}
		got[row.Case] = row.Outcome + " " + verdict + " " + kind
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	for _, name := range []string{"cells.jsonl", "r.html", "runs.db", "runs.db-wal"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds the key", name)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, n := range map[string]int{
		"honest": 1, "limited-once": 2, "broken-always": 2, "half-json": 2,
		"call-in-text": 1,
	} {
		if l.seen[name] != n {
			t.Errorf("%s was asked %d times, want %d", name, l.seen[name], n)
		}
	}
}

// newApp is a process of its own in dir, with a store there.
func newApp(dir string, env map[string]string) (a *cli, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	var environ []string
	for k, v := range env {
		environ = append(environ, k+"="+v)
	}
	return &cli{
		environ: environ,
		in:      strings.NewReader(""), out: out, err: errs, now: time.Now, dir: dir,
		process: sys.UnwatchedProcess(out, errs),
		getenv: func(k string) string {
			if v, ok := env[k]; ok || k != "CALLVET_DB" {
				return v
			}
			return filepath.Join(dir, "runs.db")
		},
	}, out, errs
}

// runApp runs one command line in process and returns both its outputs.
func runApp(t *testing.T, dir string, env map[string]string, code int, args ...string) string {
	t.Helper()
	a, out, errs := newApp(dir, env)
	if got := a.run(t.Context(), a.rootCommand(), args); got != code {
		t.Fatalf("callvet %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String() + errs.String()
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
