// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// fileTarget is a path after following symbolic links.
type fileTarget struct {
	path string
	info fs.FileInfo // nil: the file does not exist yet
	// descriptor is the number of a file that this process has open already, as in /dev/stdout; -1
	// for others. Opening it once more would overwrite what others have written to it.
	descriptor int
}

// special reports whether the target must not be replaced by a file.
func (t fileTarget) special() bool {
	return t.descriptor >= 0 || t.info != nil && !t.info.Mode().IsRegular()
}

// open opens the existing file, to write to it in place.
func (t fileTarget) open() (*os.File, error) {
	switch {
	case t.descriptor >= 0:
		return duplicate(t.descriptor, t.path)
	case t.info.IsDir():
		return nil, syscall.EISDIR
	case t.info.Mode().IsRegular():
		return os.OpenFile(t.path, os.O_WRONLY|os.O_TRUNC, 0)
	}
	return os.OpenFile(t.path, os.O_WRONLY, 0)
}

// maxLinks is how many symbolic links are followed, as Linux does.
const maxLinks = 40

// resolve follows symbolic links, also to a file that does not exist yet.
func resolve(path string) (fileTarget, error) {
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			return fileTarget{}, fmt.Errorf("there is no folder %s: %w", filepath.Dir(path), fs.ErrNotExist)
		}
		if err != nil {
			return fileTarget{}, bare(err)
		}
		t := fileTarget{path: filepath.Join(dir, filepath.Base(path)), descriptor: descriptor(dir, filepath.Base(path))}
		if t.descriptor >= 0 {
			return t, nil
		}
		t.info, err = os.Lstat(t.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			t.info = nil
			return t, nil
		case err != nil:
			return t, bare(err)
		case t.info.Mode()&fs.ModeSymlink == 0:
			return t, nil
		}
		to, err := os.Readlink(t.path)
		if err != nil {
			return t, bare(err)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return fileTarget{}, errors.New("too many symbolic links")
}

// descriptors matches the folders with the open files of a process by number.
var descriptors = regexp.MustCompile(`^(?:/dev/fd|/proc/(\d+)(?:/task/\d+)?/fd)$`)

// descriptor is the number of a file that this process has open, -1 for others.
func descriptor(dir, name string) int {
	m := descriptors.FindStringSubmatch(dir)
	if m == nil || m[1] != "" && m[1] != strconv.Itoa(os.Getpid()) {
		return -1
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		return -1
	}
	return n
}
