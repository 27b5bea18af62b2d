// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/term"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/sys"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// terminalWidth is the terminal's width in columns, 0 when there is none.
func terminalWidth(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// color reports whether the output stream may have color.
func (a *cli) color(tty bool) bool {
	return tty && !a.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// storePath is the path of the database: from the flag, the environment, or in the user's data
// directory.
func (a *cli) storePath() (string, error) {
	if a.dbPath != "" {
		return a.path(a.dbPath), nil
	}
	if p := a.getenv("CALLVET_DB"); p != "" {
		return a.path(p), nil
	}
	if d := a.getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "callvet", "callvet.db"), nil
	}
	home := a.getenv("HOME")
	switch runtime.GOOS {
	case "windows":
		if d := a.getenv("LOCALAPPDATA"); d != "" {
			return filepath.Join(d, "callvet", "callvet.db"), nil
		}
		home = a.getenv("USERPROFILE")
	case "darwin":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", "callvet", "callvet.db"), nil
		}
	}
	if home == "" {
		return "", usagef("no home directory to keep runs in: pass --db FILE or set CALLVET_DB")
	}
	return filepath.Join(home, ".local", "share", "callvet", "callvet.db"), nil
}

// path makes a path that the user typed relative to the working directory.
func (a *cli) path(p string) string {
	if filepath.IsAbs(p) || p == "-" {
		return p
	}
	return filepath.Join(a.dir, p)
}

// write writes a file that the user named, whole or not at all.
func (a *cli) write(ctx context.Context, name string, write func(io.Writer) error) error {
	return sys.WriteFile(ctx, a.path(name), func(w io.Writer) error {
		text := &plain.Writer{W: w}
		return errors.Join(write(text), text.Flush())
	})
}
