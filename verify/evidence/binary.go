// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type (
	object = map[string]any
	list   = []any
)

// binary runs callvet in a folder.
type binary struct{ path, dir string }

// seen is callvet's reading of an attempt.
type seen struct {
	Type    string `json:"type"`
	TaskID  string `json:"task_id"`
	Goal    string `json:"goal"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Fault   *struct{ Kind, Message string }
	Notes   []string
	Answer  string `json:"final_answer"`
	// Tool and Args belong to a record of a call; calls are collected from these.
	Tool  string
	Args  json.RawMessage
	calls []string
}

func (s *seen) String() string {
	if s == nil {
		return "no attempt"
	}
	out := s.Outcome + " " + s.Reason
	if s.Fault != nil {
		out += s.Fault.Kind + " (" + s.Fault.Message + ")"
	}
	if len(s.calls) > 0 {
		out += " " + strings.Join(s.calls, ", ")
	}
	if len(s.Notes) > 0 {
		out += " [" + strings.Join(s.Notes, "; ") + "]"
	}
	return out
}

// end returns the outcome with its reason or the kind of its fault, and "noted" if there is a note.
func (s *seen) end() end {
	switch {
	case s == nil:
		return end{}
	case s.Fault != nil:
		return end{s.Outcome, s.Fault.Kind}
	case s.Reason != "":
		return end{s.Outcome, s.Reason}
	case len(s.Notes) > 0:
		return end{s.Outcome, "noted"}
	}
	return end{s.Outcome, ""}
}

// write writes a text to a file.
func (b *binary) write(name, text string) error {
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// lines writes values to a file, one per line.
func (b *binary) lines(name string, values []any) error {
	var text bytes.Buffer
	for _, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		text.Write(append(raw, '\n'))
	}
	return b.write(name, text.String())
}

// run runs a command and returns its output.
func (b *binary) run(ctx context.Context, env []string, args ...string) (code int, out, errs string, err error) {
	cmd := exec.CommandContext(ctx, b.path, append(args, "--db", filepath.Join(b.dir, "runs.db"))...)
	cmd.Dir = b.dir
	cmd.Env = append(append(os.Environ(), "NO_COLOR=1"), env...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		return 0, "", "", fmt.Errorf("run callvet %v: %w", args, err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String(), nil
}

// attempts reads records of traces and returns the attempts by id, each with its calls.
func attempts(text string) (map[string]*seen, error) {
	all, calls := map[string]*seen{}, map[string][]string{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var s seen
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return nil, fmt.Errorf("read a record: %w", err)
		}
		if s.Type == "task" {
			if all[s.TaskID] != nil {
				return nil, fmt.Errorf("read a record: there are two of task %s", s.TaskID)
			}
			all[s.TaskID] = &s
			continue
		}
		var args bytes.Buffer
		if json.Compact(&args, s.Args) != nil {
			args.Reset()
		}
		calls[s.TaskID] = append(calls[s.TaskID], s.Tool+args.String())
	}
	for id, c := range calls {
		if all[id] == nil {
			all[id] = &seen{TaskID: id, Outcome: "no record of the task"}
		}
		all[id].calls = c
	}
	return all, nil
}

// imported returns callvet's reading of a trace file.
func (b *binary) imported(ctx context.Context, name string) (code int, all map[string]*seen, errs string, err error) {
	code, out, errs, err := b.run(ctx, nil, "trace", "import", name)
	if err != nil {
		return 0, nil, "", err
	}
	all, err = attempts(out)
	return code, all, errs, err
}

// evaluated runs a suite and returns its attempts.
func (b *binary) evaluated(ctx context.Context, suite, target string, more ...string) (map[string]*seen, error) {
	out := filepath.Join(b.dir, "attempts.jsonl")
	args := append([]string{"run", suite, "-m", target, "--no-lint", "--no-cache", "--retries", "0", "-q", "-o", out},
		more...)
	code, _, errs, err := b.run(ctx, []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k", "GEMINI_API_KEY=k"}, args...)
	if err != nil {
		return nil, err
	}
	if code > 1 { // 1: all attempts ended in errors
		return nil, fmt.Errorf("run %s with %s: exit %d: %s", suite, target, code, errs)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("run %s with %s: %w", suite, target, err)
	}
	return attempts(string(text))
}
