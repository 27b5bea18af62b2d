// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/world"
)

const secretKey = "sk-live-77aa88bb\"99"

// liveOpen makes the world of a file with %s in it for the address of a server, or for this program.
func liveOpen(t testing.TB, text string, env ...string) *world.LiveWorld {
	t.Helper()
	f, err := world.ReadTools("live.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := world.NewTools(f,
		world.ToolsConfig{
			Client: &http.Client{Transport: &http.Transport{}}, Env: env,
			Variable: func(name string) (string, error) {
				if name == "KEY" {
					return secretKey, nil
				}
				return "", redact.EmptyVariable(name)
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	w := tools.World()
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func call(t testing.TB, w callvet.World, tool, args string) callvet.Reply {
	t.Helper()
	r, err := w.Answer(t.Context(), callvet.Call{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, args, err)
	}
	r.Latency = 0
	return r
}

// sent is what a server got.
type sent struct{ Method, URL, Body, Type, Key string }

// TestRequests: what is sent for a call.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, args, method, url, body string }{
		{`http: {url: "%s/book"}`, `{"b": 1.0, "a":"x"}`, "POST", "/book", `{"b": 1.0, "a":"x"}`},
		{`http: {url: "%s/book"}`, ``, "POST", "/book", `{}`},
		{
			`http: {method: PUT, url: "%s/book", body: {city: "{{args.city}}", note: "to {{args.city}}", n: 1}}`,
			`{"city":"Oslo"}`, "PUT", "/book", `{"city":"Oslo","note":"to Oslo","n":1}`,
		},
		{
			`http: {method: GET, url: "%s/v1/{{args.city}}/days?u=c"}`,
			`{"city":"Møre & Romsdal","days":3,"tags":["a","b"],"gone":null,"o":{"k":1}}`, "GET",
			"/v1/M%C3%B8re%20&%20Romsdal/days?days=3&o=%7B%22k%22%3A1%7D&tags=a&tags=b&u=c", ``,
		},
		{`http: {method: GET, url: "%s", query: {q: "{{args.q}}", s: "is {{args.q}}", none: "{{args.gone}}", list: "{{args.l}}"}}`, `{"q":"x&y=z","l":[1,2],"extra":1}`, "GET", "/?list=1&list=2&q=x%26y%3Dz&s=is+x%26y%3Dz", ``},
		{
			`http: {method: DELETE, url: "%s/orders/{{args.orders[1].id}}", query: {}}`, `{"orders":[{"id":1},{"id":22}]}`,
			"DELETE", "/orders/22", ``,
		},
		{
			`http: {method: GET, url: "%s/a?key=${KEY}", headers: {X-Key: "${KEY}"}}`, `{}`, "GET",
			"/a?key=sk-live-77aa88bb%2299", ``,
		},
	} {
		var got sent
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = sent{r.Method, r.URL.String(), string(body), r.Header.Get("Content-Type"), r.Header.Get("X-Key")}
		}))
		w := liveOpen(t, "tools: {a: {read_only: true, "+fmt.Sprintf(tc.tool, srv.URL)+"}}")
		r := call(t, w, "A", tc.args)
		srv.Close()
		if got.Method != tc.method || got.URL != tc.url || got.Body != tc.body {
			t.Errorf("%s: %+v", tc.tool, got)
		}
		if (got.Body != "") != (got.Type == "application/json") {
			t.Errorf("%s: the type is %q", tc.tool, got.Type)
		}
		if strings.Contains(tc.tool, "X-Key") && got.Key != secretKey {
			t.Errorf("the header is %q", got.Key)
		}
		if r.Status != callvet.StatusOK || string(r.Result) != "null" ||
			!strings.HasPrefix(string(r.Env), "live http http://127.0.0.1:") || strings.Contains(string(r.Env), "?") {
			t.Errorf("%s: %+v", tc.tool, r)
		}
	}
}

