// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
)

const key = "sk-secret-0123456789"

// server answers with what answer gives, and keeps what it was sent.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body []byte)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.sent = append(s.sent, fmt.Sprintf("%s %s\n%s\n", r.Method, r.URL.Path, body))
		s.mu.Unlock()
		answer(w, r, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func answering(t *testing.T, body string) *server {
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = io.WriteString(w, body) })
}

func open(t *testing.T, spec string, change func(*provider.EmbedConfig)) *provider.Embedder {
	t.Helper()
	cfg := provider.EmbedConfig{APIKey: key, Wait: func(context.Context, time.Duration) error { return nil }}
	if change != nil {
		change(&cfg)
	}
	e, err := provider.OpenEmbedder(spec, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func packed(xs ...float32) string {
	var b []byte
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func golden(t *testing.T, name string, got []string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	text := strings.Join(got, "")
	if *provider.Update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), text); d != "" {
		t.Error(d)
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, spec, answer string
		dimensions, tokens int
	}{
		{
			"openai", "openai:embed-1@%s",
			`{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{"total_tokens":7}}`, 2, 7,
		},
		{"openai-base64", "openai:embed-1@%s/v1", `{"data":[{"index":0,"embedding":"` + packed(3, 4) +
			`"},{"index":1,"embedding":"` + packed(0, 2) + `"}],"usage":{"total_tokens":7}}`, 0, 7},
		{"openai-no-index", "openai:embed-1@%s/api/v3", `{"data":[{"embedding":[3,4]},{"embedding":[0,1]}]}`, 0, 0},
		{"ollama", "ollama:nomic-embed-text:v1.5@%s", `{"embeddings":[[3,4],[0,9]],"prompt_eval_count":5}`, 0, 5},
		{"tei", "tei:%s", `[[3,4],[0,1]]`, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, c.answer)
			e := open(t, fmt.Sprintf(c.spec, s.URL), func(cfg *provider.EmbedConfig) { cfg.Dimensions = c.dimensions })
			vs, err := e.Embed(t.Context(), []string{"väder & vind", "", "trafik"})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([][]float32{{0.6, 0.8}, {0, 0}, {0, 1}}, vs); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(provider.EmbedUsage{Requests: 1, Texts: 2, Tokens: c.tokens}, e.Usage()); d != "" {
				t.Error(d)
			}
			golden(t, c.name, s.sent)
		})
	}
}

