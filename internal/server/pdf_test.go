// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
)

// TestPDF: the report of a run is printed by the browser of the server; without one the answer is 503 with the way
// to get one.
func TestPDF(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	browser := filepath.Join(dir, "browser") // prints the page as it is
	s := newSite(t, func(c *api.Config) {
		c.App = app.New(app.Config{
			Store:   func(context.Context) (*store.DB, error) { return c.Store, nil },
			Browser: browser, Environ: []string{"PATH=" + os.Getenv("PATH")},
		})
	})
	s.work(t)
	job := give[jobAnswer](t, s, "ana", "POST", "/api/tool-eval",
		`{"suite_id":"`+s.keepSuite(t, "ana", 2)+`","models":["offline/lexical"]}`)
	s.awaitJob(t, "ana", job.JobID, "done")
	path := "/api/runs/" + job.ResultRef + "/export?format=pdf"
	if code, body := s.ask(t, "ana", "GET", path, ""); code != http.StatusServiceUnavailable ||
		!strings.Contains(body, "Chromium") {
		t.Errorf("without a browser: %d %.300s", code, body)
	}
	script := "#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in --print-to-pdf=*) to=${a#*=};; file://*) from=${a#file://};; esac; done\n(echo %PDF-; cat \"$from\") > \"$to\"\n"
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if code, body := s.ask(t, "ana", "GET", path, ""); code != 200 || !strings.HasPrefix(body, "%PDF-") ||
		!strings.Contains(body, "cities") {
		t.Errorf("with a browser: %d %.300s", code, body)
	}
	if code, _ := s.ask(t, "bo", "GET", path, ""); code != 404 {
		t.Errorf("of another user: %d", code)
	}
}
