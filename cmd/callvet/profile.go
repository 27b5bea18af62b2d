// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

func (a *app) startProfile() error {
	if a.cpuProfile == "" {
		return nil
	}
	f, err := os.Create(a.path(a.cpuProfile))
	if err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return pprof.StartCPUProfile(f)
}

func (a *app) heapProfile() error {
	if a.memProfile == "" {
		return nil
	}
	runtime.GC()
	return writeFile(a.path(a.memProfile), func(f *os.File) error { return pprof.WriteHeapProfile(f) })
}