// TestRetryAfterDate: when a server may be asked again, where it answers with a date: the seconds
// until it by the server's clock, or else by this machine's.
func TestRetryAfterDate(t *testing.T) {
	t.Parallel()
	const at = "Wed, 21 Oct 2026 07:28:30 GMT"
	now := time.Date(2026, 10, 21, 7, 28, 0, 500_000_000, time.UTC)
	for name, tc := range map[string]struct{ after, date, want string }{
		"by the server's clock":  {at, "Wed, 21 Oct 2026 07:28:10 GMT", "; retry after 20"},
		"by this clock":          {at, "", "; retry after 30"},
		"a clock that is wrong":  {at, "soon", "; retry after 30"},
		"a date that has passed": {at, "Wed, 21 Oct 2026 08:00:00 GMT", "; retry after 0"},
		"seconds":                {"7", "Wed, 21 Oct 2026 07:28:10 GMT", "; retry after 7"},
		"neither":                {"later", "", "; retry after later"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tc.after)
			w.Header()["Date"] = nil
			if tc.date != "" {
				w.Header().Set("Date", tc.date)
			}
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		f, err := world.ReadTools("f", []byte(`tools: {a: {read_only: true, http: {url: "`+srv.URL+`/x"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		tools, err := world.NewTools(f, world.ToolsConfig{Client: srv.Client(), Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		r, err := tools.World().Answer(t.Context(), callvet.Call{Tool: "a"})
		srv.Close()
		if want := "HTTP 429 Too Many Requests" + tc.want; err != nil || r.Error != want {
			t.Errorf("%s: %q, %v; want %q", name, r.Error, err, want)
		}
	}
}

// TestAnswers: what becomes of what a server answers.
func TestAnswers(t *testing.T) {
	t.Parallel()
	ok := func(result string) callvet.Reply {
		return callvet.Reply{Status: callvet.StatusOK, Result: json.RawMessage(result)}
	}
	no := func(text string) callvet.Reply { return callvet.Reply{Status: callvet.StatusExecErr, Error: text} }
	for _, tc := range []struct {
		status           int
		kind, more, body string
		want             callvet.Reply
		fault            callvet.FaultKind
	}{
		{200, "application/json; charset=utf-8", "", " {\"a\": [1.0, \"x\"]}\n", ok(`{"a":[1.0,"x"]}`), ""},
		{201, "application/problem+json", "", `5`, ok(`5`), ""},
		{204, "", "", "", ok(`null`), ""},
		{200, "text/plain", "", "<b>12 \"degrees\"", ok(`"<b>12 \"degrees\""`), ""},
		{200, "text/plain", "", "the key is " + secretKey, ok(`"the key is [REDACTED]"`), ""},
		{200, "application/json", "", `{"key":"sk-live-77aa88bb\"99"}`, ok(`{"key":"[REDACTED]"}`), ""},
		{200, "application/json", "", `{"a":1,"a":2}`, callvet.Reply{}, callvet.FaultMalformed},
		{200, "application/json", "", `{"a":`, callvet.Reply{}, callvet.FaultMalformed},
		{200, "image/png", "", "\x89PNG\xff", callvet.Reply{}, callvet.FaultMalformed},
		{200, "text/plain", "", strings.Repeat("x", 5000), callvet.Reply{}, callvet.FaultTooLarge},
		{404, "text/plain", "", "no such city", no("HTTP 404 Not Found: no such city"), ""},
		{401, "text/plain", "", "bad key " + secretKey, no("HTTP 401 Unauthorized: bad key [REDACTED]"), ""},
		{429, "text/plain", "Retry-After: 7", "", no("HTTP 429 Too Many Requests; retry after 7"), ""},
		{503, "", "", "", no("HTTP 503 Service Unavailable"), ""},
		{
			302, "", "Location: http://other.test/x", "",
			no("HTTP 302 Found: it leads to http://other.test, and is not followed"), "",
		},
		{
			307, "", "Location: /x", "",
			no("HTTP 307 Temporary Redirect: it leads to http://HOST, and is not followed"), "",
		},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if tc.kind != "" {
				w.Header().Set("Content-Type", tc.kind)
			}
			if name, value, ok := strings.Cut(tc.more, ": "); ok {
				w.Header().Set(name, value)
			}
			w.WriteHeader(tc.status)
			_, _ = io.WriteString(w, tc.body)
		}))
		w := liveOpen(t, `tools: {a: {read_only: true, max_bytes: 4096, version: "2 b", http: {url: "`+srv.URL+
			`/x", headers: {X-Key: "${KEY}"}}}}`)
		got, err := w.Answer(t.Context(), callvet.Call{Tool: "a"})
		host := strings.TrimPrefix(srv.URL, "http://")
		srv.Close()
		if tc.fault != "" {
			var f *callvet.Fault
			if !errors.As(err, &f) || f.Kind != tc.fault {
				t.Errorf("%d %s: %v, want %s", tc.status, tc.kind, err, tc.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d %s: %v", tc.status, tc.kind, err)
			continue
		}
		got.Latency, got.Error = 0, strings.ReplaceAll(got.Error, host, "HOST")
		tc.want.Env = callvet.Live("http", srv.URL+"/x 2_b")
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%d %s: %s", tc.status, tc.body, d)
		}
	}
}

// TestPathsAreNotLeft: an argument does not lead to another path of the server.
func TestPathsAreNotLeft(t *testing.T) {
	t.Parallel()
	reached := false
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer srv.Close()
	w := liveOpen(t, `tools: {a: {read_only: true, http: {method: GET, url: "`+srv.URL+`/v1/{{args.city}}/x"}}}`)
	for _, args := range []string{
		`{"city":".."}`, `{"city":"../admin"}`, `{"city":"a/b"}`, `{"city":"a\\b"}`,
		`{"city":""}`, `{"city":null}`, `{}`, ``, `[]`, `{"city":`,
	} {
		if r := call(t, w, "a", args); r.Status != callvet.StatusExecErr || reached {
			t.Errorf("%s: %+v, reached %v", args, r, reached)
		}
	}
}

// TestRedirects: a host may redirect a request to itself only; a call that writes is sent once.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var keys []string
	other := httptest.NewServer(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { keys = append(keys, r.Header.Get("X-Key")) }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		case "/away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "arrived")
		}
	}))
	defer srv.Close()
	for _, tc := range []struct{ method, path, want string }{
		{"GET", "/here", ""}, {"POST", "/here", "HTTP 307"}, {"GET", "/away", "HTTP 302"}, {"GET", "/loop", "HTTP 302"},
	} {
		w := liveOpen(t, `tools: {a: {read_only: true, http: {method: `+tc.method+`, url: "`+srv.URL+tc.path+
			`", headers: {X-Key: "${KEY}"}}}}`)
		if r := call(t, w, "a", `{}`); !strings.HasPrefix(r.Error, tc.want) ||
			(tc.want == "") != (string(r.Result) == `"arrived"`) {
			t.Errorf("%s %s: %+v", tc.method, tc.path, r)
		}
	}
	if len(keys) > 0 {
		t.Errorf("the other host got %q", keys)
	}
}

// TestCommand: a command keeps what a conversation left in it, sees the environment that it is
// given alone, and ends with its world.
func TestCommand(t *testing.T) {
	t.Parallel()
	text := `tools: {remember: {read_only: true, command: '` + os.Args[0] + `'}, recall: {read_only: true, command: '` +
		os.Args[0] + `'}, environment: {read_only: true, command: '` + os.Args[0] + `'}}`
	w := liveOpen(t, text, "LIVE_TOOL=honest", "LIVE_SEEN=seen")
	call(t, w, "remember", `{"text":"x"}`)
	r := call(t, w, "recall", `{}`)
	if want := (callvet.Reply{
		Status: callvet.StatusOK, Result: json.RawMessage(`"x"`),
		Env: callvet.Live("command", filepath.Base(os.Args[0])+" 1.5"),
	}); cmp.Diff(want, r) != "" {
		t.Error(cmp.Diff(want, r))
	}
	if r := call(t, w, "environment", `{}`); string(r.Result) != `",seen"` {
		t.Errorf("it sees %s", r.Result)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Answer(t.Context(), callvet.Call{Tool: "recall"}); !errors.Is(err, callvet.ErrUnavailable) {
		t.Errorf("a closed world: %v", err)
	}
}

// TestSecretsOfOthers: a known secret in the output of an MCP server or a command is not shown.
func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	yes := true
	want := liveAnswering(func(context.Context, callvet.Call) (callvet.Reply, error) {
		return callvet.Reply{
			Result: json.RawMessage(`{"token":"kestrel-5531","n":55310099}`),
			Error:  "with kestrel-5531", Note: "kestrel-5531",
		}, nil
	})
	f := &world.ToolsFile{
		Tools:   map[string]world.LiveTool{"a": {ReadOnly: &yes, MCP: "s"}},
		Servers: map[string]world.ToolServer{"s": {}},
	}
	tools, err := world.NewTools(f,
		world.ToolsConfig{
			Secrets: []string{"kestrel-5531", "55310099", "no"},
			Servers: map[string]func() callvet.World{"s": func() callvet.World { return want }},
		})
	if err != nil {
		t.Fatal(err)
	}
	r := call(t, tools.World(), "a", `{}`)
	if strings.Contains(r.Error+r.Note+string(r.Result), "5531") || !json.Valid(r.Result) {
		t.Errorf("%+v, %s", r, r.Result)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		`tools: {a: {read_only: true, command: no-such-command-of-anybody}}`:                  callvet.ErrNotFound,
		`tools: {a: {read_only: true, command: "' x"}}`:                                       callvet.ErrInvalid,
		`tools: {a: {read_only: true, http: {url: "https://x.y/", headers: {X: "${GONE}"}}}}`: callvet.ErrDenied,
		`tools: {a: {read_only: true, http: {url: "https://x.y/?a=${GONE}"}}}`:                callvet.ErrDenied,
		"tools: {a: {read_only: true, mcp: m}}\nservers: {m: {command: x}}":                   callvet.ErrInvalid,
	} {
		f, err := world.ReadTools("l.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = world.NewTools(f,
			world.ToolsConfig{
				Client:   &http.Client{Transport: &http.Transport{}},
				Variable: func(name string) (string, error) { return "", redact.EmptyVariable(name) },
			}); !errors.Is(err,
			want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCommandLies: no command that lies keeps a call from ending, or is believed.
func TestCommandLies(t *testing.T) {
	t.Parallel()
	for way, want := range map[string]string{
		"slow": "timeout", "late": "timeout", "endless": "too_large", "huge": "too_large", "invalid": "malformed",
		"duplicate": "malformed", "list": "malformed", "no id": "malformed",
		"wrong id": "malformed", "closes": "process", "dies": "process", "silent": "process", "odd error": "malformed",
		"blank": "null",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := liveOpen(t, `tools: {a: {read_only: true, timeout_ms: 20000, command: '`+os.Args[0]+
				`'}, b: {read_only: true, timeout_ms: 300, command: '`+os.Args[0]+`'}}`, "LIVE_TOOL="+way)
			tool := "a"
			if want == "timeout" {
				tool = "b"
			}
			r, err := w.Answer(t.Context(), callvet.Call{Tool: tool})
			if got := outcome(r, err); got != want {
				t.Errorf("%s: %s (%v), want %s", way, got, err, want)
			}
			if way == "dies" && !strings.Contains(err.Error(), "out of luck") {
				t.Errorf("its last words are not told: %v", err)
			}
			r, err = w.Answer(t.Context(), callvet.Call{Tool: tool})
			again := want
			if way == "late" {
				again = `"in time"`
				for n := 0; n < 20 && outcome(r, err) == "timeout"; n++ { // a busy machine is late, too
					r, err = w.Answer(t.Context(), callvet.Call{Tool: tool})
				}
			}
			if got := outcome(r, err); got != again {
				t.Errorf("%s, once more: %s (%v), want %s", way, got, err, again)
			}
		})
	}
}

// outcome is what a call came to, in a word.
func outcome(r callvet.Reply, err error) string {
	var f *callvet.Fault
	switch {
	case errors.As(err, &f):
		return string(f.Kind)
	case err != nil:
		return err.Error()
	case r.Status != callvet.StatusOK:
		return string(r.Status)
	}
	return string(r.Result)
}

// TestServerLies: no server that lies keeps a call from ending, or is believed.
func TestServerLies(t *testing.T) {
	t.Parallel()
	hijack := func(w http.ResponseWriter, text string) {
		c, b, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = b.WriteString(text)
		_ = b.Flush()
		_ = c.Close()
	}
	for way, lie := range map[string]struct {
		want string
		do   func(w http.ResponseWriter, r *http.Request)
	}{
		"slow": {"timeout", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		"slow drops": {"timeout", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}},
		"endless": {"too_large", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}},
		"100 MB": {"too_large", func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
					return
				}
			}
		}},
		"endless error": {"exec_error", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x ", 1<<16)); err != nil {
					return
				}
			}
		}},
		"invalid": {"malformed", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"a":}`)
		}},
		"closes": {"network", func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") }},
		"half a header": {
			"network",
			func(w http.ResponseWriter, _ *http.Request) { hijack(w, "HTTP/1.1 200 OK\r\nContent-Le") },
		},
		"half a body": {"network", func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"a\":")
		}},
		"no http": {"network", func(w http.ResponseWriter, _ *http.Request) { hijack(w, "220 smtp ready\r\n") }},
		"long headers": {"network", func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 12<<20)+"\r\n\r\n")
		}},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the client goes
				lie.do(w, r)
			}))
			t.Cleanup(srv.Close)
			t.Cleanup(srv.CloseClientConnections)
			timeout := "20000"
			if lie.want == "timeout" {
				timeout = "300"
			}
			w := liveOpen(t, `tools: {a: {read_only: true, timeout_ms: `+timeout+`, http: {url: "`+srv.URL+
				`/?key=${KEY}"}}}`)
			r, err := w.Answer(t.Context(), callvet.Call{Tool: "a"})
			if got := outcome(r, err); got != lie.want {
				t.Errorf("%s (%v), want %s", got, err, lie.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk-live") {
				t.Errorf("the error tells the key: %v", err)
			}
			if len(r.Error) > 4<<10 {
				t.Errorf("an error of %d bytes", len(r.Error))
			}
		})
	}
}

// TestLiveCanceled: a call ends with its context, and that is no answer.
func TestLiveCanceled(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(srv.Close)
	w := liveOpen(t, `tools: {a: {read_only: true, http: {url: "`+srv.URL+`"}}}`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	begun := time.Now()
	if r, err := w.Answer(ctx, callvet.Call{Tool: "a"}); !errors.Is(err, context.Canceled) ||
		time.Since(begun) > 10*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
}
