// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
)

func page(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// TestPrint: a page is printed, and nothing in it reaches a server.
func TestPrint(t *testing.T) {
	t.Parallel()
	p := report.NewPDFPrinter(report.PDFConfig{Browser: os.Getenv("CALLVET_CHROMIUM"), Environ: os.Environ()})
	if _, err := p.Find(); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer srv.Close()
	pages := func(b []byte) int {
		return bytes.Count(b, []byte("/Type /Page\n")) + bytes.Count(b, []byte("/Type /Page "))
	}
	sheet := `<p style="break-after: page">one</p>`
	for _, tt := range []struct {
		text  string
		pages int
	}{
		{"<!doctype html><title>t</title><p>Ärende 日本</p>", 1},
		{"<!doctype html>" + sheet + sheet + "<p>three</p>", 3},
		{`<!doctype html><p>one</p><img src="` + srv.URL + `/a.png"><script>fetch('` + srv.URL + `')</script>`, 1},
	} {
		var out bytes.Buffer
		if err := p.Print(t.Context(), page(tt.text), &out); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(out.Bytes(), []byte("%PDF-")) || pages(out.Bytes()) != tt.pages {
			t.Errorf("%q: %d pages, want %d: %.20q", tt.text, pages(out.Bytes()), tt.pages, out.Bytes())
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the page asked a server %d times", n)
	}
}

// TestLingering: a browser that leaves a process behind, which holds its output, has printed all the same.
func TestLingering(t *testing.T) {
	t.Parallel()
	browser := filepath.Join(t.TempDir(), "browser")
	script := "#!/bin/sh\nfor a in \"$@\"; do case \"$a\" in --print-to-pdf=*) echo %PDF- > \"${a#*=}\";; esac; done\nsleep 1000 &\n"
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.NewPDFPrinter(report.PDFConfig{Browser: browser, Environ: os.Environ()}).Print(t.Context(), page("x"),
		&out); err != nil || out.String() != "%PDF-\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestNoBrowser: without a browser, and with one that fails, hangs or prints nothing, the error names the reason.
func TestNoBrowser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := func(name, script string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		return path
	}
	broken := errors.New("broken page")
	for _, tt := range []struct {
		name, browser string
		page          func(io.Writer) error
		want          error
		text          string
	}{
		{"none", filepath.Join(dir, "none"), page("x"), callvet.ErrUnavailable, "needs Chromium"},
		{"fails", program("fails", "echo no display >&2; exit 3"), page("x"), nil, "no display"},
		{"prints nothing", program("nothing", "exit 0"), page("x"), os.ErrNotExist, "wrote none"},
		{"hangs", program("hangs", "sleep 1000 & sleep 1000"), page("x"), callvet.ErrLimited, "longer than"},
		{"the page fails", program("idle", "exit 0"), func(io.Writer) error { return broken }, broken, "broken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			timeout := time.Minute
			if tt.name == "hangs" {
				timeout = 100 * time.Millisecond
			}
			var out bytes.Buffer
			err := report.NewPDFPrinter(report.PDFConfig{Browser: tt.browser, Timeout: timeout}).Print(t.Context(), tt.page, &out)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) ||
				out.Len() > 0 {
				t.Errorf("%d bytes, %v", out.Len(), err)
			}
		})
	}
}
