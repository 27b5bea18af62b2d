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

// TestReach: this machine is reached only if it is allowed, and neither by a name nor by a
// redirect.
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

// TestHostsOfKeys: a key goes to the hosts that it is for, in whatever part of a request it is.
func TestHostsOfKeys(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(s.Close)
	const key, short = "sk lent+0123/456789", "EMPTY"
	own := strings.TrimPrefix(s.URL, "http://")
	bearer := func(text string) http.Header { return http.Header{"Authorization": {"Bearer " + text}} }
	for _, c := range []struct {
		what   string
		keys   []app.HostKey
		path   string
		header http.Header
		body   string
		sent   bool
	}{
		{"a header", []app.HostKey{{Variable: "K", Value: key}}, "/", bearer(key), "", false},
		{
			"another header",
			[]app.HostKey{{Variable: "K", Value: key, Hosts: []string{"api.openai.com"}}},
			"/",
			http.Header{"X-A": {"a", key}},
			"", false,
		},
		{"the query", []app.HostKey{{Variable: "K", Value: key}}, "/?k=" + url.QueryEscape(key), nil, "", false},
		{"the path", []app.HostKey{{Variable: "K", Value: key}}, "/" + url.PathEscape(key), nil, "", false},
		{"the body", []app.HostKey{{Variable: "K", Value: key}}, "/", nil, `{"key": "` + key + `"}`, false},
		{
			"the body, as JSON has it",
			[]app.HostKey{{Variable: "K", Value: `sk"0123456789`}},
			"/", nil,
			`{"key": "sk\"0123456789"}`, false,
		},
		{
			"a key of the server",
			[]app.HostKey{{Value: key, Hosts: []string{"api.openai.com"}}},
			"/",
			bearer(key), "", false,
		},
		{
			"another port",
			[]app.HostKey{{Variable: "K", Value: key, Hosts: []string{"127.0.0.1"}}},
			"/",
			bearer(key), "", false,
		},
		{"a short one", []app.HostKey{{Variable: "K", Value: short}}, "/", bearer(short), "", false},
		{"its host", []app.HostKey{{Variable: "K", Value: key, Hosts: []string{own}}}, "/", bearer(key), "", true},
		{"its host, under another name", []app.HostKey{
			{Variable: "K", Value: key},
			{Variable: "L", Value: key, Hosts: []string{own}},
		}, "/", bearer(key), "", true},
		{"none in it", []app.HostKey{{Variable: "K", Value: key}}, "/", bearer("other"), "", true},
		{
			"a short one within a text",
			[]app.HostKey{{Variable: "K", Value: short}},
			"/EMPTYING", nil,
			`{"text": "EMPTY"}`, true,
		},
	} {
		asked = 0
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.header != nil {
			req.Header = c.header
		}
		res, err := app.Reach{Private: true, Keys: c.keys}.Client().Do(req)
		if res != nil {
			_ = res.Body.Close()
		}
		var denied *callvet.DeniedError
		if sent := err == nil && asked == 1; sent != c.sent || !c.sent &&
			(!errors.As(err, &denied) || strings.Contains(denied.Ruling.Detail, key) || asked > 0) {
			t.Errorf("%s: sent %v: %v", c.what, sent, err)
		}
	}
}

func TestKeyHosts(t *testing.T) {
	t.Parallel()
	hosts := app.KeyHosts(func(name string) string {
		return map[string]string{
			"AWS_REGION": "eu-north-1", "ANTHROPIC_BASE_URL": "https://proxy.example:8443",
			"OLLAMA_HOST": "gpu",
		}[name]
	})
	got := map[string][]string{}
	for _, name := range []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY", "OLLAMA_API_KEY",
		"AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_API_KEY", "CALLVET_COMPATIBLE_API_KEY",
	} {
		got[name] = slices.Sorted(slices.Values(hosts[name]))
	}
	want := map[string][]string{
		"OPENAI_API_KEY": {"api.openai.com"}, "ANTHROPIC_API_KEY": {"proxy.example:8443"},
		"COHERE_API_KEY": {"api.cohere.ai", "api.cohere.com"}, "OLLAMA_API_KEY": {"gpu:11434"},
		"AWS_BEARER_TOKEN_BEDROCK": {"bedrock-runtime.eu-north-1.amazonaws.com"}, "AZURE_OPENAI_API_KEY": nil,
		"CALLVET_COMPATIBLE_API_KEY": nil,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestNearKeys: a key without named hosts goes to private addresses that are allowed, and to no public one.
func TestNearKeys(t *testing.T) {
	t.Parallel()
	const key = "sk-near-0123456789"
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	send := func(r app.Reach, address string) error {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := r.Client().Do(req)
		if res != nil {
			_ = res.Body.Close()
		}
		return err
	}
	near := []app.HostKey{{Variable: "K", Value: key, Near: true}}
	for what, c := range map[string]struct {
		reach app.Reach
		sent  bool
	}{
		"private":         {app.Reach{Private: true, Keys: near}, true},
		"an allowed host": {app.Reach{Hosts: []string{"127.0.0.1"}, Keys: near}, true},
		"with other hosts": {app.Reach{
			Private: true,
			Keys:    []app.HostKey{{Variable: "K", Value: key, Hosts: []string{"a.example"}}},
		}, false},
		"private, none allowed": {app.Reach{Keys: near}, false},
	} {
		if err := send(c.reach, s.URL); (err == nil) != c.sent {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, public := range []string{"http://192.0.2.1:9/", "http://127.0.0.1.example.org/", "http://169.254.169.254/"} {
		var denied *callvet.DeniedError
		if err := send(app.Reach{Private: true, Keys: near}, public); !errors.As(err, &denied) ||
			denied.Ruling.Rule != "key-host" {
			t.Errorf("%s: %v", public, err)
		}
	}
}