func TestRerank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, spec, answer string }{
		{
			"cohere", "cohere:rerank-1@%s",
			`{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.25}],"meta":{"billed_units":{"search_units":1}}}`,
		},
		{
			"jina", "jina:rerank-1@%s",
			`{"results":[{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.25},{"index":2,"relevance_score":0.9}],"usage":{"total_tokens":9}}`,
		},
		{"tei-rerank", "tei:%s", `[{"index":2,"score":0.9},{"index":0,"score":0.5},{"index":1,"score":0.25}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, c.answer)
			r, err := provider.OpenReranker(fmt.Sprintf(c.spec, s.URL), provider.EmbedConfig{APIKey: key})
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Rerank(t.Context(), "regnar det?", []string{"väder", "trafik", "regn"})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 3 || float32(got[0]) != 0.5 || float32(got[1]) != 0.25 || float32(got[2]) != 0.9 {
				t.Errorf("scores %v", got)
			}
			golden(t, c.name, s.sent)
			if got, err := r.Rerank(t.Context(), "regnar det?", nil); len(got) != 0 || err != nil {
				t.Errorf("no texts: %v, %v", got, err)
			}
		})
	}
}

// TestLies: what cannot be true is an error that names the server.
func TestLies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, answer, want string }{
		{"openai:m@", `{"data":[{"index":0,"embedding":[1,2]}]}`, "1 of 2 texts"},
		{"openai:m@", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "twice about text 0"},
		{"openai:m@", `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`, "about text 7 of 2"},
		{"openai:m@", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`, "3 numbers, want 2"},
		{"openai:m@", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[]}]}`, "nothing for text 1"},
		{"openai:m@", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[0,0]}]}`, "all zeros"},
		{
			"openai:m@", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[NaN,2]}]}`,
			"not what it should be",
		},
		{
			"openai:m@", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1e99,2]}]}`,
			"not what it should be",
		},
		{"openai:m@", `{"data":[{"index":0,"embedding":"` + packed(1, 2) + `"},{"index":1,"embedding":"` +
			packed(1, float32(math.NaN())) + `"}]}`, "not finite"},
		{"openai:m@", `{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}`, "no multiple of 4"},
		{
			"openai:m@", `{"error":{"message":"model m is loading, Bearer ` + key + `"}}`,
			"model m is loading, Bearer [redacted]",
		},
		{"openai:m@", `<!DOCTYPE html><html><body>Sign in to continue</body></html>`, "a web page, no JSON"},
		{"openai:m@", "", "empty"},
		{"openai:m@", `{"data":[`, "not what it should be"},
		{"ollama:m@", `{"embeddings":[[1,2]]}`, "1 vectors for 2 texts"},
		{"ollama:m@", `{"embeddings":[[1,2],[1]]}`, "1 numbers, want 2"},
		{"tei:", `[[1,2],[3,4],[5,6]]`, "3 vectors for 2 texts"},
		{"tei:", `[[1,null],[0,0]]`, "all zeros"},
		{"tei:", `{"error":"overloaded"}`, "overloaded"},
	} {
		s := answering(t, c.answer)
		_, err := open(t, c.spec+s.URL, nil).Embed(t.Context(), []string{"a", "b"})
		wants(t, c.answer, err, callvet.ErrInvalid, s, c.want)
	}
	for _, c := range []struct{ spec, answer, want string }{
		{"cohere:m@", `{"results":[{"index":0,"relevance_score":1}]}`, "1 of 2 texts"},
		{"cohere:m@", `{"results":[{"index":0,"relevance_score":1},{"index":1}]}`, "no index or no score"},
		{"cohere:m@", `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`, "twice"},
		{"tei:", `[{"index":0,"score":1},{"index":2,"score":1}]`, "text 2 of 2"},
		{"tei:", `<html>`, "a web page"},
	} {
		s := answering(t, c.answer)
		r, err := provider.OpenReranker(c.spec+s.URL, provider.EmbedConfig{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Rerank(t.Context(), "q", []string{"a", "b"})
		wants(t, c.answer, err, callvet.ErrInvalid, s, c.want)
	}
}

func wants(t *testing.T, what string, err, kind error, s *server, say string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(fmt.Sprint(err), say) ||
		!strings.Contains(fmt.Sprint(err), strings.TrimPrefix(s.URL, "http://")) ||
		strings.Contains(fmt.Sprint(err), key) {
		t.Errorf("%s: error %v, want %v that names the server and says %q", what, err, kind, say)
	}
}

func TestAnotherWidthLater(t *testing.T) {
	t.Parallel()
	answers := []string{`[[1,2]]`, `[[1,2,3]]`}
	n := 0
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { _, _ = io.WriteString(w, answers[n]); n++ })
	e := open(t, "tei:"+s.URL, nil)
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	_, err := e.Embed(t.Context(), []string{"b"})
	wants(t, "another width", err, callvet.ErrInvalid, s, "3 numbers, want 2")

	s = answering(t, `{"data":[{"index":0,"embedding":[1,2]}]}`)
	_, err = open(t, "openai:m@"+s.URL, func(c *provider.EmbedConfig) { c.Dimensions = 3 }).Embed(t.Context(),
		[]string{"a"})
	wants(t, "other dimensions than asked for", err, callvet.ErrInvalid, s, "2 numbers, want 3")
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, tries int
		body          string
		kind          error
	}{
		{http.StatusTooManyRequests, 3, `{"error":{"message":"slow down"}}`, callvet.ErrUnavailable},
		{
			http.StatusTooManyRequests, 1, `{"error":{"message":"slow down, pay","code":"insufficient_quota"}}`,
			callvet.ErrUnavailable,
		},
		{http.StatusBadGateway, 3, "<html>slow down</html>", callvet.ErrUnavailable},
		{http.StatusUnauthorized, 1, `{"error":"slow down: Bearer ` + key + `"}`, callvet.ErrDenied},
		{http.StatusNotFound, 1, `{"error":"slow down, no such model"}`, callvet.ErrNotFound},
		{http.StatusBadRequest, 1, `{"message":"slow down"}`, callvet.ErrInvalid},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { http.Error(w, c.body, c.status) })
		_, err := open(t, "openai:m@"+s.URL, func(cfg *provider.EmbedConfig) { cfg.Retries = 2 }).Embed(t.Context(),
			[]string{"a"})
		wants(t, fmt.Sprint(c.status), err, c.kind, s, "slow down")
		if len(s.sent) != c.tries {
			t.Errorf("HTTP %d: asked %d times, want %d", c.status, len(s.sent), c.tries)
		}
	}
}

