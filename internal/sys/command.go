// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/callvet/callvet"
)

// endWait is how long a command, or an answer, may go on after an interrupt.
const endWait = 300 * time.Millisecond

// Command is a child command, with the terminal of this process.
type Command struct {
	Line     []string
	Dir      string
	Env      []string // NAME=VALUE
	In       io.Reader
	Out, Err io.Writer
}

// RunCommand runs a command to its end and returns its exit code. When ctx ends, the command ends
// with its child processes, and the error is that of ctx. Other errors mean that it could not be
// started, and wrap callvet.ErrNotFound if the command does not exist.
func RunCommand(ctx context.Context, c Command) (code int, err error) {
	path, err := exec.LookPath(c.Line[0])
	if err != nil {
		return 0, fmt.Errorf("start %s: %w: %w", c.Line[0], err, callvet.ErrNotFound)
	}
	var families ProcessFamilies
	family, env := families.New(c.Env)
	cmd := exec.CommandContext(ctx, path, c.Line[1:]...)
	// No group of its own, which could not read from the terminal.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endWait
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, env, c.In, c.Out, c.Err
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", c.Line[0], err)
	}
	err = cmd.Wait()
	_ = family.End(cmd) // its child processes have lost their parent
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode(), nil
	case err != nil:
		return 0, fmt.Errorf("run %s: %w", c.Line[0], err)
	}
	return 0, nil
}

// ServeHTTP answers requests at l until stop is called, which waits for answers that are under way,
// for a moment.
func ServeHTTP(ctx context.Context, l net.Listener, h http.Handler) (stop func()) {
	var owner Group
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	owner.Go(func() { _ = s.Serve(l) })
	return func() {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
		defer cancel()
		if s.Shutdown(soon) != nil {
			_ = s.Close()
		}
		owner.Wait()
	}
}
