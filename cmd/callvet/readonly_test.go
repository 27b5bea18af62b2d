// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build linux

package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadOnlyStore: a user who may only read a store reads all of it. A command that would write
// to it fails with that reason before anything is sent.
func TestReadOnlyStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	suite := string(readFile(t, filepath.Join("..", "..", "examples"), "weather.yaml"))
	writeFiles(t, dir, map[string]string{"s.yaml": suite})
	runApp(t, dir, nil, exitOK, "run", "s.yaml", "-m", "offline/lexical", "-q", "--name", "r")
	writeFiles(t, dir, map[string]string{
		"gates.yaml": "- {metric: pass_rate, at_least: 0, min_n: 1}", "agent.sh": `echo '{"text":"ok","calls":[]}'`,
	})
	runApp(t, dir, nil, exitOK, "run", "s.yaml", "-m", "exec:sh agent.sh", "--target-version", "1", "-q",
		"--name", "tracked")
	want := panelsOf(t, runApp(t, dir, nil, exitOK, "show", "r", "--json"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Another user may run a copy. It is made by another process: a file that one of ours has open
	// for writing, if only between a fork and an exec, is busy.
	program := filepath.Join(dir, "callvet")
	if out, err := exec.Command("cp", self, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	modes := map[string]os.FileMode{
		filepath.Dir(dir): 0o755, program: 0o555, filepath.Join(dir, "s.yaml"): 0o444,
		filepath.Join(dir, "gates.yaml"): 0o444,
		filepath.Join(dir, "runs.db"):    0o444, dir: 0o555,
	}
	for _, path := range []string{
		filepath.Dir(dir), program, filepath.Join(dir, "s.yaml"),
		filepath.Join(dir, "gates.yaml"), filepath.Join(dir, "runs.db"), dir,
	} {
		if err := os.Chmod(path, modes[path]); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	call := func(args ...string) (string, int) {
		cmd := exec.Command(program)
		cmd.Args = append([]string{"callvet", "--db", filepath.Join(dir, "runs.db")}, args...)
		cmd.Dir = dir
		if os.Geteuid() == 0 { // who may write everywhere
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	report := filepath.Join(t.TempDir(), "r.md") // of whoever calls
	if err := os.Chmod(filepath.Dir(report), 0o777); err != nil {
		t.Fatal(err)
	}
	got, code := call("show", "r", "--json")
	if d := cmp.Diff(want, panelsOf(t, got)); d != "" || code != exitOK {
		t.Errorf("exit %d: %s", code, d)
	}
	for _, args := range [][]string{{"runs"}, {"report", "r", "-o", report}, {"diff", "r", "r"}} {
		if got, code := call(args...); code != exitOK {
			t.Errorf("%v: exit %d: %s", args, code, got)
		}
	}
	if got, code := call("gate", "tracked", "--gates", "gates.yaml"); code != exitOK ||
		!strings.Contains(got, "this look is not kept, because the store cannot be written to") {
		t.Errorf("gate: exit %d: %s", code, got)
	}
	for _, args := range [][]string{{"run", "s.yaml", "-m", "exec:touch asked"}, {"run", "--resume", "r"}} {
		if got, code := call(args...); code != exitError ||
			!strings.Contains(got, "make the file and its folder writable") {
			t.Errorf("%v: exit %d: %s", args, code, got)
		}
	}
	viewed := exec.Command(program, "--db", filepath.Join(dir, "runs.db"), "view")
	viewed.Dir = dir
	if os.Geteuid() == 0 {
		viewed.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	viewed.Args[0] = "callvet"
	stderr, err := viewed.StderrPipe()
	if err = errors.Join(err, viewed.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	var link string
	for link == "" && lines.Scan() {
		link = toldView.FindString(lines.Text())
	}
	if runs := throughLink(t, link, "/api/tool-eval/history"); !strings.Contains(runs, `"suite_name":"weather"`) ||
		!strings.Contains(runs, `"avg_score":0`) {
		t.Errorf("the page: %s", runs)
	}
	if err := errors.Join(viewed.Process.Signal(os.Interrupt), viewed.Wait()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 5 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestExposedStore: a store that all users of the machine may read is reported, with the command
// that fixes it.
func TestExposedStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out := runApp(t, dir, nil, exitOK, "runs"); strings.Contains(out, "warning") {
		t.Error(out)
	}
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true} {
		if err := os.Chmod(filepath.Join(dir, "runs.db"), mode); err != nil {
			t.Fatal(err)
		}
		if out := runApp(t, dir, nil, exitOK, "runs"); strings.Contains(out, "(mode 0644)") != warned ||
			strings.Contains(out, ": chmod 600 ") != warned {
			t.Errorf("mode %v: %s", mode, out)
		}
	}
}