// TestWaits: a busy server is asked again, after the time in its answer or longer and longer ones.
func TestWaits(t *testing.T) {
	t.Parallel()
	n := 0
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n++; n == 2 {
			w.Header().Set("Retry-After", "7")
		}
		if n < 5 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "[[1]]")
	})
	var waits []time.Duration
	e := open(t, "tei:"+s.URL, func(c *provider.EmbedConfig) {
		c.Wait = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	})
	if _, err := e.Embed(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{
		500 * time.Millisecond, 7 * time.Second, 2 * time.Second,
		4 * time.Second,
	}; !slices.Equal(waits, want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
}

// echo gives each text t-N the vector (1, N), in batches of at most most.
func echo(most int) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, _ *http.Request, body []byte) {
		var r struct{ Inputs []string }
		if err := json.Unmarshal(body, &r); err != nil || len(r.Inputs) > most {
			http.Error(w, "batch too large", http.StatusRequestEntityTooLarge)
			return
		}
		vs := make([][2]int, len(r.Inputs))
		for i, s := range r.Inputs {
			vs[i][0] = 1
			_, _ = fmt.Sscanf(s, "t-%d", &vs[i][1])
		}
		_ = json.NewEncoder(w).Encode(vs)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = fmt.Sprintf("t-%d", i)
	}
	for most, requests := range map[int]int{32: 4, 16: 4 + 2*3} { // of 32, 32, 32 and 4
		s := serve(t, echo(most))
		e := open(t, "tei:"+s.URL, nil)
		vs, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vs {
			if got := float64(v[1] / v[0]); math.Abs(got-float64(i)) > 1e-3 {
				t.Errorf("text %d has the vector of %v", i, got)
			}
		}
		if len(s.sent) != requests {
			t.Errorf("%d requests for batches of %d, want %d", len(s.sent), most, requests)
		}
	}
	s := serve(t, echo(0))
	_, err := open(t, "tei:"+s.URL, nil).Embed(t.Context(), texts[:1])
	wants(t, "one text is too large", err, callvet.ErrInvalid, s, "batch too large")
}

