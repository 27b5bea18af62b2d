// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// desktop is what the conversations of a test have in common.
type desktop struct {
	mu     sync.Mutex
	hellos []Hello
	open   atomic.Int64
	closed atomic.Int64
	block  chan struct{}  // nil: calls of wait end at once
	meet   sync.WaitGroup // calls that are to be made at the same time
}

func (d *desktop) Open(_ context.Context, h Hello) (Talk, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.Query["case"] == "none" {
		return nil, fmt.Errorf("no such case: %w", callvet.ErrNotFound)
	}
	d.hellos = append(d.hellos, h)
	d.open.Add(1)
	return &testTalk{of: d, hello: h}, nil
}

// testTalk counts its own calls.
type testTalk struct {
	of      *desktop
	hello   Hello
	n       int
	learned atomic.Bool
}

func (t *testTalk) Greeting() Greeting {
	return Greeting{Name: "desk", Version: "7", Instructions: "Be kind.", Resources: true, Prompts: true}
}

func (t *testTalk) Tools(context.Context) ([]json.RawMessage, error) {
	out := []json.RawMessage{
		json.RawMessage(
			`{"name":"zeta","inputSchema":{"type":"object","properties":{"z":{},"a":{}}},"strange":[1]}`),
		json.RawMessage(`{"name":"alpha","inputSchema":{"type":"object"}}`),
	}
	if t.learned.Load() {
		out = append(out, json.RawMessage(`{"name":"learned","inputSchema":{"type":"object"}}`))
	}
	return out, nil
}

