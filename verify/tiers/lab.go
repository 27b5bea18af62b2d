// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tiers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// lab is a folder with files where the binary runs.
type lab struct{ binary, dir string }

func newLab(binary, dir string) (*lab, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	return &lab{binary, dir}, nil
}

// write writes a text, or a value as JSON, to a file.
func (l *lab) write(name string, what any) error {
	var b []byte
	switch v := what.(type) {
	case string:
		b = []byte(v)
	case []byte:
		b = v
	default:
		var err error
		if b, err = json.MarshalIndent(v, "", "  "); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(l.dir, name), b, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (l *lab) read(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

// output is the output of a command.
type output struct {
	code      int
	out, errs string
}

// command returns a command of callvet in the folder.
func (l *lab) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.binary, append([]string{"--db", filepath.Join(l.dir, "runs.db")}, args...)...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=") // no command here uses a model over the network
	return cmd
}

// run runs a command of callvet. An error means that it did not start.
func (l *lab) run(ctx context.Context, args ...string) (output, error) {
	cmd := l.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		return output{}, fmt.Errorf("run callvet %v: %w", args, err)
	}
	return output{cmd.ProcessState.ExitCode(), out.String(), errs.String()}, nil
}

// decoded runs a command and reads its output as JSON.
func (l *lab) decoded(ctx context.Context, into any, args ...string) error {
	t, err := l.run(ctx, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(t.out), into); err != nil {
		return fmt.Errorf("callvet %v: exit %d, %s%s: %w", args, t.code, t.out, t.errs, err)
	}
	return nil
}
