// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// ProcessScope names the scope where a PID identifies one process: this boot of this machine, and
// the PID namespace, which containers of one machine do not share.
func ProcessScope() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + ns
}

// ProcessGone reports that no process of this scope has the PID. A PID that the system reused for
// another process cannot be distinguished from the old one; then the lease must expire.
func ProcessGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