func (t *testTalk) Call(ctx context.Context, tool string, args json.RawMessage, next func()) (json.RawMessage, error) {
	t.n++
	switch tool {
	case "meet": // waits for the others that are to be at the same time
		n := t.n
		next()
		next() // a second time is none
		t.of.meet.Done()
		t.of.meet.Wait()
		return fmt.Appendf(nil, `{"content":[],"structuredContent":{"z":%d}}`, n), nil
	case "zeta":
		return fmt.Appendf(nil,
				`{"content":[{"type":"hologram","n":1}],"structuredContent":{"z":%d,"a":%s},"_meta":{"k":1}}`, t.n,
				args),
			nil
	case "learn":
		t.learned.Store(true)
		t.hello.Changed()
		return json.RawMessage(`{"content":[]}`), nil
	case "wait":
		select {
		case <-t.of.block:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	case "panic":
		panic("a bug")
	case "no-result":
		return json.RawMessage(`[]`), nil
	}
	return nil, &UnknownToolError{tool}
}

func (t *testTalk) Forward(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method == "resources/read" {
		return json.RawMessage(`{"contents":[{"uri":"a:b","text":"told","strange":1}]}`), nil
	}
	return nil, fmt.Errorf("%s: %w", method, callvet.ErrUnavailable)
}

func (t *testTalk) Close() error {
	t.of.closed.Add(1)
	return nil
}

// listening serves over HTTP until the test ends.
func listening(t *testing.T, s *Serving) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g sys.Group
	g.Go(func() {
		if err := s.HTTP(ctx, l); !errors.Is(err, context.Canceled) {
			t.Errorf("served until %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		g.Wait()
	})
	return "http://" + l.Addr().String() + Path
}

// TestServe: over every transport and version the tools come as they are, in their order, and a
// conversation has a memory of its own.
func TestServe(t *testing.T) {
	t.Parallel()
	d := &desktop{}
	web := listening(t, &Serving{Open: d.Open})
	env := append(os.Environ(), "LIE=serve")
	for name, cfg := range map[string]Config{
		"stdio":               {Command: []string{os.Args[0]}, Env: env},
		"stdio 2026-07-28":    {Command: []string{os.Args[0]}, Env: env, Protocol: "2026-07-28"},
		"stdio 2025-11-25":    {Command: []string{os.Args[0]}, Env: env, Protocol: "2025-11-25"},
		"stdio 2024-11-05":    {Command: []string{os.Args[0]}, Env: env, Protocol: "2024-11-05"},
		"session":             {URL: web},
		"session 2025-11-25":  {URL: web, Protocol: "2025-11-25"},
		"session 2025-03-26":  {URL: web, Protocol: "2025-03-26"},
		"address 2026-07-28":  {URL: web + "?session=a&case=c", Protocol: "2026-07-28"},
		"address 2025-11-25":  {URL: web + "?session=b&case=c", Protocol: "2025-11-25"},
		"address, the newest": {URL: web + "?session=c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Connect(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := cfg.Protocol
			switch name {
			case "session":
				want = "2025-11-25" // the newest that has sessions
			case "stdio", "address, the newest":
				want = "2026-07-28"
			}
			if got := s.Server(); got.Protocol != want || got.Name != "desk" || got.Version != "7" ||
				got.Instructions != "Be kind." || !got.Tools {
				t.Errorf("%+v, want %s", got, want)
			}
			l, err := s.List(t.Context())
			if err != nil || len(l.Tools) != 2 || len(l.Problems) > 0 {
				t.Fatalf("%+v %v", l, err)
			}
			if d := cmp.Diff(
				`{"name":"zeta","inputSchema":{"type":"object","properties":{"z":{},"a":{}}},"strange":[1]}`,
				string(l.Tools[0].Raw)); d != "" {
				t.Error(d)
			}
			for i := range 2 {
				r, err := s.Call(t.Context(), "zeta", json.RawMessage(`{"b":1,"a":2.0}`))
				if want := `{"z":` + strconv.Itoa(i+1) + `,"a":{"b":1,"a":2.0}}`; err != nil ||
					string(r.Result) != want {
					t.Errorf("%s %v, want %s", r.Result, err, want)
				}
			}
			r, err := s.Call(t.Context(), "none", nil)
			if err != nil || r.Error != `unknown tool "none"` || r.Note != "an error of the protocol (-32602)" {
				t.Errorf("%+v %v", r, err)
			}
			if r, err := s.Call(t.Context(), "no-result", nil); err != nil || r.Status != callvet.StatusExecErr {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
}

// TestServeChanged: an agent is notified that the tools have changed, over stdio and in sessions.
func TestServeChanged(t *testing.T) {
	t.Parallel()
	d := &desktop{}
	for _, cfg := range []Config{
		{Command: []string{os.Args[0]}, Env: append(os.Environ(), "LIE=serve"), Protocol: "2025-11-25"},
		{URL: listening(t, &Serving{Open: d.Open})},
	} {
		s, err := Connect(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Call(t.Context(), "learn", nil); err != nil {
			t.Fatal(err)
		}
		for s.Changed() == 0 && t.Context().Err() == nil { // it is reported later
			if _, err := s.page(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		if l, err := s.List(t.Context()); err != nil || l.Find("learned") == nil {
			t.Errorf("%+v %v", l, err)
		}
	}
}

// TestServeHosts: pages in browsers get nothing, whatever their name leads to.
func TestServeHosts(t *testing.T) {
	t.Parallel()
	d := &desktop{}
	url := listening(t, &Serving{Open: d.Open, Hosts: []string{"agents.example"}, MaxBytes: 1 << 16})
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"n","version":"1"}}}`
	for _, tt := range []struct {
		host, origin, path, body string
		want                     int
	}{
		{"", "", Path, hello, 200},
		{"localhost:99", "http://localhost:5173", Path, hello, 200},
		{"[::1]:80", "", Path, hello, 200},
		{"agents.example", "https://agents.example", Path, hello, 200},
		{"evil.example", "", Path, hello, 403},
		{"evil.example:80", "", Path, hello, 403},
		{"127.0.0.1.evil.example", "", Path, hello, 403},
		{"0.0.0.0", "", Path, hello, 403},
		{"", "http://evil.example", Path, hello, 403},
		{"", "null", Path, hello, 403},
		{"", "", "/", hello, 404},
		{"", "", Path + "?session=" + strings.Repeat("a", 200), hello, 400},
		{"", "", Path, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"x":"` + strings.Repeat("a", 1<<17) +
			`"}}`, 413},
		{"", "", Path, `{"jsonrpc":"2.0","id":1`, 400},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimSuffix(url, Path)+tt.path,
			strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if tt.origin != "" {
			req.Header.Set("Origin", tt.origin)
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%+.60v: %s %.200s", tt, res.Status, b)
		}
	}
	if n := d.open.Load(); n != 4 {
		t.Errorf("%d conversations were opened, want 4", n)
	}
}

// TestServeBounds: no more conversations than allowed, none for what Open refuses, and each is
// closed once.
func TestServeBounds(t *testing.T) {
	t.Parallel()
	d := &desktop{}
	s := &Serving{Open: d.Open, MaxTalks: 2}
	url := listening(t, s)
	var all []*Session
	for i := range 3 {
		c, err := Connect(t.Context(), Config{URL: url, Protocol: "2025-11-25"})
		if (err == nil) != (i < 2) || err != nil && !strings.Contains(err.Error(), "2 conversations are open already") {
			t.Fatalf("%d: %v", i, err)
		}
		if err == nil {
			all = append(all, c)
		}
	}
	if _, err := Connect(t.Context(), Config{URL: url + "?session=x", Protocol: "2026-07-28"}); err == nil ||
		!strings.Contains(err.Error(), "already") {
		t.Errorf("by address: %v", err)
	}
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for d.closed.Load() < 2 && t.Context().Err() == nil {
		if c, err := Connect(t.Context(), Config{URL: url}); err == nil { // there is room again
			_ = c.Close()
		}
	}
	if _, err := Connect(t.Context(), Config{URL: url + "?case=none"}); err == nil ||
		!strings.Contains(err.Error(), "no such case") {
		t.Errorf("refused by Open: %v", err)
	}
}

// raw serves lines over stdio and returns the answers by id.
func raw(t *testing.T, s *Serving, lines ...string) (map[string]string, error) {
	t.Helper()
	var out bytes.Buffer
	err := s.Stdio(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), &out)
	all := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var m struct{ ID json.RawMessage }
		// answers to several requests at once, as older versions have it
		if strings.HasPrefix(line, "[") && json.Valid([]byte(line)) {
			continue
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		all[string(m.ID)] = line
	}
	return all, err
}

const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}` +
	"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// TestServeOrder: calls are made in the order in which they were sent, although the agent did not
// wait for answers, and all of them are answered although the input is over.
func TestServeOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		d := &desktop{}
		lines := []string{begin}
		for i := range 30 {
			lines = append(lines,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"zeta","arguments":{}}}`,
					i+1))
			if i == 10 {
				// refused before it has a turn
				lines = append(lines, `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":7}`)
			}
		}
		got, err := raw(t, &Serving{Open: d.Open}, lines...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			if want := fmt.Sprintf(`"structuredContent":{"z":%d,`,
				i+1); !strings.Contains(got[strconv.Itoa(i+1)], want) {
				t.Fatalf("call %d: %q", i+1, got[strconv.Itoa(i+1)])
			}
		}
		if d.open.Load() != 1 || d.closed.Load() != 1 || d.hellos[0].Client != "pipe" ||
			!strings.Contains(got["99"], "error") {
			t.Errorf("%d opened, %d closed, %+v, %s", d.open.Load(), d.closed.Load(), d.hellos, got["99"])
		}
	}
}

