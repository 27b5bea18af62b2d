// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/server/api"
)

// asked requests a path as ana with accept as its encodings, and returns the answer with its bytes
// as they came.
func (s *site) asked(t *testing.T, method, path, accept string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"ana")
	req.Header.Set("Accept-Encoding", accept)
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, b
}

// unpacked is what was compressed.
func unpacked(t *testing.T, b []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCompressed: large texts are compressed for clients that accept it, and are the same
// afterwards. Small texts, answers without a body and answers to other clients are not compressed.
func TestCompressed(t *testing.T) {
	t.Parallel()
	code := "console.log('" + strings.Repeat("a long script ", 200) + "')"
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(code)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *api.Config) {
		c.Page = fstest.MapFS{
			"index.html":     {Data: []byte(`{{nonce}} <p>` + strings.Repeat("a long page ", 200))},
			"assets/a.js":    {Data: []byte(code)},
			"assets/a.js.gz": {Data: packed.Bytes()},
			"assets/a.js.br": {Data: []byte("as the build made it")},
			"assets/b.png":   {Data: bytes.Repeat([]byte("p"), 4000)},
		}
	})
	run := s.ran(t, "ana", "", 1)
	for _, c := range []struct {
		path, accept, kind string
		packed             bool
	}{
		{"/api/runs/" + run, "gzip", "application/json", true},
		{"/api/runs/" + run, "br, gzip;q=0.8", "application/json", true},
		{"/api/runs/" + run, "", "application/json", false},
		{"/api/runs/" + run, "gzip;q=0", "application/json", false},
		{"/api/runs/" + run, "identity", "application/json", false},
		{"/api/runs/" + run + "/export?format=html", "gzip", "text/html", true},
		{"/api/runs/" + run + "/export?format=jsonl", "gzip", "application/x-ndjson", true},
		{"/api/openapi.json", "gzip", "application/openapi+json", true},
		{"/api/jobs", "gzip", "application/json", false}, // small
		{"/runs", "gzip", "text/html", true},
		{"/assets/a.js", "gzip", "text/javascript", true},
		{"/assets/a.js", "", "text/javascript", false},
		{"/assets/b.png", "gzip", "image/png", false},
	} {
		res, b := s.asked(t, http.MethodGet, c.path, c.accept)
		if got := res.Header.Get("Content-Encoding") == "gzip"; got != c.packed || res.StatusCode != http.StatusOK ||
			!strings.HasPrefix(res.Header.Get("Content-Type"), c.kind) {
			t.Errorf("%s for %q: %d, %v", c.path, c.accept, res.StatusCode, res.Header)
			continue
		}
		if !c.packed {
			continue
		}
		if !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s: a cache cannot know: %v", c.path, res.Header)
		}
		_, plain := s.asked(t, http.MethodGet, c.path, "identity")
		// a page has a nonce of its own
		if text := unpacked(t, b); c.path != "/runs" && text != string(plain) || len(b) >= len(plain) {
			t.Errorf("%s: %d bytes of %d, another text: %v", c.path, len(b), len(plain), text != string(plain))
		}
	}
	if res, b := s.asked(t, http.MethodGet, "/assets/a.js", "gzip, br"); res.Header.Get("Content-Encoding") != "br" ||
		string(b) != "as the build made it" || res.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("brotli: %v %.40q", res.Header, b)
	}
	if res, b := s.asked(t, http.MethodHead, "/assets/a.js", "gzip"); res.StatusCode != http.StatusOK || len(b) > 0 {
		t.Errorf("HEAD: %d, %d bytes", res.StatusCode, len(b))
	}
	if res, b := s.asked(t, http.MethodGet, "/api/runs/none", "gzip"); res.StatusCode != http.StatusNotFound ||
		!strings.Contains(string(b), "not found") {
		t.Errorf("a problem: %d %s", res.StatusCode, b)
	}
}
