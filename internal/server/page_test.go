// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/callvet/callvet/internal/server/api"
)

// opened requests a path as a browser does, logged in or not.
func (s *site) opened(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
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
	return res, string(b)
}

func TestPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *api.Config) {
		c.Page = fstest.MapFS{
			"index.html":       {Data: []byte(`<meta name="csp-nonce" content="{{nonce}}">the page`)},
			"icon.svg":         {Data: []byte(`<svg/>`)},
			"assets/a-1234.js": {Data: []byte(`console.log(1)`)},
		}
	})
	for _, c := range []struct {
		path, kind, body, cache string
		code                    int
	}{
		{"/", "text/html", "the page", "no-store", 200},
		{"/runs/abc?verdict=fail", "text/html", "the page", "no-store", 200},
		{"/runs/a.b", "text/html", "the page", "no-store", 200}, // a dot in an id is no file
		{"/index.html", "text/html", "the page", "no-store", 200},
		{"/assets/../runs", "text/html", "the page", "no-store", 200},
		{"/icon.svg", "image/svg+xml", "<svg/>", "public, max-age=3600", 200},
		{"/assets/a-1234.js", "text/javascript", "console.log", "public, max-age=31536000, immutable", 200},
		{"/assets/gone-9.js", "text/plain", "404", "", 404},
		{"/assets", "text/html", "the page", "no-store", 200}, // a folder is not listed
		{"/api/nothing", "application/problem+json", "no such route", "no-store", 404},
		{"/v1/nothing", "application/problem+json", "no such route", "", 404},
	} {
		res, body := s.opened(t, c.path)
		if res.StatusCode != c.code || !strings.HasPrefix(res.Header.Get("Content-Type"), c.kind) ||
			!strings.Contains(body, c.body) || res.Header.Get("Cache-Control") != c.cache {
			t.Errorf("GET %s: %d %q %q %.80q", c.path, res.StatusCode, res.Header.Get("Content-Type"),
				res.Header.Get("Cache-Control"), body)
		}
	}
	if code, _ := s.ask(t, "ana", "POST", "/runs", "{}"); code != 405 && code != 404 {
		t.Errorf("POST /runs: %d", code)
	}
}

// TestPageNonce holds the nonce of the policy to the one in the page, new with each answer, and the
// policy to files of the server alone.
func TestPageNonce(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *api.Config) {
		c.Page = fstest.MapFS{"index.html": {Data: []byte(`<meta name="csp-nonce" content="{{nonce}}">`)}}
	})
	mark := regexp.MustCompile(`content="([^"{}]{16,})"`)
	seen := map[string]bool{}
	for range 3 {
		res, body := s.opened(t, "/")
		m := mark.FindStringSubmatch(body)
		policy := res.Header.Get("Content-Security-Policy")
		if m == nil || !strings.Contains(policy, "style-src 'self' 'nonce-"+m[1]+"'") ||
			!strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Fatalf("page %q with policy %q", body, policy)
		}
		seen[m[1]] = true
		if res.Header.Get("X-Frame-Options") != "DENY" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("headers: %v", res.Header)
		}
	}
	if len(seen) != 3 {
		t.Errorf("nonces of three answers: %v", seen)
	}
}

func TestPageNotBuilt(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *api.Config) {
		c.Page = fstest.MapFS{"unbuilt.html": {Data: []byte("how to build the page")}}
	})
	for _, path := range []string{"/", "/runs/x"} {
		if res, body := s.opened(t, path); res.StatusCode != 200 || body != "how to build the page" {
			t.Errorf("GET %s: %d %q", path, res.StatusCode, body)
		}
	}
	if res, _ := newSite(t).opened(t, "/"); res.StatusCode != 404 {
		t.Errorf("without files of a page: %d", res.StatusCode)
	}
}