// TestServeTogether: where a conversation lets it, calls that were sent at once are answered at the same
// time, and begin in the order in which they were sent.
func TestServeTogether(t *testing.T) {
	t.Parallel()
	const n = 8
	d := &desktop{}
	d.meet.Add(n)
	lines := []string{begin}
	for i := range n {
		lines = append(lines,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"meet","arguments":{}}}`, i+1))
	}
	got, err := raw(t, &Serving{Open: d.Open}, lines...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if want := fmt.Sprintf(`"structuredContent":{"z":%d}`, i+1); !strings.Contains(got[strconv.Itoa(i+1)], want) {
			t.Errorf("call %d: %q", i+1, got[strconv.Itoa(i+1)])
		}
	}
}

// TestServeForward: other requests go to the conversation, in the words of the protocol.
func TestServeForward(t *testing.T) {
	t.Parallel()
	d := &desktop{}
	got, err := raw(
		t, &Serving{Open: d.Open}, begin, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:b"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"p"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":5,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"0": `"capabilities":{"prompts":{},"resources":{},"tools":{"listChanged":true}}`,
		"1": `{"contents":[{"uri":"a:b","text":"told","strange":1}]}`, "2": `"code":-32601`, "3": `"result":{}`,
		"4": `"strange":[1]`, "5": `"code":-32601`,
	} {
		if !strings.Contains(got[id], want) {
			t.Errorf("%s: %s, want %s", id, got[id], want)
		}
	}
}

// TestServeEnds: a server ends on request, whatever its calls wait for, and returns the panic of a
// bug.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	d := &desktop{block: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var g sys.Group
	s := &Serving{Open: d.Open}
	took := make(chan time.Duration, 1)
	g.Go(func() {
		if err := s.Stdio(ctx, r, io.Discard); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		took <- 0
	})
	if _, err := io.WriteString(w, begin+"\n"+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`+
		"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	cancel()
	<-took
	if gone := time.Since(start); gone > time.Second {
		t.Errorf("it took %v to end", gone)
	}
	_ = w.Close()
	g.Wait()
	if d.open.Load() != d.closed.Load() {
		t.Errorf("%d opened, %d closed", d.open.Load(), d.closed.Load())
	}

	defer func() {
		if p := sys.PanicOf(recover()); p == nil || !strings.Contains(p.Error(), "a bug") {
			t.Errorf("the panic is lost: %v", p)
		}
	}()
	_, err := raw(t, &Serving{Open: d.Open}, begin,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}`)
	t.Errorf("ended with %v", err)
}

// TestServeNonsense: an agent that sends nothing of MCP is an error.
func TestServeNonsense(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"hello", `{"jsonrpc":"2.0","id":1,"method":`, strings.Repeat("[", 1000),
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"` + strings.Repeat("a", 1<<16) + `"}}`,
	} {
		d := &desktop{}
		_, err := raw(t, &Serving{Open: d.Open, MaxBytes: 1 << 12}, text)
		var f *callvet.Fault
		if !errors.As(err, &f) || f.Kind != callvet.FaultMalformed {
			t.Errorf("%.30s: %v", text, err)
		}
	}
	// What is JSON-RPC and makes no sense is answered.
	d := &desktop{}
	got, err := raw(t, &Serving{Open: d.Open}, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"no/such"}`, `{"jsonrpc":"2.0","id":3,"method":"tools/call"}`)
	if err != nil || !strings.Contains(got["1"], "error") || !strings.Contains(got["2"], "error") ||
		!strings.Contains(got["3"], "error") || d.open.Load() != 0 {
		t.Errorf("%v %v", got, err)
	}
}

// FuzzServe: whatever an agent sends, the server ends, and writes nothing but messages.
func FuzzServe(f *testing.F) {
	f.Add(begin + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"zeta","arguments":{"a":1}}}`)
	f.Add(
		`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"result":{}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "panic") || strings.Contains(text, "wait") {
			return // the test's own tools
		}
		_, _ = raw(t, &Serving{Open: (&desktop{}).Open}, text)
	})
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		tool callvet.Tool
		want string
	}{
		{callvet.Tool{Name: "a"}, `{"name":"a","inputSchema":{"type":"object"}}`},
		{
			callvet.Tool{
				Name: "a", Description: "d", Parameters: json.RawMessage(`{"properties":{"z":{},"a":{}}}`),
				ReadOnly: &yes,
			},
			`{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"z":{},"a":{}}},"annotations":{"readOnlyHint":true}}`,
		},
		{
			callvet.Tool{
				Name: "a", Parameters: json.RawMessage(` {"required":["z"],"type":["object","null"]}`),
				ReadOnly: &no, Idempotent: &yes,
			},
			`{"name":"a","inputSchema":{"required":["z"],"type":"object"},"annotations":{"readOnlyHint":false,"idempotentHint":true}}`,
		},
		{callvet.Tool{Name: "a", Parameters: json.RawMessage(`{}`)}, `{"name":"a","inputSchema":{"type":"object"}}`},
		{callvet.Tool{Name: "a", Parameters: json.RawMessage(`true`)}, `{"name":"a","inputSchema":{"type":"object"}}`},
		{callvet.Tool{Name: "a", Parameters: json.RawMessage(`[]`)}, ""},
		{callvet.Tool{Name: "a", Parameters: json.RawMessage(`{`)}, ""},
	} {
		got, err := Definition(&tt.tool)
		if d := cmp.Diff(tt.want, string(got)); d != "" || (err == nil) != (tt.want != "") {
			t.Errorf("%s %v", d, err)
		}
	}
}

// TestResult: a reply is unchanged after the wire, as far as the protocol can express it.
func TestResult(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reply, back callvet.Reply
		want        string
	}{
		{
			reply: callvet.Reply{Status: "ok", Result: json.RawMessage(`{"z":1.0,"a":"<b>"}`)},
			want:  `{"content":[{"type":"text","text":"{\"z\":1.0,\"a\":\"<b>\"}"}],"structuredContent":{"z":1.0,"a":"<b>"}}`,
		},
		{
			reply: callvet.Reply{Status: "ok", Result: json.RawMessage(`"text"`)},
			want:  `{"content":[{"type":"text","text":"text"}]}`,
		},
		{
			reply: callvet.Reply{Status: "ok", Result: json.RawMessage(`[1, 2]`)},
			want:  `{"content":[{"type":"text","text":"[1,2]"}]}`,
			back:  callvet.Reply{Status: "ok", Result: json.RawMessage(`"[1,2]"`)},
		},
		{
			reply: callvet.Reply{Status: "ok", Result: json.RawMessage(`null`)},
			want:  `{"content":[{"type":"text","text":"null"}]}`,
			back:  callvet.Reply{Status: "ok", Result: json.RawMessage(`"null"`)},
		},
		{
			reply: callvet.Reply{Status: "exec_error", Error: "full"},
			want:  `{"content":[{"type":"text","text":"full"}],"isError":true}`,
		},
		{
			reply: callvet.Reply{Status: "exec_error", Error: "full", Result: json.RawMessage(`{"code":7}`)},
			want:  `{"content":[{"type":"text","text":"full"}],"structuredContent":{"code":7},"isError":true}`,
		},
		{
			reply: callvet.Reply{Status: "timeout"},
			want:  `{"content":[{"type":"text","text":"the tool failed"}],"isError":true}`,
			back:  callvet.Reply{Status: "exec_error", Error: "the tool failed"},
		},
		{
			reply: callvet.Reply{Env: callvet.EnvGuard, Error: "denied by the guard: x"},
			want:  `{"content":[{"type":"text","text":"denied by the guard: x"}],"isError":true}`,
			back:  callvet.Reply{Status: "exec_error", Error: "denied by the guard: x"},
		},
	} {
		got, err := Result(&tt.reply)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, string(got)); d != "" {
			t.Error(d)
		}
		want := tt.reply
		if tt.back.Status != "" {
			want = tt.back
		}
		back, err := decode(got)
		if d := cmp.Diff(want, back); d != "" || err != nil {
			t.Errorf("%s %v", d, err)
		}
	}
}
