// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package modelproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

const chatAnswer = `{"id":"c1","choices":[{"message":{"role":"assistant","content":"<b>Grüße</b>"}}],"usage":{"total_tokens":1.0}}`

const streamAnswer = "data: {\"delta\":\"a\"}\n\ndata: {\"delta\":\"b\"}\n\ndata: [DONE]\n\n"

// provider is a server that counts its requests.
type provider struct {
	*httptest.Server
	asked  atomic.Int64
	header http.Header
	mu     sync.Mutex
}

func newProvider(t *testing.T, answer func(w http.ResponseWriter, body string, n int64)) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.header = r.Header.Clone()
		p.header.Set("Path", r.URL.RequestURI())
		p.mu.Unlock()
		answer(w, string(body), p.asked.Add(1))
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) saw(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.header.Get(name)
}

func chats(w http.ResponseWriter, body string, n int64) {
	if strings.Contains(body, `"stream":true`) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, streamAnswer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, chatAnswer)
}

// proxied starts a proxy before p, in a mode.
func proxied(t *testing.T, p *provider, folder string, change func(*Config)) (*Proxy, string) {
	t.Helper()
	cfg := Config{Mode: Record, Folder: folder}
	if p != nil {
		base, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Anthropic, cfg.HTTP = base, http.DefaultTransport
		cfg.OpenAI = base.JoinPath("v1")
	}
	if change != nil {
		change(&cfg)
	}
	proxy, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return proxy, s.URL
}

// post sends a request, and returns the status and the text, or the error.
func post(t *testing.T, address, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// files are the recordings of a folder by name.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "tape")
	p := newProvider(t, chats)
	proxy, at := proxied(t, p, folder, nil)
	requests := [][2]string{
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`},
		{"/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`},
		{"/v1/messages?beta=true", `{"model":"c","max_tokens":5}`},
		{"/v1/responses", `{"model":"m","input":"x"}`},
	}
	var first []string
	for _, q := range requests {
		status, text := post(t, at+q[0], q[1], "Authorization", "Bearer k-123", "Anthropic-Version", "2023-06-01")
		if status != 200 {
			t.Fatalf("%s: %d %s", q[0], status, text)
		}
		first = append(first, text)
	}
	if got := p.saw("Authorization"); got != "Bearer k-123" {
		t.Errorf("the provider saw the key %q", got)
	}
	if got := p.saw("Path"); got != "/v1/responses" {
		t.Errorf("the provider was asked at %s", got)
	}
	if diff := cmp.Diff(Counts{Recorded: 4, Recordings: 4}, proxy.Counts()); diff != "" {
		t.Error(diff)
	}
	for name, text := range files(t, folder) {
		if strings.Contains(text, "k-123") || strings.Contains(text, "\\u003c") {
			t.Errorf("%s: %s", name, text)
		}
	}
	proxy, at = proxied(t, nil, folder, func(c *Config) { c.Mode = Replay })
	for round := range 3 {
		for i, q := range requests {
			reordered := strings.Replace(q[1], `{"model":"m",`, `{ `, 1)
			if reordered != q[1] {
				reordered = strings.TrimSuffix(reordered, "}") + `, "model" : "m"}`
			}
			status, text := post(t, at+q[0], reordered, "Anthropic-Version", "2023-06-01")
			if status != 200 || text != first[i] {
				t.Errorf("round %d, %s: %d %q, recorded %q", round, q[0], status, text, first[i])
			}
		}
	}
	if diff := cmp.Diff(Counts{Replayed: 12, Recordings: 4}, proxy.Counts()); diff != "" {
		t.Error(diff)
	}
	if p.asked.Load() != 4 {
		t.Errorf("the provider was asked %d times", p.asked.Load())
	}
}