func TestLimitsAndContext(t *testing.T) {
	t.Parallel()
	s := answering(t, "[["+strings.Repeat("1,", 4000)+"1]]")
	_, err := open(t, "tei:"+s.URL, func(c *provider.EmbedConfig) { c.MaxBody = 1000 }).Embed(t.Context(),
		[]string{"a"})
	wants(t, "a large answer", err, callvet.ErrLimited, s, "larger than 1000 bytes")

	stop := make(chan struct{})
	slow := serve(t, func(_ http.ResponseWriter, r *http.Request, _ []byte) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	})
	defer close(stop)
	_, err = open(t, "tei:"+slow.URL,
		func(c *provider.EmbedConfig) { c.Timeout, c.Retries = time.Millisecond, -1 }).Embed(t.Context(), []string{"a"})
	wants(t, "a slow server", err, callvet.ErrUnavailable, slow, "no answer within 1ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, "tei:"+slow.URL, nil).Embed(ctx, []string{"a", "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	gone := answering(t, "")
	gone.Close()
	_, err = open(t, "tei:"+gone.URL, nil).Embed(t.Context(), []string{"a"})
	wants(t, "no server", err, callvet.ErrUnavailable, gone, "connect")
	moved := serve(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		http.Redirect(w, r, "http://elsewhere.example/embed", http.StatusPermanentRedirect)
	})
	_, err = open(t, "tei:"+moved.URL, nil).Embed(t.Context(), []string{"a"})
	wants(t, "a redirect", err, callvet.ErrInvalid, moved, "it points to http://elsewhere.example/embed")
}

func TestBlank(t *testing.T) {
	t.Parallel()
	s := answering(t, `[[1,2]]`)
	e := open(t, "tei:"+s.URL, nil)
	for range 2 {
		vs, err := e.Embed(t.Context(), []string{" "})
		if err != nil || len(vs) != 1 || !slices.Equal(vs[0], []float32{0, 0}) {
			t.Errorf("a blank text gives %v, %v", vs, err)
		}
	}
	if vs, err := e.Embed(t.Context(), nil); len(vs) != 0 || err != nil || len(s.sent) != 1 {
		t.Errorf("no texts give %v, %v after %d requests", vs, err, len(s.sent))
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	env := func(name string) string {
		return map[string]string{"OLLAMA_HOST": "0.0.0.0", "OPENAI_API_KEY": key}[name]
	}
	for spec, want := range map[string]string{
		"openai:text-embedding-3-small":                 "openai/text-embedding-3-small@api.openai.com/v1",
		"openai:org/m@at:1@http://localhost:8000":       "openai/org/m@at:1@localhost:8000/v1",
		"openai:m@https://h.example/x/v2/":              "openai/m@h.example/x/v2",
		"ollama:nomic-embed-text:v1.5":                  "ollama/nomic-embed-text:v1.5@127.0.0.1:11434",
		"tei:http://h.example:80":                       "tei/model@h.example:80",
		"tei:intfloat/multilingual-e5@http://h.example": "tei/intfloat/multilingual-e5@h.example",
	} {
		e, err := provider.OpenEmbedder(spec, provider.EmbedConfig{Getenv: env})
		if err != nil || e.Model() != want {
			t.Errorf("%s: %v, model %v, want %s", spec, err, e, want)
		}
	}
	e, err := provider.OpenEmbedder("openai:m", provider.EmbedConfig{APIKey: key, Dimensions: 256})
	if err != nil || e.Model() != "openai/m@api.openai.com/v1/256" {
		t.Errorf("with dimensions: %v, %v", e, err)
	}
	for spec, want := range map[string]error{
		"openai:m": callvet.ErrDenied, "openai:": callvet.ErrInvalid, "nobody:m": callvet.ErrNotFound,
		"": callvet.ErrNotFound, "tei:": callvet.ErrInvalid, "tei:m": callvet.ErrInvalid,
		"tei:http://user:letmein@h.example": callvet.ErrInvalid, "tei:http://h.example?key=1": callvet.ErrInvalid,
		"ollama:m@ftp://h": callvet.ErrInvalid, "openai:m@http://": callvet.ErrInvalid, "cohere:m": callvet.ErrNotFound,
	} {
		if _, err := provider.OpenEmbedder(spec, provider.EmbedConfig{}); !errors.Is(err, want) ||
			strings.Contains(fmt.Sprint(err), "letmein") {
			t.Errorf("%q: %v, want %v", spec, err, want)
		}
	}
	if _, err := provider.OpenReranker("cohere:m", provider.EmbedConfig{}); !errors.Is(err, callvet.ErrDenied) {
		t.Errorf("a reranker without a key: %v", err)
	}
}
