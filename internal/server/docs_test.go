// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/server"
)

// TestDescription: the description without a server equals that of a server.
func TestDescription(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, served := s.ask(t, "", "GET", "/api/openapi.json", "")
	alone, err := server.Description("test")
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	for text, into := range map[string]*map[string]any{served: &want, string(alone): &got} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, got); d != "" || len(got["paths"].(map[string]any)) < 30 {
		t.Error(d)
	}
}

// TestDocsPage: the page shows every operation with an example, has no script and loads nothing.
func TestDocsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code, page := s.ask(t, "", "GET", "/api/docs", "")
	if code != 200 {
		t.Fatalf("%d %s", code, page)
	}
	ops := 0
	for _, r := range s.srv.Routes() {
		if strings.HasSuffix(r.ID, "-alias") || s.srv.OpenAPI().Paths[r.Path] == nil {
			continue
		}
		ops++
		if !strings.Contains(page, `id="`+r.ID+`"`) || !strings.Contains(page, "$CALLVET"+r.Path) {
			t.Errorf("%s %s is not told", r.Method, r.Path)
		}
	}
	if ops < 30 {
		t.Errorf("%d operations", ops)
	}
	for _, bad := range []string{"<script", "src=", `href="http`, "url(", "@import"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}
