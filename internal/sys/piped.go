// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// Piped starts a command of the family in a group of its own, with pipes for its standard input
// and output. The caller closes the output pipe. Closing it ends its reader, even if a process that
// the command started still holds the other end. It is not closed when the command ends, so that
// its content is not lost. Standard error may be held for a second more.
func (f ProcessFamily) Piped(cmd *exec.Cmd) (in io.WriteCloser, out *os.File, err error) {
	f.Own(cmd)
	cmd.WaitDelay = time.Second
	if in, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	out, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout = write
	err = cmd.Start()
	if cerr := write.Close(); err == nil && cerr != nil {
		err = errors.Join(cerr, f.End(cmd), cmd.Wait())
	}
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return in, out, nil
}
