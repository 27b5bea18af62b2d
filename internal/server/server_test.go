// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// site is a server with four users. They log in with their names (tokens with all scopes of their
// roles): ana and bo are members, root is an admin, vera a viewer.
type site struct {
	*httptest.Server
	srv   *api.Server
	db    *store.DB
	users *account.Accounts
	app   *app.App
	made  int // objects, for their ids
}

func people() map[string]*account.Principal {
	return map[string]*account.Principal{
		"ana":  {User: "user_ana", Name: "ana", Role: account.Member},
		"bo":   {User: "user_bo", Name: "bo", Role: account.Member},
		"root": {User: "user_root", Name: "root", Role: account.Admin},
		"vera": {User: "user_vera", Name: "vera", Role: account.Viewer},
	}
}

// emptyStore is the file of a new store: to make its tables takes longer than most tests.
var emptyStore = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "callvet-store-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.db")
	db, err := store.Open(context.Background(), path, store.Options{})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		panic(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return b
})

func newSite(t *testing.T, change ...func(*api.Config)) *site {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, emptyStore(), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), path, store.Options{})
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
	for _, p := range people() {
		addPerson(t, db, p)
	}
	return serveSite(t, db, users, change...)
}

// restart is another server on the same store.
func (s *site) restart(t *testing.T, change ...func(*api.Config)) *site {
	t.Helper()
	return serveSite(t, s.db, s.users, change...)
}

func serveSite(t *testing.T, db *store.DB, users *account.Accounts, change ...func(*api.Config)) *site {
	t.Helper()
	base := app.Config{Store: func(context.Context) (*store.DB, error) { return db, nil }}
	a := app.New(base)
	cfg := api.Config{
		App: a, Work: base, Store: db, Version: "test", Accounts: users,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, f := range change {
		f(&cfg)
	}
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(srv.Handler()), srv: srv, db: db, users: users, app: a}
	t.Cleanup(s.Close)
	return s
}

// addPerson makes a user with a token of his name.
func addPerson(t *testing.T, db *store.DB, p *account.Principal) {
	t.Helper()
	hash := sha256.Sum256([]byte(account.TokenPrefix + p.Name))
	scopes := []string{}
	for _, s := range p.Role.Grants() {
		scopes = append(scopes, string(s))
	}
	now := time.Now()
	err := db.Change(t.Context(), "make user", func(q *rows.Queries) error {
		return errors.Join(
			q.AddUser(t.Context(), rows.AddUserParams{
				ID: p.User, Name: p.Name, Role: string(p.Role), MaxJobs: 2,
				Created: now.UnixMilli(),
			}),
			q.AddToken(t.Context(),
				rows.AddTokenParams{
					ID: "token_" + p.Name, Hash: hash[:], UserID: p.User, Name: "test",
					Scopes: strings.Join(scopes, " "), Created: now.UnixMilli(),
					Expires: now.Add(time.Hour).UnixMilli(),
				}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ask sends a request as a user ("": without a login) and returns the status and the body.
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
		req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+as)
	}
	res, err := s.Client().Do(req)
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
	if err := json.Unmarshal([]byte(body), &doc); err != nil || code != 200 || !strings.HasPrefix(doc.OpenAPI, "3.1") ||
		doc.Paths["/api/health"] == nil || doc.Paths["/api/v1/health"] != nil {
		t.Errorf("description: %d %v %.200s", code, err, body)
	}
}
