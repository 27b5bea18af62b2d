// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const renamesOpen = false

// claim is for Windows, where a file that a process has open cannot be removed.
func claim(*os.File) bool { return runtime.GOOS == "windows" }

// tryHold holds a folder by a file in it that is open; nil where another one has it. What a
// process that died has left can be removed, and what is open cannot.
func tryHold(dir string) (*os.File, error) {
	name := filepath.Join(dir, ".callvet-hold")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, fs.ErrExist) {
		err, _ = nil, os.Remove(name)
	}
	return nil, err
}

// letGo ends what tryHold began.
func letGo(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

func keep(f *os.File, old fs.FileInfo) error { return f.Chmod(old.Mode().Perm()) }

func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }
