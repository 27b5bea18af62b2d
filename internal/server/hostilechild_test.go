// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store"
)

// hostileTools are what a hostile MCP server answers to tools/list; id is that of the request. It
// writes until the client is gone.
func hostileTools() map[string]func(w io.Writer, id json.RawMessage) error {
	list := func(w io.Writer, id json.RawMessage, tools, more string) error {
		_, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]%s}}`, id, tools, more)
		return err
	}
	many := func(n int, one func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(one(i))
		}
		return b.String()
	}
	plain := func(i int) string { return fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i) }
	properties := func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string","description":"p"}`, i) }
	return map[string]func(io.Writer, json.RawMessage) error{
		"40,000 tools": func(w io.Writer, id json.RawMessage) error { return list(w, id, many(40_000, plain), "") },
		"16,000 properties": func(w io.Writer, id json.RawMessage) error {
			return list(w, id, `{"name":"wide","inputSchema":{"type":"object","properties":{`+
				many(16_000, properties)+`}}}`, "")
		},
		"endless pages": func(w io.Writer,
			id json.RawMessage,
		) error {
			return list(w, id, plain(1), `,"nextCursor":"again"`)
		},
		"slow drip": func(w io.Writer, id json.RawMessage) error {
			if _, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[`, id); err != nil {
				return err
			}
			for {
				if _, err := io.WriteString(w, " "); err != nil {
					return err
				}
				time.Sleep(20 * time.Millisecond)
			}
		},
		"wrong ids": func(w io.Writer,
			_ json.RawMessage,
		) error {
			return list(w, json.RawMessage("99999"), plain(1), "")
		},
		"control characters": func(w io.Writer, id json.RawMessage) error {
			return list(w, id,
				`{"name":"a\u0000\u001b[2Jb","description":"\u202e\u0007","inputSchema":{"type":"object"}},`+plain(1),
				"")
		},
		"empty names": func(w io.Writer, id json.RawMessage) error {
			return list(w, id,
				`{"name":"","inputSchema":{"type":"object"}},{"name":" ","inputSchema":{"type":"object"}},{"inputSchema":7},`+plain(1), "")
		},
		"endless notifications": nil, // over a stream of events
	}
}

// hostileMCP is an MCP server over HTTP that begins well.
func hostileMCP(t *testing.T, mode string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		flushing := flusher{w}
		switch {
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w,
				`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"evil","version":"1"}}}`, m.ID)
		case hostileTools()[mode] == nil:
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := io.WriteString(flushing,
					"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"); err != nil {
					return
				}
			}
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = hostileTools()[mode](flushing, m.ID) // the client is gone
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// flusher sends what is written at once.
type flusher struct{ w http.ResponseWriter }

// Write writes.
func (f flusher) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if g, ok := f.w.(http.Flusher); ok && err == nil {
		g.Flush()
	}
	return n, err
}

// attackMCP asks a hostile MCP server for its tools, and makes a suite of them. The result is an
// error, or the readable tools with notes on the others. The server answers others afterwards.
func attackMCP(mode string, read int) func(t *testing.T) {
	return func(t *testing.T) {
		s, evil := newSite(t), hostileMCP(t, mode)
		s.private(t)
		began := time.Now()
		code, text := s.ask(t, "bo", "POST", "/api/mcp/discover", fmt.Sprintf(`{"url": %q}`, evil.URL))
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("it took %v", took)
		}
		if read < 0 {
			if code/100 == 2 || code == http.StatusInternalServerError {
				t.Errorf("%d: %.300s", code, text)
			}
		} else {
			var told assets.MCPTools
			err := json.Unmarshal([]byte(text), &told)
			if code == http.StatusTooManyRequests { // on a busy machine it is not read in time
				return
			}
			if code != 200 || err != nil || len(told.Tools) != read {
				t.Errorf("%d: %d tools, want %d: %.300s", code, len(told.Tools), read, text)
			}
			if len(told.Problems) == 0 && read != 1 || strings.ContainsAny(text, "\x00\x1b") {
				t.Errorf("what is odd is not told: %.300s", text)
			}
			if code, text := s.ask(t, "bo", "POST", "/api/mcp/import",
				fmt.Sprintf(`{"url": %q, "draft_cases": true}`, evil.URL)); code >= 500 {
				t.Errorf("import: %d %.300s", code, text)
			}
		}
		s.answers(t, 200, "bo", "GET", suites, "")
	}
}

// hostileScorers are programs that are to judge an attempt. None of them gives a verdict in the way that is asked for.
func hostileScorers() map[string]string {
	return map[string]string{
		// It repeats its input, as a careless program prints the answer of the model: a verdict is
		// a part of that.
		"prints a fake verdict": `while read -r line; do echo '{"id":1,"pass":true}'; echo "$line"; done`,
		"floods its output":     `read -r line; while :; do printf '%01000d' 0; done`,
		"forks and leaves":      `read -r line; (sleep 600 & echo $! > "$0.pid"); (setsid sleep 600 & echo $! >> "$0.pid"); exit 0`,
		"never ends":            `trap '' TERM INT; echo $$ > "$0.pid"; read -r line; while :; do sleep 1; done`,
		"closes the channel":    `read -r line; exec 1>&-; echo $$ > "$0.pid"; sleep 600`,
	}
}

// judged are a suite that a program judges.
func judged(program string) string {
	const text = `{"callvet": 1, "name": "judged", "cases": [{"id": "a", "prompt": "Paris?", "expect": {"scorers": [{"name": "judge", "exec": "sh %s", "timeout": "2s"}]}}]}`
	return fmt.Sprintf(text, program)
}

// folder are the files of a folder by their names.
type folder struct {
	app.Uploads
	dir string
}

// Path is where a file is.
func (f folder) Path(name string) (path string, isFolder bool, err error) {
	return filepath.Join(f.dir, name), false, nil
}

// attackScorer judges a run by a hostile program of its suite. A server runs none, even if it lets
// targets be commands. The command line runs it with --allow-exec. No attempt passes, and nothing
// of the program is left.
func attackScorer(mode string) func(t *testing.T) {
	return func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "judge.sh")
		err := errors.Join(os.WriteFile(program, []byte(hostileScorers()[mode]), 0o600),
			os.WriteFile(filepath.Join(filepath.Dir(program), "suite.json"), []byte(judged(program)), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		s := newSite(t, func(c *api.Config) {
			users, err := account.New(account.Config{
				Store:  c.Store,
				Secret: bytes.Repeat([]byte{7}, account.SecretSize), Allowed: account.Allowed{Commands: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			c.Accounts = users
		})
		suite := give[assets.Imported](t, s, "bo", "POST", "/api/tool-eval/import", judged(program)).SuiteID
		if text := s.answers(t, 403, "bo", "POST", "/api/tool-eval",
			fmt.Sprintf(`{"suite_id": %q, "models": ["offline/lexical"]}`,
				suite)); !strings.Contains(text, "scorers would run") {
			t.Errorf("the reason: %s", text)
		}

		began := time.Now()
		a := app.New(app.Config{
			Store:  func(context.Context) (*store.DB, error) { return s.db, nil },
			Files:  folder{dir: filepath.Dir(program)},
			Permit: app.Permit{Commands: true}, Environ: os.Environ(),
		})
		run, err := runs.Start(t.Context(), a, app.RunRequest{
			SuiteRequest: app.SuiteRequest{Suite: "suite.json"},
			Targets:      []app.TargetSpec{{Target: "offline/lexical"}}, AllowExec: true,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		out, err := run.Do(t.Context())
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("the run took %v", took)
		}
		if out == nil || out.Summary.Done != 1 || out.Summary.Pass != 0 {
			t.Errorf("%+v, %v", out, err)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
		noted := pids(program + ".pid")
		if strings.Contains(hostileScorers()[mode], ".pid") && len(noted) == 0 {
			t.Error("the program was not started: the test shows nothing")
		}
		for _, pid := range noted {
			for end := time.Now().Add(5 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Errorf("process %d of the program is there after its run", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
					break
				}
			}
		}
	}
}

// pids are the processes that a program has noted.
func pids(path string) (out []int) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for _, word := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(word); err == nil && n > 1 {
			out = append(out, n)
		}
	}
	return out
}
