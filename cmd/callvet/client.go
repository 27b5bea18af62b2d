// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/sys"
)

// program does the work of callvet; this process is a client of it. It reads the paths that a
// person typed, and lets targets run commands: a person at a command line may do both.
func (a *cli) program() *app.App {
	if a.made == nil {
		var abort <-chan struct{}
		if a.process != nil { // nil within some tests
			abort = a.process.Hard.Done()
		}
		var ask func(context.Context, app.Question) (bool, error)
		if a.atTerminal() {
			ask = a.confirm
		}
		browser := ""
		if a.getenv != nil { // nil within some tests
			browser = a.getenv("CALLVET_CHROMIUM")
		}
		a.made = app.New(app.Config{
			Ask:   ask,
			Store: a.openStore, Files: paths{a},
			Permit: app.Permit{Commands: true, Tools: true, Files: true, Includes: true, Outside: a.outside},
			Getenv: a.getenv, Environ: a.environ, Now: a.now, Claim: a.claim, Vectors: a.vectorPath, Abort: abort,
			Version: buildVersion(),
			Browser: browser,
		})
	}
	return a.made
}

// paths are files as a command line names them.
type paths struct{ a *cli }

// Open reads a file, - for standard input.
func (p paths) Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.a.in), nil
	}
	return os.Open(p.a.path(name))
}

// Path is the path of a name, relative to the working directory.
func (p paths) Path(name string) (path string, folder bool, err error) {
	path = p.a.path(name)
	info, err := os.Stat(path)
	return path, err == nil && info.IsDir(), nil // reading it reports a missing file
}

// Kind distinguishes files and folders from streams that can be read only once.
func (p paths) Kind(name string) app.FileKind {
	if name == "-" {
		return app.KindStream
	}
	return app.KindOf(os.Stat(p.a.path(name)))
}

// Same reports whether two names are one file; it does not recognize pipes and devices.
func (p paths) Same(a, b string) bool {
	if a == "-" || b == "-" || p.a.path(a) == p.a.path(b) {
		return a == b || a != "-" && b != "-"
	}
	x, err := os.Stat(p.a.path(a))
	if err != nil {
		return false
	}
	y, err := os.Stat(p.a.path(b))
	return err == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// Existing reads a file that will be overwritten.
func (p paths) Existing(name string) (data []byte, there bool, err error) {
	return sys.ReadExisting(p.a.path(name))
}

// Write writes a whole file or nothing.
func (p paths) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	return sys.WriteFile(ctx, p.a.path(name), write)
}

// Append opens a file to write at its end.
func (p paths) Append(name string) (app.Growing, error) {
	f, err := sys.AppendFile(p.a.path(name))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Folder makes a folder, with those above it.
func (p paths) Folder(_ context.Context, name string) error { return sys.MakeFolder(p.a.path(name)) }

// Hold locks the folder: it waits until no other process changes its files.
func (p paths) Hold(ctx context.Context, name string) (release func() error, err error) {
	return sys.HoldFolder(ctx, p.a.path(name))
}

// claim identifies this process in its requests for a run.
func (a *cli) claim() (store.Claim, error) {
	c := store.Claim{PID: os.Getpid(), Scope: sys.ProcessScope(), TTL: app.DefaultLease}
	if s := a.getenv("CALLVET_LEASE"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil || d < 100*time.Millisecond {
			return c, usagef("$CALLVET_LEASE is %q: write a time of 100ms or more, such as 30s", s)
		}
		c.TTL = d
	}
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	c.Host = cmp.Or(name, "this machine")
	c.Gone = func(o store.Owner) bool { return c.Scope != "" && o.Scope == c.Scope && sys.ProcessGone(o.PID) }
	return c, nil
}

// openStore opens the store once; closeStore ends it with the command.
func (a *cli) openStore(ctx context.Context) (*store.DB, error) {
	if a.db != nil {
		return a.db, nil
	}
	p, err := a.storePath()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, p, store.Options{Now: a.now})
	if err != nil {
		return nil, err
	}
	if mode := db.Exposed(); mode != 0 {
		fmt.Fprintf(a.err,
			"warning: every user may read %s (mode %04o), and it holds what was said to models: chmod 600 %s\n", p,
			mode,
			plain.ShellQuote(p))
	}
	a.db = db
	return db, nil
}

func (a *cli) closeStore() error {
	if a.db == nil {
		return nil
	}
	err := a.db.Close()
	a.db = nil
	return err
}

// explained is an error in terms of the command line; advice is how to fix it, "" if unknown.
func (a *cli) explained(err error) (text, advice string) {
	text = err.Error()
	var field *callvet.FieldError
	if errors.As(err, &field) {
		var named string
		named, advice = field.Named(console.FlagOf)
		text = strings.Replace(text, field.Error(), named, 1)
	}
	var hinted *callvet.Hinted
	var taken *store.TakenError
	var missing *results.NoRunError
	var attempt *results.NoAttemptError
	var empty *app.NoTracesError
	var unfit *traces.UnfitSuiteError
	line := func(verb app.Verb, run string) string {
		return a.hints().Text(app.Action{Verb: verb, Run: run}, nil)
	}
	switch {
	case errors.As(err, &hinted) && hinted.Hint != "":
		advice = hinted.Hint
	case errors.As(err, &taken):
		advice = "another name, or " + line(app.VerbDelete, taken.Run) + " first"
	case errors.As(err, &missing):
		advice = line(app.VerbList, "") + " lists the runs"
	case errors.As(err, &unfit):
		advice = a.hints().Text(app.Action{Verb: app.VerbLint, Case: unfit.Suite}, nil)
	case errors.As(err, &empty):
		switch empty.Cause {
		case app.CauseUTF16:
			advice = "iconv -f UTF-16 -t UTF-8"
		case app.CausePartial:
			advice = "callvet score --partial makes it again"
		default:
			advice = "`callvet schema trace` prints what a line looks like; `callvet trace import` reads other forms"
		}
	case errors.As(err, &attempt):
		advice = line(app.VerbShow, attempt.Run) + " lists the failing ones"
	}
	return text, advice
}
