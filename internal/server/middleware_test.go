// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
)

// logText is a log that tests read.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *logText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *logText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// bare is a server without users, as change makes it.
func bare(t *testing.T, change func(*api.Config)) (*api.Server, *account.Accounts, *logText) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	users, err := account.New(account.Config{
		Store: db, Secret: bytes.Repeat([]byte{7}, account.SecretSize),
		Cost: account.Cost{Memory: 8, Passes: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	log := &logText{}
	base := app.Config{Store: func(context.Context) (*store.DB, error) { return db, nil }}
	cfg := api.Config{
		App: app.New(base), Work: base, Store: db, Accounts: users,
		Log: slog.New(slog.NewJSONHandler(log, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return srv, users, log
}

// send answers a request without a network.
func send(srv *api.Server, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func post(path, body string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// TestLoginInABrowser: from the first link to a token, by requests as a browser sends them; no secret is
// in the log.
func TestLoginInABrowser(t *testing.T) {
	t.Parallel()
	srv, users, log := bare(t, nil)
	link, err := users.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const password = "correct horse battery"
	own := []string{"Origin", "http://localhost", "Sec-Fetch-Site", "same-origin"}
	res := send(srv, post("/api/session/claim", `{"link":"`+link+`","name":"Root","password":"`+password+`"}`, own...))
	if res.StatusCode != 200 || len(res.Cookies()) != 1 {
		t.Fatalf("%d %s", res.StatusCode, text(t, res))
	}
	c := res.Cookies()[0]
	if c.Name != api.SessionCookie || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure ||
		c.Path != "/" || c.MaxAge <= 0 {
		t.Errorf("%+v", c)
	}
	if body := text(t, res); !strings.Contains(body, `"name":"root"`) || strings.Contains(body, c.Value) {
		t.Errorf("%s", body)
	}
	r := post("/api/tokens", `{"name":"ci","scopes":["read","admin"]}`, own...)
	r.AddCookie(c)
	res = send(srv, r)
	var made struct{ Secret, ID string }
	if err := json.Unmarshal([]byte(text(t, res)), &made); err != nil || res.StatusCode != 201 ||
		!strings.HasPrefix(made.Secret, "cv_") {
		t.Fatalf("%d %+v %v", res.StatusCode, made, err)
	}
	r = httptest.NewRequest(http.MethodGet, "http://localhost/api/tokens?", nil)
	r.AddCookie(c)
	if body := text(t, send(srv, r)); strings.Contains(body, made.Secret) || !strings.Contains(body, made.ID) {
		t.Errorf("%s", body)
	}
	r = httptest.NewRequest(http.MethodGet, "http://localhost/api/users", nil)
	r.Header.Set("Authorization", "bearer "+made.Secret)
	if res := send(srv, r); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, text(t, res))
	}
	// A session ends with its logout, and a token too.
	r = httptest.NewRequest(http.MethodDelete, "http://localhost/api/session", nil)
	r.Header.Set("Authorization", "Bearer "+made.Secret)
	if res := send(srv, r); res.StatusCode != 204 {
		t.Errorf("%d %s", res.StatusCode, text(t, res))
	}
	if res := send(srv, r); res.StatusCode != 401 || !strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("%d", res.StatusCode)
	}
	r = httptest.NewRequest(http.MethodDelete, "http://localhost/api/session?token=SECRETS", nil)
	r.AddCookie(c)
	if res := send(srv, r); res.StatusCode != 422 { // a query that it does not have
		t.Errorf("%d", res.StatusCode)
	}
	r = httptest.NewRequest(http.MethodDelete, "http://localhost/api/session", nil)
	r.AddCookie(c)
	if res := send(srv, r); res.StatusCode != 204 || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("%d", res.StatusCode)
	}
	if res := send(srv, r); res.StatusCode != 401 {
		t.Errorf("%d", res.StatusCode)
	}
	for _, secret := range []string{link, password, c.Value, made.Secret, "SECRETS"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
	if !strings.Contains(log.String(), `"path":"/api/users"`) || !strings.Contains(log.String(), made.ID) {
		t.Errorf("requests are not logged: %s", log)
	}
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	srv, _, _ := bare(t, nil)
	codes := map[int]int{}
	for i := range 30 {
		res := send(srv, post("/api/session", `{"name":"root","password":"not it, not it"}`))
		codes[res.StatusCode]++
		if after, err := strconv.Atoi(res.Header.Get("Retry-After")); res.StatusCode == 429 &&
			(err != nil || after < 1) {
			t.Errorf("attempt %d: Retry-After %q", i, res.Header.Get("Retry-After"))
		}
		if body := text(t, res); !strings.Contains(res.Header.Get("Content-Type"), "application/problem+json") ||
			strings.Contains(body, "not it") {
			t.Errorf("%s: %s", res.Header.Get("Content-Type"), body)
		}
	}
	if codes[401] != 6 || codes[429] != 24 {
		t.Errorf("%v", codes)
	}
}

// TestOtherSites: requests that a page of another site makes a browser send change nothing.
func TestOtherSites(t *testing.T) {
	t.Parallel()
	public, err := url.Parse("https://eval.example")
	if err != nil {
		t.Fatal(err)
	}
	srv, _, _ := bare(t, func(c *api.Config) { c.URL = public })
	for _, c := range []struct {
		header []string
		denied bool
	}{
		{nil, false}, // a program
		{[]string{"Sec-Fetch-Site", "same-origin"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, true},
		{[]string{"Sec-Fetch-Site", "same-site"}, true},
		{[]string{"Origin", "http://localhost"}, false},
		{[]string{"Origin", "http://localhost:1"}, true},
		{[]string{"Origin", "https://evil.example"}, true},
		{[]string{"Origin", "null"}, true},
		{[]string{"Origin", "https://eval.example"}, false}, // of ours, behind a proxy
	} {
		res := send(srv, post("/api/session", `{"name":"x","password":"y"}`, c.header...))
		if denied := res.StatusCode == 403; denied != c.denied || !denied && res.StatusCode != 401 &&
			res.StatusCode != 429 {
			t.Errorf("%v: %d %s", c.header, res.StatusCode, text(t, res))
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	local, _, _ := bare(t, func(c *api.Config) { c.Local = true })
	named, _, _ := bare(t, func(c *api.Config) { c.Hosts = []string{"eval.example"} })
	open, _, _ := bare(t, nil)
	for _, c := range []struct {
		srv  *api.Server
		host string
		good bool
	}{
		{local, "localhost:8501", true},
		{local, "127.0.0.1", true},
		{local, "[::1]:1", true},
		{local, "LOCALHOST.", true},
		{local, "evil.example", false},
		{local, "10.0.0.1", false},
		{local, "", false},
		{named, "EVAL.example:443", true},
		{named, "localhost", false},
		{open, "anything", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/health", nil)
		r.Host = c.host
		if res := send(c.srv, r); (res.StatusCode == 200) != c.good || !c.good &&
			res.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%q: %d", c.host, res.StatusCode)
		}
	}
}

// TestHeaders: every answer has them, of whatever kind it is.
func TestHeaders(t *testing.T) {
	t.Parallel()
	srv, _, _ := bare(t, nil)
	for path, code := range map[string]int{
		"/api/health": 200, "/api/me": 401, "/api/nothing": 404, "/nothing": 404,
		"/api/openapi.json": 200,
	} {
		for _, secure := range []bool{false, true} {
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
			if secure {
				r.TLS = &tls.ConnectionState{}
			}
			h := send(srv, r).Header
			if res := send(srv, r); res.StatusCode != code {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
				"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
			} {
				if h.Get(name) != want {
					t.Errorf("%s: %s: %q", path, name, h.Get(name))
				}
			}
			if strings.HasPrefix(path, "/api/") && h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %q", path, h.Get("Cache-Control"))
			}
			if (h.Get("Strict-Transport-Security") != "") != secure {
				t.Errorf("%s, secure %v: %q", path, secure, h.Get("Strict-Transport-Security"))
			}
		}
	}
}

// TestPanic: a bug in a handler is an answer without details, and the server continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	srv, _, log := bare(t, func(c *api.Config) {
		c.Identify = func(_ http.ResponseWriter, r *http.Request) (*account.Principal, error) {
			if r.URL.Path == "/api/me" {
				panic("the inner secret of the handler")
			}
			return nil, api.ErrNoLogin
		}
	})
	res := send(srv, httptest.NewRequest(http.MethodGet, "http://localhost/api/me", nil))
	body := text(t, res)
	if res.StatusCode != 500 || strings.Contains(body, "inner") ||
		!strings.Contains(res.Header.Get("Content-Type"), "problem+json") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if !strings.Contains(log.String(), "inner secret") || !strings.Contains(log.String(), "TestPanic") ||
		!strings.Contains(log.String(), `"status":500`) {
		t.Errorf("the log does not tell it: %s", log)
	}
	if res := send(srv,
		httptest.NewRequest(http.MethodGet, "http://localhost/api/health", nil)); res.StatusCode != 200 {
		t.Errorf("%d", res.StatusCode)
	}
}

// TestAddress: only a trusted proxy sets the address of a request.
func TestAddress(t *testing.T) {
	t.Parallel()
	srv, _, log := bare(t, func(c *api.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	for i, c := range []struct{ remote, forwarded, want string }{
		{"192.0.2.7:1", "203.0.113.1", "192.0.2.7"},
		{"10.0.0.1:1", "203.0.113.1", "203.0.113.1"},
		{"10.0.0.1:1", "1.2.3.4, 203.0.113.2, 10.0.0.9", "203.0.113.2"},
		{"10.0.0.1:1", "1.2.3.4, nonsense", "10.0.0.1"},
		{"10.0.0.1:1", "", "10.0.0.1"},
		{"[::ffff:10.0.0.1]:1", "203.0.113.3", "203.0.113.3"},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/api/health", nil)
		r.RemoteAddr = c.remote
		r.Header.Set("X-Forwarded-For", c.forwarded)
		send(srv, r)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if !strings.Contains(lines[i], `"address":"`+c.want+`"`) {
			t.Errorf("%+v: %s", c, lines[i])
		}
	}
}
