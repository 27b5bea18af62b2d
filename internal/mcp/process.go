// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// endWait is how long a server may take to end after its standard input was closed, as the
// protocol requires; then it is killed.
const endWait = 500 * time.Millisecond

// process is a server over stdio.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr *sys.OutputTail
	// families belongs to this process only; its address identifies it.
	families sys.ProcessFamilies
	family   sys.ProcessFamily
	ended    chan struct{} // closed when the command has ended
	owner    sys.Group
}

// startProcess starts a server. The error wraps callvet.ErrNotFound if there is no such command.
func startProcess(command []string, dir string, env []string) (*process, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, fmt.Errorf("start MCP server: find %q: %w: %w", command[0], err, callvet.ErrNotFound)
	}
	p := &process{stderr: &sys.OutputTail{}, ended: make(chan struct{})}
	p.cmd = exec.Command(path, command[1:]...) //nolint:noctx // end kills it, with what it has started
	p.family, p.cmd.Env = p.families.New(env)
	p.cmd.Dir, p.cmd.Stderr = dir, p.stderr
	if p.in, p.out, err = p.family.Piped(p.cmd); err != nil {
		return nil, fmt.Errorf("start MCP server %s: %w", command[0], err)
	}
	p.owner.Go(func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
		_ = p.family.End(p.cmd) // its children hold its standard output
	})
	return p, nil
}

// settle waits a moment for a server that closed its output to end, so that its standard error is
// complete.
func (p *process) settle() {
	wait := time.NewTimer(endWait)
	defer wait.Stop()
	select {
	case <-p.ended:
	case <-wait.C:
	}
}

// end closes the server's standard input, waits a moment, and kills what is left.
func (p *process) end() error {
	if p == nil {
		return nil
	}
	_ = p.in.Close()
	wait := time.NewTimer(endWait)
	defer wait.Stop()
	select {
	case <-p.ended:
	case <-wait.C:
		_ = p.family.End(p.cmd)
	}
	p.owner.Wait()
	_ = p.out.Close()
	return nil
}
