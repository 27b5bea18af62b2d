// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
)

// TestMain lets the test binary be a server over stdio: LIE selects its lies.
func TestMain(m *testing.M) {
	switch lie := os.Getenv("LIE"); lie {
	case "":
		os.Exit(m.Run())
	case "honest":
		_ = honest().Run(context.Background(), &sdk.StdioTransport{})
	case "serve":
		_ = (&Serving{Open: (&desktop{}).Open}).Stdio(context.Background(), os.Stdin, os.Stdout)
	default:
		os.Exit(liar(lie).stdio(os.Stdin, os.Stdout))
	}
}

// liar is a server that does what its name describes when its tool is called.
type liar string

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// lies are what a liar may do, with how a call of its tool has to end: an error of the kind, or an
// answer of the status.
func lies() map[liar]struct {
	kind   callvet.FaultKind // over stdio
	web    callvet.FaultKind // over HTTP; "": the same
	status callvet.Status
} {
	type end = struct {
		kind   callvet.FaultKind
		web    callvet.FaultKind
		status callvet.Status
	}
	return map[liar]end{
		"slow":       {status: callvet.StatusTimeout},
		"wrong-id":   {status: callvet.StatusTimeout},
		"endless":    {kind: callvet.FaultTooLarge},
		"huge":       {kind: callvet.FaultTooLarge},
		"chatty":     {kind: callvet.FaultTooLarge},
		"invalid":    {kind: callvet.FaultMalformed},
		"no-result":  {kind: callvet.FaultMalformed},
		"half":       {kind: callvet.FaultProcess, web: callvet.FaultNetwork},
		"strange":    {status: callvet.StatusOK},
		"text-error": {status: callvet.StatusExecErr},
		"empty":      {status: callvet.StatusExecErr},
	}
}

// fixed is what a liar answers to all but calls.
func fixed(m message) string {
	switch m.Method {
	case "initialize":
		return fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"liar","version":"1"}}}`, m.ID)
	case "tools/list":
		return fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"lie","inputSchema":{"type":"object"}}]}}`, m.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
}

// chat is a message that answers nothing.
const chat = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`

// call writes what a liar answers to a call; false: and nothing more.
func (l liar) call(w io.Writer, id json.RawMessage) (more bool) {
	switch l {
	case "slow":
	case "chatty":
		for {
			if _, err := io.WriteString(w, chat+"\n"); err != nil {
				return false
			}
		}
	case "wrong-id":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":99999,"result":{"content":[]}}`)
	case "endless", "huge":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
		chunk := strings.Repeat("a", 1<<20)
		for i := 0; l == "endless" || i < 100; i++ {
			if _, err := io.WriteString(w, chunk); err != nil {
				return false
			}
		}
		fmt.Fprint(w, `"}]}}`)
	case "invalid":
		fmt.Fprint(w, `this is no JSON`)
	case "no-result":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":"a text"}`, id)
	case "half":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"cont`, id)
		return false
	case "strange": // no member is what it should be, and nothing is wrong with the envelope
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"hologram","n":1}],"_meta":7}}`, id)
	case "text-error":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"broken"}}`, id)
	case "empty":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"isError":true}}`, id)
	}
	return true
}

func (l liar) stdio(in io.Reader, out io.Writer) int {
	for s := bufio.NewScanner(in); s.Scan(); {
		var m message
		if json.Unmarshal(s.Bytes(), &m) != nil {
			return 1
		}
		switch {
		case m.ID == nil:
		case m.Method != "tools/call":
			fmt.Fprintln(out, fixed(m))
		case !l.call(out, m.ID):
			return 1
		default:
			fmt.Fprintln(out)
		}
	}
	return 0
}

// web serves the liar over streamable HTTP; events selects which of its two forms.
func (l liar) web(events bool, over <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost {
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if events {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: message\ndata: ")
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		switch {
		case m.Method != "tools/call":
			fmt.Fprint(w, fixed(m))
		case l == "chatty" && events:
			for {
				if _, err := fmt.Fprint(w, chat+"\n\ndata: "); err != nil {
					return
				}
			}
		case l == "slow" || l == "wrong-id" && events:
			_ = http.NewResponseController(w).Flush()
			l.call(w, m.ID)
			select {
			case <-r.Context().Done():
			case <-over:
			}
			return
		case !l.call(w, m.ID):
			panic(http.ErrAbortHandler)
		}
		if events {
			fmt.Fprint(w, "\n\n")
		}
	})
}

// TestLies: whatever a server does, a call ends, in its time, with what happened.
func TestLies(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	for l, end := range lies() {
		for _, way := range []string{"stdio", "json", "events"} {
			if l == "chatty" && way == "json" {
				continue // such an answer is one message
			}
			t.Run(string(l)+" "+way, func(t *testing.T) {
				t.Parallel()
				cfg := Config{Timeout: 20 * time.Second, MaxBytes: 4 << 20}
				if end.status == callvet.StatusTimeout {
					cfg.Timeout = time.Second
				}
				want := end.kind
				if way == "stdio" {
					cfg.Command, cfg.Env = []string{os.Args[0]}, append(os.Environ(), "LIE="+string(l))
				} else {
					srv := httptest.NewServer(l.web(way == "events", over))
					t.Cleanup(srv.Close)
					t.Cleanup(srv.CloseClientConnections)
					cfg.URL = srv.URL
					if end.web != "" {
						want = end.web
					}
				}
				w := NewWorld(cfg)
				defer w.Close()
				began := time.Now()
				r, err := w.Answer(t.Context(), callvet.Call{Tool: "lie", Args: json.RawMessage(`{}`)})
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("took %v", took)
				}
				var f *callvet.Fault
				switch {
				case end.status != "":
					if err != nil || r.Status != end.status {
						t.Errorf("%+v, %v; want %s", r, err, end.status)
					}
				case !errors.As(err, &f):
					t.Errorf("%+v, %v; want a fault", r, err)
				case f.Kind != want:
					t.Errorf("%v; want %s", f, want)
				}
				if f != nil { // and nothing is called any more
					if _, err := w.Answer(t.Context(), callvet.Call{Tool: "lie"}); err == nil ||
						!strings.Contains(err.Error(), "broke before") {
						t.Errorf("the next call: %v", err)
					}
				}
			})
		}
	}
}

// TestUnasked: a server that answers each request with messages without end keeps nothing busy:
// neither the requests that the SDK makes by itself, nor a list.
func TestUnasked(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, fixed(m))
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := fmt.Fprint(w, "data: "+chat+"\n\n"); err != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(srv.Close)
	began := time.Now()
	s, err := Connect(t.Context(), Config{URL: srv.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.List(t.Context())
	var f *callvet.Fault
	if !errors.As(err, &f) || f.Kind != callvet.FaultTooLarge || !strings.Contains(f.Message, "answer no request") {
		t.Errorf("list: %v", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v, as long as the server liked", took)
	}
}
