// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package file

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// again is how often Hold looks whether another one has let go.
const again = 10 * time.Millisecond

// Hold waits until nobody else holds the folder of path, and holds it until release is called
// or the process ends, however it does. Whoever reads a file to write it anew holds it
// meanwhile: of two that do so at once, one would lose what the other wrote. It keeps off
// those that hold, goroutines of this process among them, and nobody else. The error is that
// of the folder, or the context's.
func Hold(ctx context.Context, path string) (release func() error, err error) {
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
		wait := time.NewTimer(again)
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, fmt.Errorf("write %s: %w", path, ctx.Err())
		case <-wait.C:
		}
	}
}
