// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !unix

package sys

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

// tryHold locks a folder by a file in it; nil if it is locked.
func tryHold(dir string) (*os.File, error) { return tryOwn(filepath.Join(dir, ".callvet-hold")) }

// tryOwn makes a file and keeps it open; nil if another process has it. A file of an ended process
// can be removed, an open one cannot.
func tryOwn(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if os.Remove(path) != nil {
			return nil, nil
		}
	}
}

// disown ends what tryOwn began.
func disown(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// letGo ends what tryHold began.
func letGo(f *os.File) error { return disown(f) }

func keepMode(f *os.File, old fs.FileInfo) error { return f.Chmod(old.Mode().Perm()) }

func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

// OwnedByAnother is always false: users are known only on Unix.
func OwnedByAnother(string) (uid int, other bool) { return 0, false }
