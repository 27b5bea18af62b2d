// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package queue

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/verify/proof"
)

// TestUnracedVerify runs make verify-jobs at a smaller scale.
func TestUnracedVerify(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it builds callvet and kills it")
	}
	binary := filepath.Join(t.TempDir(), "callvet")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", binary,
		"./cmd/callvet").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out bytes.Buffer
	c := proof.New(&out, "jobs", "open", nil)
	c.Problem(Verify(t.Context(), c, binary,
		Scale{Runs: 1, Kills: 4, Cells: 400, Flying: 8, Slow: 5 * time.Millisecond, Jobs: 2, JobCells: 10, Cancels: 1}))
	if !c.Close() || !strings.Contains(out.String(), "compared agree") {
		t.Errorf("%s", out.String())
	}
	t.Log(out.String())
}

// TestWaits counts the starts of other users while a user could have had one.
func TestWaits(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	list := []job{
		{User: "a", Started: at(1), Finished: at(4)},
		{User: "a", Started: at(2), Finished: at(9)},
		{User: "b", Started: at(3), Finished: at(5)},
		{User: "a", Started: at(4), Finished: at(6)},
		{User: "b", Started: at(7), Finished: at(8)},
	}
	if got := waits(list, map[string]int{"a": 2, "b": 1}); got["a"] != 0 || got["b"] != 2 {
		t.Errorf("waits: %v", got)
	}
	if got := waits(list, map[string]int{"a": 3, "b": 2}); got["a"] != 1 || got["b"] != 2 {
		t.Errorf("waits with higher limits: %v", got)
	}
}
