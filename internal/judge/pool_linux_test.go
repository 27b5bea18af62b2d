// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChildrenEnd: a program that is interrupted ends with the processes that it has started.
func TestChildrenEnd(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	p, s := pool(t, "hang", "SCORER_PID="+file)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // once the child is there
		for ctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				cancel()
			}
		}
	}()
	if _, err := custom(t, p, s).Judge(ctx, attempt()); err == nil {
		t.Error("it answered")
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for { // or the test runs out of time: it takes a moment to end
		stat, err := os.ReadFile("/proc/" + string(pid) + "/stat")
		if _, state, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(state, "Z") {
			return
		}
	}
}
