// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// temporaryFile opens a new file in the folder of a target, locked as long as it is open.
func temporaryFile(to fileTarget) (*os.File, error) {
	dir := filepath.Dir(to.path)
	sweep(dir)
	perm := fs.FileMode(0o666)
	if to.info != nil {
		perm = 0o600 // until it has the mode of the replaced file
	}
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".callvet-%d-%d.tmp", os.Getpid(), n)),
			os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, bare(err)
		}
		if claim(f) && same(f) {
			return f, nil
		}
		_ = f.Close() // another process removed it
	}
}

// same reports whether a file still has its name.
func same(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(open, named)
}

// temporaries are the names of temporaries, those of earlier releases too.
var temporaries = regexp.MustCompile(`^\.callvet-\d+(-\d+\.tmp)?$`)

// sweep removes the temporary files of ended processes. It ignores those that cannot be removed:
// they do no harm.
func sweep(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	for _, name := range names {
		if !temporaries.MatchString(name) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if claim(f) && same(f) {
			_ = os.Remove(path)
		}
		_ = f.Close()
	}
}
