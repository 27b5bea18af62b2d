// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package losses

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// lab runs callvet in a folder with a separate store.
type lab struct {
	binary, dir string
	model       *model
}

// name is the name of the run of a lab.
const name = "losing"

func newLab(binary, dir string, m *model) (*lab, error) {
	l := &lab{binary, dir, m}
	for file, v := range map[string]any{"calls.json": suiteOf(false), "judged.json": suiteOf(true)} {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", file, err)
		}
		if err := l.write(file, b); err != nil {
			return nil, err
		}
	}
	return l, l.write("traces.jsonl", []byte(records()))
}

func (l *lab) write(file string, b []byte) error {
	if err := os.WriteFile(filepath.Join(l.dir, file), b, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// command runs callvet on the store of the lab.
func (l *lab) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.binary, args...)
	cmd.Dir = l.dir
	cmd.Env = []string{
		"HOME=" + l.dir, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "OPENAI_API_KEY=k",
		"CALLVET_DB=" + filepath.Join(l.dir, "callvet.db"),
	}
	return cmd
}

// answer is the output of a command, and its exit code.
type answer struct {
	code      int
	out, errs string
}

// ask runs a command and waits for its end.
func (l *lab) ask(ctx context.Context, args ...string) (answer, error) {
	return ended(l.command(ctx, args...))
}

func ended(cmd *exec.Cmd) (answer, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return answer{}, fmt.Errorf("run %v: %w", cmd.Args, err)
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, nil
}

// running returns the arguments that run a suite with a model.
func (l *lab) running(suite, model string, more ...string) []string {
	return append([]string{
		"run", suite, "-m", "openai/" + model, "--base-url", l.model.URL, "-q", "--name", name, "-c",
		"1", "--retries", "0", "--no-lint",
	}, more...)
}

// runs makes a run that ends by itself with an exit code.
func (l *lab) runs(ctx context.Context, code int, args []string) error {
	got, err := l.ask(ctx, args...)
	if err == nil && got.code != code {
		err = fmt.Errorf("run %v: exit code %d, want %d: %.500s", args, got.code, code, got.errs)
	}
	return err
}

// signals makes a run that gets a signal when half of the cases are answered.
func (l *lab) signals(ctx context.Context, sig syscall.Signal) error {
	cmd := l.command(ctx, l.running("calls.json", steady)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	from := l.model.answered.Load()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start run: %w", err)
	}
	err := l.half(ctx, from)
	if serr := cmd.Process.Signal(sig); serr != nil {
		err = errors.Join(err, fmt.Errorf("signal run: %w", serr))
	}
	if cmd.Wait() == nil {
		err = errors.Join(err, fmt.Errorf("the run ended well: %s", errs.String()))
	}
	return err
}

// half waits until the model has answered half of the cases, not counting the first from answers.
func (l *lab) half(ctx context.Context, from int64) error {
	for end := time.Now().Add(patience); l.model.answered.Load() < from+planned/2; {
		if time.Now().After(end) {
			return fmt.Errorf("the model has given %d answers", l.model.answered.Load()-from)
		}
		if err := sys.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// patience is the longest wait for a required event.
const patience = 2 * time.Minute

// full makes a run with a store that cannot grow beyond a size: the shell limits the size of files.
func (l *lab) full(ctx context.Context) error {
	// The store is made without the limit, by a run outside the check.
	first := l.command(ctx, "run", "calls.json", "-m", "offline/lexical", "-q", "--sample", "1", "--no-lint")
	if got, err := ended(first); err != nil || got.code != 0 {
		return errors.Join(err, fmt.Errorf("make store: exit code %d: %s", got.code, got.errs))
	}
	for size := 64; size < 4096; size += 32 {
		shell := l.command(ctx, l.running("calls.json", steady)...)
		shell.Args = append([]string{"bash", "-c", "ulimit -f " + strconv.Itoa(size) + `; exec "$0" "$@"`, l.binary},
			shell.Args[1:]...)
		shell.Path = "/bin/bash"
		got, err := ended(shell)
		if err != nil {
			return err
		}
		line, err := l.line(ctx)
		if err != nil {
			return err
		}
		switch {
		case line == nil: // not even the suite could be stored
		case got.code != 1:
			return fmt.Errorf("a run on a full disk ended with %d: %s", got.code, got.errs)
		case line.Verdicts.Pass+line.Verdicts.Fail < planned/4: // too few for a gate
			if got, err := l.ask(ctx, "runs", "--delete", name); err != nil || got.code != 0 {
				return errors.Join(err, fmt.Errorf("delete run: exit code %d: %s", got.code, got.errs))
			}
		default:
			return nil
		}
	}
	return errors.New("no size of the store ended the run in the middle")
}

// counts are attempts by verdict.
type counts struct {
	Pass    int `json:"pass"`
	Fail    int `json:"fail"`
	Error   int `json:"error"`
	NotRun  int `json:"not_run"`
	Skipped int `json:"skipped"`
}

func (c counts) planned() int { return c.Pass + c.Fail + c.Error + c.NotRun - c.Skipped }
func (c counts) lost() int    { return c.Error + c.NotRun - c.Skipped }

// line is a run in the list of runs.
type line struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Verdicts counts `json:"verdicts"`
}

// line returns the run of the lab in the list; nil if there is none.
func (l *lab) line(ctx context.Context) (*line, error) {
	got, err := l.ask(ctx, "runs", "--json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Runs []line `json:"runs"`
	}
	if err := json.Unmarshal([]byte(got.out), &list); err != nil {
		return nil, fmt.Errorf("read the list of runs: %w: %s", err, got.errs)
	}
	for i := range list.Runs {
		if list.Runs[i].Name == name {
			return &list.Runs[i], nil
		}
	}
	return nil, nil
}
