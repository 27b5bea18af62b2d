// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test binary be a child that waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("CHILD_TEST") != "" {
		fmt.Println("up")
		<-time.After(time.Hour)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestFamilies: each has a word of its own, after those of outer callvets.
func TestFamilies(t *testing.T) {
	t.Parallel()
	var a, b ProcessFamilies
	one, env := a.New([]string{"A=1", familyVariable + "=outer", "B=2"})
	if d := cmp.Diff([]string{"A=1", "B=2", familyVariable + "=outer " + one.word}, env); d != "" {
		t.Error(d)
	}
	two, _ := a.New(nil)
	other, env := b.New(nil)
	if one == two || one == other || len(env) != 1 {
		t.Error(one, two, other, env)
	}
	c := exec.Command(os.Args[0])
	c.Env = []string{"CHILD_TEST=1", familyVariable + "=outer " + one.word}
	up, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil { // the kernel has its environment a moment after Start
		_, err = up.Read(make([]byte, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	if pid := c.Process.Pid; !ofFamily(pid, one.word) || !ofFamily(pid, "outer") || ofFamily(pid, two.word) ||
		ofFamily(pid, one.word[:3]) {
		t.Error("a process is not recognized by its words")
	}
	endFamily(two.word) // of no process
	endFamily("outer")
	if err := c.Wait(); err == nil {
		t.Error("it ended by itself")
	}
}
