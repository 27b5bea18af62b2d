// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/callvet/callvet"
)

// OwnedFileError is the error of a file that another owner has. It wraps callvet.ErrConflict.
type OwnedFileError struct {
	Path string
	Text []byte // the owner's text about itself; it may be a moment old
}

func (e *OwnedFileError) Error() string {
	return fmt.Sprintf("%s is another process's: %v", e.Path, callvet.ErrConflict)
}

// Unwrap gives callvet.ErrConflict.
func (e *OwnedFileError) Unwrap() error { return callvet.ErrConflict }

// OwnFile makes the caller the only owner of path until release is called or the process ends, however it
// does. Meanwhile there is a file with text, for others to read who the owner is; only the mode
// of its folder keeps them off. It does not wait: while there is another owner, in this process too, the
// error is an *OwnedError. Symbolic links in the folder of path are followed, so that a path by way of
// one is the same.
func OwnFile(path string, text []byte) (release func() error, err error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("own %s: %w", path, bare(err))
	}
	path = filepath.Join(dir, filepath.Base(path))
	f, err := tryOwn(path)
	if err != nil {
		return nil, fmt.Errorf("own %s: %w", path, bare(err))
	}
	if f == nil {
		said, err := os.ReadFile(path)
		if err != nil {
			said = nil // it has ended since, or cannot be read: there was an owner all the same
		}
		return nil, &OwnedFileError{Path: path, Text: said}
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err != nil {
		_ = disown(f) // the first error is the one that matters
		return nil, fmt.Errorf("own %s: %w", path, bare(err))
	}
	return func() error { return disown(f) }, nil
}
