// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// holdPause is the time between two tries of HoldFolder to lock the folder.
const holdPause = 10 * time.Millisecond

// HoldFolder locks the folder of path, and waits while it is locked. The lock ends when release is called
// or the process ends in any way. A caller that reads a file and rewrites it holds the lock
// meanwhile, so that no concurrent rewrite is lost. The lock excludes only other callers of HoldFolder,
// including goroutines of this process. The error is the folder's or the context's.
func HoldFolder(ctx context.Context, path string) (release func() error, err error) {
	to, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	dir := filepath.Dir(to.path)
	for {
		f, err := tryHold(dir)
		if err != nil {
			return nil, fmt.Errorf("write %s: hold its folder: %w", path, bare(err))
		}
		if f != nil {
			return func() error { return letGo(f) }, nil
		}
		wait := time.NewTimer(holdPause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, fmt.Errorf("write %s: %w", path, ctx.Err())
		case <-wait.C:
		}
	}
}
