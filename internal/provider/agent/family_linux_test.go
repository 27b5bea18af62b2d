// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/callvet/callvet"
)

// detached starts a child in a session of its own and writes its number to a file.
func detached(file string) error {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "AGENT_TEST=child")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	name := file + ".new" // so that it is there whole
	if err := os.WriteFile(name, []byte(strconv.Itoa(c.Process.Pid)), 0o600); err != nil {
		return err
	}
	return os.Rename(name, file)
}

// TestExecEndsTheFamily: what an agent leaves running in a session of its own is
// ended with the attempt, whether that went well, timed out or was called off.
func TestExecEndsTheFamily(t *testing.T) {
	t.Parallel()
	for mode, kind := range map[string]callvet.FaultKind{"daemon": "", "daemon-hang": callvet.FaultCanceled} {
		file := filepath.Join(t.TempDir(), "pid")
		m := helper(t, mode,
			func(c *ExecConfig) { c.Env = append(c.Env, "AGENT_PID="+file, "CALLVET_ATTEMPT=elsewhere") })
		ctx, cancel := context.WithCancel(t.Context())
		if kind != "" {
			go func() { // once the child is there
				for ctx.Err() == nil {
					if _, err := os.Stat(file); err == nil {
						cancel()
					}
				}
			}()
		}
		_, err := m.Generate(ctx, ask("x"))
		cancel()
		var f *callvet.Fault
		if kind == "" && err != nil || kind != "" && (!errors.As(err, &f) || f.Kind != kind) {
			t.Errorf("%s: %v", mode, err)
		}
		pid, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for lives(string(pid)) { // or the test runs out of time: it takes a moment to end
		}
	}
}

func lives(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}
