// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package sys

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the process in a group of its own, so that its children can be
// ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the process and every child that stayed in its group.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
