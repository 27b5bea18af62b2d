// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/callvet/callvet/internal/sys"
)

// ReadSecret reads a line at a terminal, which does not show it. When ctx ends while it waits, the
// process is about to exit: the echo of the terminal is restored.
func ReadSecret(ctx context.Context, terminal *os.File) ([]byte, error) {
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	defer sys.WhenCanceled(ctx, func() { _ = term.Restore(fd, before) })()
	return term.ReadPassword(fd)
}
