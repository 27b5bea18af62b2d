// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/store"
)

// site is a server with three users, who send their names as tokens: ana and bo are members, root is
// an admin, vera a viewer.
type site struct {
	*httptest.Server
	srv *server.Server
	db  *store.DB
}

func people() map[string]*account.Principal {
	return map[string]*account.Principal{
		"ana":  {User: "user_ana", Name: "ana", Role: account.Member},
		"bo":   {User: "user_bo", Name: "bo", Role: account.Member},
		"root": {User: "user_root", Name: "root", Role: account.Admin},
		"vera": {User: "user_vera", Name: "vera", Role: account.Viewer},
	}
}

func newSite(t *testing.T) *site {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	a := app.New(app.Config{Store: func(context.Context) (*store.DB, error) { return db, nil }})
	users := people()
	srv, err := server.New(server.Config{App: a, Store: db, Version: "test", Identify: func(_ http.ResponseWriter, r *http.Request) (*account.Principal, error) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if p := users[token]; p != nil {
			return p, nil
		}
		return nil, server.ErrNoLogin
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(srv.Handler()), srv: srv, db: db}
	t.Cleanup(s.Close)
	return s
}

// ask sends a request as a user ("" as nobody) and gives the status and the body.
func (s *site) ask(t *testing.T, as, method, path, body string) (code int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if as != "" {
		req.Header.Set("Authorization", "Bearer "+as)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/api/health", "/api/v1/health", "/api/ready"} {
		if code, body := s.ask(t, "", "GET", path, ""); code != 200 || !strings.Contains(body, `"version":"test"`) {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
	var doc struct {
		OpenAPI string                     `json:"openapi"`
		Paths   map[string]json.RawMessage `json:"paths"`
	}
	code, body := s.ask(t, "", "GET", "/api/openapi.json", "")
	if err := json.Unmarshal([]byte(body), &doc); err != nil || code != 200 || !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Paths["/api/health"] == nil || doc.Paths["/api/v1/health"] != nil {
		t.Errorf("description: %d %v %.200s", code, err, body)
	}
}
