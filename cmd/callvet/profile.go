// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"runtime"
	"runtime/pprof"

	"github.com/callvet/callvet/internal/file"
)

func (a *cli) startProfile() error {
	if a.cpuProfile == "" {
		return nil
	}
	f, err := file.Create(a.path(a.cpuProfile), true)
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
	return file.Write(ctx, a.path(a.memProfile), pprof.WriteHeapProfile)
}
