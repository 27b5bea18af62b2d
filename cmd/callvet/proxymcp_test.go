// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// together is a server of MCP that answers calls once it has as many as it waits for, the last one
// first: each after the one behind it. Where it waits for one it answers at once.
type together struct {
	wants    int
	mu       sync.Mutex
	came     int
	all      chan struct{}
	answered []chan struct{}
}

func (s *together) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage
		Method string
		Params struct{ Arguments struct{ N int } }
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if q.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{}`
	switch q.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"together","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"get","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`
	case "tools/call":
		n := q.Params.Arguments.N
		if s.wants > 1 {
			s.mu.Lock()
			if s.came++; s.came == s.wants {
				close(s.all)
			}
			s.mu.Unlock()
			select {
			case <-s.all:
			case <-time.After(time.Minute): // only a broken test comes here
				http.Error(w, "the others did not come", http.StatusInternalServerError)
				return
			}
			<-s.answered[n+1]
			defer close(s.answered[n])
		}
		result = fmt.Sprintf(`{"content":[{"type":"text","text":"{\"got\":%d}"}],"structuredContent":{"got":%d}}`, n, n)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
}

// TestProxyMCPTogether: calls that an agent sends at once reach the server at the same time. The
// trace and the recordings have them in the order of sending. With faults in front they are made
// one after the other.
func TestProxyMCPTogether(t *testing.T) {
	t.Parallel()
	const n = 8
	for _, faults := range []bool{false, true} {
		s := &together{wants: n, all: make(chan struct{}), answered: make([]chan struct{}, n+1)}
		if faults {
			s.wants = 1
		}
		for i := range s.answered {
			s.answered[i] = make(chan struct{})
		}
		close(s.answered[n])
		srv := httptest.NewServer(s)
		dir := t.TempDir()
		args := []string{"proxy", "mcp", srv.URL, "-o", "t.jsonl", "--record", "rec", "--task", "a"}
		failed := ""
		if faults {
			writeFiles(t, dir, map[string]string{"f.yaml": "faults: [{tool: get, fault: error, nth: 3}]"})
			args, failed = append(args, "--faults", "f.yaml"), "2"
		}
		in := begun
		for i := range n {
			in += fmt.Sprintf(
				`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get","arguments":{"n":%d}}}`,
				i+1, i) + "\n"
		}
		cmd := exec.CommandContext(t.Context(), "callvet", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
		cmd.Env = append(os.Environ(), "HOME="+dir)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		srv.Close()
		if err != nil {
			t.Fatalf("%v\n%s%s", err, out, errs.String())
		}
		var answers, calls []string
		for line := range strings.Lines(string(out)) {
			var m struct {
				ID     int
				Result struct{ StructuredContent struct{ Got *int } }
			}
			if json.Unmarshal([]byte(line), &m) == nil && m.Result.StructuredContent.Got != nil {
				answers = append(answers, fmt.Sprint(m.ID, *m.Result.StructuredContent.Got))
			}
		}
		var want, order []string
		for i := range n {
			if fmt.Sprint(i) != failed {
				want = append(want, fmt.Sprint(i+1, i))
			}
			order = append(order, fmt.Sprintf("call-%d %d", i+1, i))
		}
		slices.Sort(answers)
		slices.Sort(want)
		if !slices.Equal(want, answers) {
			t.Errorf("faults %v: answers %v, want %v", faults, answers, want)
		}
		for line := range strings.Lines(string(readFile(t, dir, "t.jsonl"))) {
			var c struct {
				CallID string `json:"call_id"`
				Args   struct{ N int }
				Result struct{ Got int }
				Error  string
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			if c.CallID != "" {
				calls = append(calls, fmt.Sprintf("%s %d", c.CallID, c.Args.N))
				if c.Error == "" && c.Result.Got != c.Args.N {
					t.Errorf("call %d got the answer of %d", c.Args.N, c.Result.Got)
				}
			}
		}
		if !slices.Equal(order, calls) {
			t.Errorf("faults %v: the trace has %v, want %v", faults, calls, order)
		}
		recordings := 0
		for name, b := range wholeFiles(t, filepath.Join(dir, "rec")) {
			var r struct {
				Args   struct{ N int }
				Result struct{ Got int }
			}
			if err := json.Unmarshal(b, &r); err != nil || r.Args.N != r.Result.Got {
				t.Errorf("%s: %s", name, b)
			}
			recordings++
		}
		if recordings != len(want) {
			t.Errorf("faults %v: %d recordings, want %d", faults, recordings, len(want))
		}
	}
}

const begun = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}}}` +
	"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
