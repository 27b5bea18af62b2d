// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/callvet/callvet/internal/server/api"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
)

// TestAppOf: each user has a separate App, which is made again when its permissions change.
func TestAppOf(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx := t.Context()
	of := func(user string) *app.App {
		t.Helper()
		a, err := s.srv.AppOf(ctx, user)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ana, bo := of("user_ana"), of("user_bo")
	if ana == bo || of("user_ana") != ana {
		t.Error("an App is of one user, and stays")
	}
	const key = "sk-0123456789abcdef-wxyz"
	if _, err := s.users.SetProviderKey(ctx, people()["ana"], "HF_TOKEN",
		account.Kept{Value: key, Hosts: []string{"router.huggingface.co"}}); err != nil {
		t.Fatal(err)
	}
	now := of("user_ana")
	if now == ana || of("user_bo") != bo {
		t.Error("a key changes the App of its user alone")
	}
	if !slices.Contains(now.Secrets().Values(), key) || slices.Contains(bo.Secrets().Values(), key) {
		t.Error("a key is hidden in the work of its user, and known in nobody else's")
	}
	if _, err := s.users.SetSettings(ctx, people()["root"], account.Settings{Private: true}); err != nil {
		t.Fatal(err)
	}
	if of("user_bo") == bo || of("user_ana") == now {
		t.Error("settings change all Apps")
	}
	if err := s.users.Remove(ctx, people()["root"], "user_bo"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.srv.AppOf(ctx, "user_bo"); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("a removed user: %v", err)
	}
	if slices.ContainsFunc(now.Targets(), func(f string) bool { return f == "exec:COMMAND" || f == "script:FILE" }) {
		t.Errorf("commands and files are allowed: %v", now.Targets())
	}
}

// TestWorkReachesNothingPrivate: requests of a user do not reach this machine before an admin
// allows it.
func TestWorkReachesNothingPrivate(t *testing.T) {
	t.Parallel()
	asked := 0
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(inner.Close)
	s := newSite(t)
	try := func() {
		t.Helper()
		a, err := s.srv.AppOf(t.Context(), "user_ana")
		if err != nil {
			t.Fatal(err)
		}
		_, err = catalogs.ImportMCP(t.Context(), a,
			catalogs.ImportMCPRequest{MCPServer: app.MCPServer{URL: inner.URL + "/mcp"}}, nil)
		if err == nil {
			t.Error("a teapot is an MCP server")
		}
	}
	if try(); asked > 0 {
		t.Errorf("%d requests reached this machine", asked)
	}
	if _, err := s.users.SetSettings(t.Context(), people()["root"],
		account.Settings{Hosts: []string{"127.0.0.1"}}); err != nil {
		t.Fatal(err)
	}
	if try(); asked == 0 {
		t.Error("an admin allowed it, and nothing was asked")
	}
}

// TestSecretsOfTheServer: nothing of its environment is a user's, until keys of providers are lent.
func TestSecretsOfTheServer(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"OPENAI_API_KEY": "sk-server-0123456789", "CALLVET_SECRET_KEY": "never",
		"DATABASE_PASSWORD": "never", "HOME": "/root",
	}
	mine := map[string]string{"HF_TOKEN": "mine"}
	getenv := func(name string) string { return env[name] }
	for _, c := range []struct {
		allowed account.Allowed
		want    map[string]string
	}{
		{account.Allowed{}, map[string]string{"HF_TOKEN": "mine"}},
		{
			account.Allowed{ServerKeys: true, Private: true, Commands: true, Files: true},
			map[string]string{"HF_TOKEN": "mine", "OPENAI_API_KEY": "sk-server-0123456789"},
		},
	} {
		look := api.Environment(mine, getenv, c.allowed)
		for _, name := range []string{"OPENAI_API_KEY", "CALLVET_SECRET_KEY", "DATABASE_PASSWORD", "HOME", "HF_TOKEN"} {
			if got := look(name); got != c.want[name] {
				t.Errorf("%+v: %s: %q", c.allowed, name, got)
			}
		}
	}
	got := api.Visible([]string{
		"PATH=/bin", "OPENAI_API_KEY=sk-server-0123456789", "CALLVET_DB=x",
		"CALLVET_SECRET_KEY=never", "DATABASE_PASSWORD=never",
	}, mine)
	if !slices.Equal(got, []string{"PATH=/bin", "HF_TOKEN=mine"}) {
		t.Errorf("%q", got)
	}
}
