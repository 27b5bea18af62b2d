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

	"github.com/google/go-cmp/cmp"

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
		m := helper(t, mode, func(c *ExecConfig) { c.Env = append(c.Env, "AGENT_PID="+file, familyVariable+"=elsewhere") })
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

// TestFamilies: each attempt has a word of its own, after those of outer callvets.
func TestFamilies(t *testing.T) {
	t.Parallel()
	a, b := &execAgent{cfg: ExecConfig{Env: []string{"A=1", familyVariable + "=outer", "B=2"}}}, &execAgent{}
	first, env := a.family()
	if d := cmp.Diff([]string{"A=1", "B=2", familyVariable + "=outer " + first}, env); d != "" {
		t.Error(d)
	}
	second, _ := a.family()
	other, env := b.family()
	if first == second || first == other || len(env) != 1 {
		t.Error(first, second, other, env)
	}
	c := exec.Command(os.Args[0])
	c.Env = []string{"AGENT_TEST=child", familyVariable + "=outer " + first}
	if _, err := c.StdinPipe(); err != nil { // it waits for the end of it
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if pid := c.Process.Pid; !ofFamily(pid, first) || !ofFamily(pid, "outer") || ofFamily(pid, second) || ofFamily(pid, first[:3]) {
		t.Error("a process is not told by its words")
	}
	endFamily(second) // of nobody
	endFamily("outer")
	if err := c.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}
