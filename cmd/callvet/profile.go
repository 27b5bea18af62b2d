// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"runtime"
	"runtime/pprof"

	"github.com/callvet/callvet/internal/sys"
)

func (a *cli) startProfile() error {
	if a.cpuProfile == "" {
		return nil
	}
	f, err := sys.CreateFile(a.path(a.cpuProfile), true)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

func (a *cli) heapProfile(ctx context.Context) error {
	if a.memProfile == "" {
		return nil
	}
	runtime.GC()
	return sys.WriteFile(ctx, a.path(a.memProfile), pprof.WriteHeapProfile)
}
