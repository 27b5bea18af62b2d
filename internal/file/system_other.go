// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

const renamesOpen = false

// claim is for Windows, where a file that a process has open cannot be removed.
func claim(*os.File) bool { return runtime.GOOS == "windows" }

func keep(f *os.File, old fs.FileInfo) error { return f.Chmod(old.Mode().Perm()) }

func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }
