// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// PDFConfig configures a PDFPrinter.
type PDFConfig struct {
	// Browser is the path of the browser; "" looks for Chromium and Chrome in PATH.
	Browser string
	// Environ is the environment of the browser (NAME=VALUE), without secrets.
	Environ []string
	// Timeout bounds one page; 0 is two minutes.
	Timeout time.Duration
}

// PDFPrinter prints pages of HTML as PDF with a Chromium of the machine, one page at a time. The browser reaches no
// address. Scripts run where the page's own policy lets them. It is safe for concurrent use.
type PDFPrinter struct {
	cfg      PDFConfig
	families sys.ProcessFamilies
	turn     chan struct{} // holds one value while a page is printed
}

// NewPDFPrinter makes a PDFPrinter. The browser is looked for when it is needed.
func NewPDFPrinter(cfg PDFConfig) *PDFPrinter {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 2 * time.Minute
	}
	return &PDFPrinter{cfg: cfg, turn: make(chan struct{}, 1)}
}

// Find returns the path of the browser. The error explains how to install one.
func (p *PDFPrinter) Find() (string, error) {
	names := []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
		"chrome-headless-shell",
	}
	if p.cfg.Browser != "" {
		names = []string{p.cfg.Browser}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &callvet.Hinted{
		Err:  fmt.Errorf("print PDF: %w: it needs Chromium or Chrome, and none was found", callvet.ErrUnavailable),
		Hint: "install chromium, or name the browser in CALLVET_CHROMIUM; -o report.html needs none, and any browser prints it",
	}
}

// Print writes the page that page writes as a PDF of A4. It waits while another page is printed.
// Nothing is written where the error is not nil, except for an error of to.
func (p *PDFPrinter) Print(ctx context.Context, page func(io.Writer) error, to io.Writer) (err error) {
	browser, err := p.Find()
	if err != nil {
		return err
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	dir, remove, err := sys.ScratchFolder("callvet-pdf-")
	if err != nil {
		return fmt.Errorf("print PDF: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	if err := sys.WriteFile(ctx, filepath.Join(dir, "page.html"), page); err != nil {
		return fmt.Errorf("print PDF: %w", err)
	}
	if err := p.run(ctx, browser, dir); err != nil {
		return err
	}
	printed, err := os.Open(filepath.Join(dir, "page.pdf"))
	if err != nil {
		return fmt.Errorf("print PDF: %s wrote none: %w", browser, err)
	}
	_, err = io.Copy(to, printed)
	return errors.Join(err, printed.Close())
}

// run has the browser print page.html of a folder into page.pdf.
func (p *PDFPrinter) run(ctx context.Context, browser, dir string) error {
	timed, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	family, env := p.families.New(p.cfg.Environ)
	cmd := exec.CommandContext(timed, browser,
		append(flags(dir), "file://"+filepath.ToSlash(filepath.Join(dir, "page.html")))...)
	family.Own(cmd)
	var tail sys.OutputTail
	cmd.Env, cmd.Dir, cmd.Stderr, cmd.WaitDelay = append(env, "HOME="+dir), dir, &tail, time.Second
	cmd.Cancel = func() error { return family.End(cmd) }
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // the browser ended well; its child processes keep its output open
		err = nil
		_ = family.End(cmd)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case timed.Err() != nil:
		return fmt.Errorf("print PDF: %w: the browser took longer than %s", callvet.ErrLimited, p.cfg.Timeout)
	case err != nil:
		return fmt.Errorf("print PDF: %s: %w: %s", browser, err, tail.String())
	}
	return nil
}

// flags have the browser print without addresses and without a profile of the user.
func flags(dir string) []string {
	out := []string{
		"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-default-browser-check",
		"--disable-extensions", "--disable-background-networking", "--disable-sync",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:1",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--no-pdf-header-footer",
		"--print-to-pdf=" + filepath.Join(dir, "page.pdf"),
	}
	if os.Geteuid() == 0 { // Chromium has no sandbox for root, and prints nothing with it
		out = append(out, "--no-sandbox")
	}
	return out
}
