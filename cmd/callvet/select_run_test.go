// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// No key of a service is in the store, in whatever way it was given.
func TestSelectKeepsNoSecret(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("api_key") != "hunter22 &" {
			http.Error(w, "who are you? "+r.URL.RawQuery, http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"tools":["trains_secret_gold"]}`)
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"s.json": selectSuite})
	env := map[string]string{"API_KEY": "hunter22 &", "OTHER": "hunter23"}
	for _, args := range [][]string{
		{"select", "s.json", "--via", srv.URL + "?api_key=hunter22"},
		{"select", "s.json", "--via", srv.URL, "--header", "Authorization: Bearer hunter22"},
		{"run", "s.json", "-m", "retrieve:" + srv.URL + "?token=hunter22"},
		{"run", "s.json", "-m", srv.URL + "?token=hunter22"},
	} {
		if out := runApp(t, dir, nil, exitUsage, args...); !strings.Contains(out, "spelled out") || strings.Contains(out, "hunter22") {
			t.Errorf("callvet %v: %s", args, out)
		}
	}
	out := runApp(t, dir, env, exitOK, "select", "s.json", "--via", srv.URL+"?api_key=${API_KEY}", "--name", "own")
	out += runApp(t, dir, env, exitError, "select", "s.json", "--via", srv.URL+"?api_key=${OTHER}", "--retries", "0", "--name", "refused")
	out += runApp(t, dir, env, exitOK, "show", "own", "--json")
	if strings.Contains(out, "hunter2") || !strings.Contains(out, `'retrieve:`+srv.URL+`?api_key=${API_KEY}'`) {
		t.Error(out)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("hunter2")) {
			t.Errorf("%s holds the key", name)
		}
	}
}
