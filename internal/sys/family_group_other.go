// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !unix

package sys

import "os/exec"

// ownGroup has nothing to do where there are no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends the process; its children are left where there are no groups.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