// TestMissNamesDifferences sends a request without a recording: the client gets an error that it
// does not retry, with the place that differs.
func TestMissNamesDifferences(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "tape")
	_, at := proxied(t, newProvider(t, chats), folder, nil)
	post(t, at+"/v1/chat/completions", `{"model":"m","temperature":0,"messages":[{"role":"user","content":"hi"}]}`)
	post(t, at+"/v1/messages", `{"model":"m"}`)
	var told []Answered
	proxy, at := proxied(t, nil, folder, func(c *Config) {
		c.Mode, c.Ignore = Replay, []string{"user"}
		c.OnAnswer = func(a Answered) { told = append(told, a) }
	})
	status, text := post(t, at+"/v1/chat/completions",
		`{"model":"m","temperature":0,"messages":[{"role":"user","content":"hello"}],"n":2,"user":"u"}`)
	for _, want := range []string{
		"no recording has this request",
		`messages[0].content: recorded \"hi\", asked \"hello\"`, "n: asked 2, not recorded", `"type":"callvet_proxy"`,
	} {
		if status != 404 || !strings.Contains(text, want) {
			t.Errorf("%d %s lacks %s", status, text, want)
		}
	}
	if strings.Contains(text, "user:") {
		t.Errorf("an ignored key is told: %s", text)
	}
	if status, text = post(t, at+"/v1/messages", `{"model":"m"}`, "Anthropic-Beta", "x"); status != 404 ||
		!strings.HasPrefix(text, `{"error":{"message":"callvet proxy model: no recording`) ||
		!strings.Contains(text, `header Anthropic-Beta: recorded \"\", asked \"x\"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, _ = post(t, at+"/v1/chat/completions",
		`{"model":"m","user":"z","temperature":0,"messages":[{"role":"user","content":"hi"}]}`); status != 200 {
		t.Errorf("a request that differs in an ignored key alone has status %d", status)
	}
	if c := proxy.Counts(); c.Missing != 2 || len(told) != 3 || c.Unused != 1 {
		t.Errorf("%+v %+v", c, told)
	}
}

// TestSameRequestAgain: several answers to the same request are replayed in their order.
func TestSameRequestAgain(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "tape")
	count := func(w http.ResponseWriter, _ string, n int64) { fmt.Fprintf(w, `{"n":%d}`, n) }
	p := newProvider(t, count)
	_, at := proxied(t, p, folder, nil)
	ask := func(want string) {
		t.Helper()
		if _, text := post(t, at+"/v1/embeddings", `{}`); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	ask(`{"n":1}`)
	ask(`{"n":2}`)
	_, at = proxied(t, nil, folder, func(c *Config) { c.Mode = Replay })
	for _, n := range []int{1, 2, 1, 2} {
		ask(fmt.Sprintf(`{"n":%d}`, n))
	}
	_, at = proxied(t, p, folder, nil) // continues after the end of the recording
	ask(`{"n":1}`)
	ask(`{"n":2}`)
	ask(`{"n":3}`)
	proxy, at := proxied(t, p, folder, func(c *Config) { c.Mode = Fresh })
	ask(`{"n":4}`)
	ask(`{"n":5}`)
	if diff := cmp.Diff(Counts{Recorded: 2, Recordings: 1}, proxy.Counts()); diff != "" {
		t.Error(diff)
	}
	for _, text := range files(t, folder) {
		if strings.Contains(text, `"n": 1`) || !strings.Contains(text, `"n": 4`) {
			t.Errorf("made anew: %s", text)
		}
	}
}

// TestWhatIsNotRecorded: answers that the next time may be others, streams that broke off, and a
// folder that cannot be written.
func TestWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, body string, n int64)
		status int
		want   Counts
	}{
		"rate limit":   {func(w http.ResponseWriter, _ string, _ int64) { w.WriteHeader(429) }, 429, Counts{Passed: 1}},
		"refused key":  {func(w http.ResponseWriter, _ string, _ int64) { w.WriteHeader(401) }, 401, Counts{Passed: 1}},
		"server error": {func(w http.ResponseWriter, _ string, _ int64) { w.WriteHeader(503) }, 503, Counts{Passed: 1}},
		"bad request": {
			func(w http.ResponseWriter, _ string, _ int64) { w.WriteHeader(400) }, 400,
			Counts{Recorded: 1, Recordings: 1},
		},
		"redirect": {func(w http.ResponseWriter, _ string, _ int64) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(302)
		}, 0, Counts{Passed: 1}},
		"cut": {func(w http.ResponseWriter, _ string, _ int64) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		}, 502, Counts{Failed: 1}},
		"cut stream": {func(w http.ResponseWriter, _ string, _ int64) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, streamAnswer)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 0, Counts{Failed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "tape")
			proxy, at := proxied(t, newProvider(t, c.answer), folder, nil)
			status, text := post(t, at+"/v1/chat/completions", `{}`)
			if status != c.status {
				t.Errorf("%d %s", status, text)
			}
			if diff := cmp.Diff(c.want, proxy.Counts()); diff != "" {
				t.Error(diff)
			}
			if got := len(files(t, folder)); got != c.want.Recorded {
				t.Errorf("%d files", got)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, chats)
	proxy, at := proxied(t, p, t.TempDir(), nil)
	proxy.cfg.Folder = filepath.Join(file, "below")
	for body, want := range map[string]int{`{}`: 500, `{"stream":true}`: 0} {
		if status, text := post(t, at+"/v1/chat/completions", body); status != want {
			t.Errorf("%s with a folder that cannot be: %d %s", body, status, text)
		}
	}
	if c := proxy.Counts(); c.Failed != 2 || c.Recorded != 0 {
		t.Errorf("%+v", c)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	proxy, at := proxied(t, newProvider(t, chats), t.TempDir(), nil)
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		status     int
	}{
		"elsewhere":  {"/admin", `{}`, nil, 404},
		"no JSON":    {"/v1/files", "a=b", nil, 400},
		"two":        {"/v1/files", "{} {}", nil, 400},
		"compressed": {"/v1/files", "{}", []string{"Content-Encoding", "gzip"}, 415},
		"web page":   {"/v1/files", "{}", []string{"Origin", "https://evil.example"}, 403},
		"upwards":    {"/v1/../files", "{}", nil, 400},
		"large":      {"/v1/files", `"` + strings.Repeat("a", maxRequest) + `"`, nil, 413},
	} {
		if status, text := post(t, at+c.path, c.body, c.headers...); status != c.status ||
			!strings.Contains(text, "callvet proxy model: ") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example:80"
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 403 {
		t.Errorf("a name that is not the proxy's: %d", resp.StatusCode)
	}
	if c := proxy.Counts(); c.Refused != 8 || c.Recorded != 0 {
		t.Errorf("%+v", c)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	p := newProvider(t,
		func(w http.ResponseWriter, _ string, _ int64) { _, _ = io.WriteString(w, `{"said":"hunter2"}`) })
	var told []Answered
	_, at := proxied(t, p, folder,
		func(c *Config) { c.Hide, c.OnAnswer = hide, func(a Answered) { told = append(told, a) } })
	if _, text := post(t, at+"/v1/chat/completions", `{"q":"hunter2"}`); text != `{"said":"hunter2"}` {
		t.Errorf("the client has %s", text)
	}
	for _, text := range files(t, folder) {
		if strings.Contains(text, "hunter2") {
			t.Error(text)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0].Text, "is hidden") {
		t.Errorf("%+v", told)
	}
	_, at = proxied(t, nil, folder, func(c *Config) { c.Mode, c.Hide = Replay, hide })
	if status, text := post(t, at+"/v1/chat/completions", `{"q":"hunter2"}`); status != 200 ||
		text != `{"said":"***"}` {
		t.Errorf("%d %s", status, text)
	}
}

// TestManyAtOnce records and replays from many clients.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	p := newProvider(t, func(w http.ResponseWriter, body string, _ int64) { _, _ = io.WriteString(w, body) })
	for _, mode := range []Mode{Record, Replay} {
		proxy, at := proxied(t, p, folder, func(c *Config) { c.Mode = mode })
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				body := fmt.Sprintf(`{"i":%d}`, i%20)
				if status, text := post(t, at+"/v1/chat/completions", body); status != 200 || text != body {
					t.Errorf("%s: %d %s", body, status, text)
				}
			})
		}
		all.Wait()
		if c := proxy.Counts(); c.Recordings != 20 || c.Recorded+c.Replayed != 60 || mode == Replay &&
			c.Replayed != 60 {
			t.Errorf("%s: %+v", mode, c)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	good := `{"format":"callvet model recording","version":1,"key":"k","request":{"method":"POST","path":"/v1/x"},"answers":[{"status":200,"body":{}}]}`
	for name, c := range map[string]struct{ text, want string }{
		"good": {good, ""},
		"cut":  {good[:30], "bad.json:1"},
		"other": {
			`{"format":"x","version":1,"key":"k","request":{"method":"POST","path":"/"},"answers":[]}`,
			`format is "x"`,
		},
		"newer":       {strings.Replace(good, `"version":1`, `"version":9`, 1), "version 9 is not read"},
		"no answers":  {strings.Replace(good, `{"status":200,"body":{}}`, "", 1), "answers is empty"},
		"no status":   {strings.Replace(good, "200", "20", 1), "answers[0].status"},
		"null":        {strings.Replace(good, `{"status":200,"body":{}}`, "null", 1), "answers[0]"},
		"two answers": {strings.Replace(good, `"body":{}`, `"body":{},"lines":[]`, 1), "one of the two"},
		"key":         {strings.Replace(good, `"key"`, `"kay"`, 1), "kay"},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "bad.json"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(Config{Mode: Replay, Folder: folder})
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "bad.json") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Config{Mode: Replay, Folder: filepath.Join(t.TempDir(), "none")}); !errors.Is(err,
		callvet.ErrNotFound) {
		t.Errorf("no folder: %v", err)
	}
}

// FuzzRecording reads any text as a file, and writes the result unchanged.
func FuzzRecording(f *testing.F) {
	f.Add(
		[]byte(
			`{"format":"callvet model recording","version":1,"key":"k","request":{"method":"POST","path":"/v1/x","body":{"a":[1.0,{}]}},"answers":[{"status":200,"body":{}},{"status":200,"type":"text/event-stream","lines":["data: 1",""]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decode("f", text)
		if err != nil {
			return
		}
		r.name = ""
		folder := t.TempDir()
		if err := r.save(context.Background(), folder); err != nil {
			t.Skip() // the key is no name of a file
		}
		again, err := load(folder)
		if err != nil || len(again) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		for _, b := range again {
			for i := range b.Answers {
				if !bytes.Equal(b.Answers[i].text(), r.Answers[i].text()) {
					t.Errorf("answer %d: %q, was %q", i, b.Answers[i].text(), r.Answers[i].text())
				}
			}
		}
		nearest(again, &request{Method: r.Request.Method, Path: r.Request.Path, Body: text}, nil)
	})
}
