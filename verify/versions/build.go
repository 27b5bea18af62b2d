// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package versions

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/callvet/callvet"
)

// still is a file that is compiled into the command: its clock stands still, since goroutines read it in
// no fixed order, and its random bytes are the same in each process.
const still = `package main

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"sync"
	"time"
)

func still(func() time.Time) func() time.Time {
	return func() time.Time { return time.Unix(1790000000, 0).UTC() }
}

type same struct {
	mu sync.Mutex
	r  *mathrand.ChaCha8
}

func (s *same) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.Read(b)
}

var _ = func() bool {
	rand.Reader = &same{r: mathrand.NewChaCha8([32]byte{1})}
	return true
}()
`

// clock is the command's name of its clock.
var clock = []byte("now: time.Now,")

// build compiles the command of a source tree with a clock and random bytes that do not change.
func build(ctx context.Context, tree, to string) error {
	main := filepath.Join(tree, "cmd", "callvet", "main.go")
	text, err := os.ReadFile(main)
	if err != nil {
		return err
	}
	changed := bytes.Replace(text, clock, []byte("now: still(time.Now),"), 1)
	if bytes.Equal(changed, text) {
		return fmt.Errorf("%w: %s has no %q: the clock of the command has moved", callvet.ErrInvalid, main, clock)
	}
	replace := map[string]string{}
	for name, data := range map[string][]byte{"main.go": changed, "still_clock.go": []byte(still)} {
		file := to + "." + name
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
		replace[filepath.Join(tree, "cmd", "callvet", name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".json", overlay, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", to+".json", "-o", to,
		"./cmd/callvet")
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", tree, err, out)
	}
	return nil
}

// checkout writes the files of a commit into a folder.
func checkout(ctx context.Context, module, commit, to string) (err error) {
	cmd := exec.CommandContext(ctx, "git", "archive", "--format=tar", commit)
	cmd.Dir = module
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("read commit %s: %w: %s", commit, err, errs.Bytes())
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read commit %s: %w", commit, err)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(filepath.Clean(h.Name), 0o700)
		case tar.TypeReg:
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = errors.Join(root.MkdirAll(filepath.Dir(h.Name), 0o700),
					root.WriteFile(h.Name, data, h.FileInfo().Mode().Perm()))
			}
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", h.Name, err)
		}
	}
}
