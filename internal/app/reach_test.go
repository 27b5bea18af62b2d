// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
)

// TestReach: this machine is reached where somebody allowed it, by no name and by no redirect.
func TestReach(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port := u.Port()
	for _, c := range []struct {
		what  string
		reach app.Reach
		host  string
		good  bool
	}{
		{"by default", app.Reach{}, "127.0.0.1", false},
		{"by name", app.Reach{}, "localhost", false},
		{"mapped", app.Reach{}, "[::ffff:127.0.0.1]", false},
		{"no address", app.Reach{}, "0.0.0.0", false},
		{"all are allowed", app.Reach{Private: true}, "127.0.0.1", true},
		{"the address is named", app.Reach{Hosts: []string{"127.0.0.1"}}, "127.0.0.1", true},
		{"in another form", app.Reach{Hosts: []string{"127.0.0.1"}}, "[::ffff:127.0.0.1]", true},
		{"the name is named", app.Reach{Hosts: []string{"localhost"}}, "LOCALHOST", true},
		{"another name", app.Reach{Hosts: []string{"localhost"}}, "127.0.0.1", false},
		{"credentials of clouds", app.Reach{Private: true}, "169.254.169.254", false},
		{"mapped credentials", app.Reach{Private: true}, "[::ffff:169.254.169.254]", false},
	} {
		before := asked
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.host+":"+port+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.reach.Client().Do(req)
		if res != nil {
			_ = res.Body.Close()
		}
		if (err == nil) != c.good || (asked > before) != c.good || err != nil && !errors.Is(err, callvet.ErrDenied) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	res, err := app.Reach{Private: true}.Client().Get(s.URL + "/away")
	if err != nil || res.StatusCode != http.StatusFound {
		t.Errorf("a redirect was followed: %v", err)
	}
	if res != nil {
		_ = res.Body.Close()
	}
}

// TestLent: a value goes to the hosts that it is for, in whatever part of a request it is.
func TestLent(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(s.Close)
	const key = "sk lent+0123/456789"
	ask := func(lent []string, path string, header http.Header) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = header
		res, err := app.Reach{Private: true, Lent: map[string][]string{key: lent}}.Client().Do(req)
		if res != nil {
			_ = res.Body.Close()
		}
		return err
	}
	own := strings.TrimPrefix(s.URL, "http://")
	with := http.Header{"Authorization": {"Bearer " + key}}
	for what, err := range map[string]error{
		"a header":       ask(nil, "/", with),
		"another header": ask([]string{"api.openai.com"}, "/", http.Header{"X-A": {"a", key}}),
		"the query":      ask(nil, "/?k="+url.QueryEscape(key), nil),
		"the path":       ask(nil, "/"+url.PathEscape(key), nil),
	} {
		var denied *callvet.DeniedError
		if !errors.As(err, &denied) || strings.Contains(err.Error(), "Bearer") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests were sent", asked)
	}
	for what, err := range map[string]error{"its host": ask([]string{own}, "/", with), "none in it": ask(nil, "/", http.Header{"Authorization": {"Bearer other"}})} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestKeyHosts(t *testing.T) {
	t.Parallel()
	hosts := app.KeyHosts(func(name string) string {
		return map[string]string{"AWS_REGION": "eu-north-1", "ANTHROPIC_BASE_URL": "https://proxy.example:8443", "OLLAMA_HOST": "gpu"}[name]
	})
	got := map[string][]string{}
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY", "OLLAMA_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_API_KEY", "CALLVET_COMPATIBLE_API_KEY"} {
		got[name] = slices.Sorted(slices.Values(hosts[name]))
	}
	want := map[string][]string{
		"OPENAI_API_KEY": {"api.openai.com"}, "ANTHROPIC_API_KEY": {"proxy.example:8443"}, "COHERE_API_KEY": {"api.cohere.ai", "api.cohere.com"}, "OLLAMA_API_KEY": {"gpu:11434"},
		"AWS_BEARER_TOKEN_BEDROCK": {"bedrock-runtime.eu-north-1.amazonaws.com"}, "AZURE_OPENAI_API_KEY": nil, "CALLVET_COMPATIBLE_API_KEY": nil,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
