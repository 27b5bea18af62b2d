// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package provider

import (
	"os"
	"syscall"
)

// lock excludes other processes until unlock; both retry after an interrupting signal.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
