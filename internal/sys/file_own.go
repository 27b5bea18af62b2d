// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/callvet/callvet"
)

// OwnedFileError is the error of a file with another owner. It wraps callvet.ErrConflict.
type OwnedFileError struct {
	Path string
	Text []byte // the owner's text about itself; it may be a moment old
}

func (e *OwnedFileError) Error() string {
	return fmt.Sprintf("%s is another process's: %v", e.Path, callvet.ErrConflict)
}

// Unwrap returns callvet.ErrConflict.
func (e *OwnedFileError) Unwrap() error { return callvet.ErrConflict }

// OwnFile makes the caller the only owner of path until release is called or the process ends,
// however it does. Meanwhile there is a file with text that names the owner to others; only the
// mode of its folder can keep them from that. It does not wait: while there is another owner, in
// this process too, it returns an *OwnedFileError. Symbolic links in the folder of path are
// followed, so that a path through a link is the same path.
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
		content, err := os.ReadFile(path)
		if err != nil {
			content = nil // the owner ended since, or the file cannot be read
		}
		return nil, &OwnedFileError{Path: path, Text: content}
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err != nil {
		_ = disown(f) // the first error is returned
		return nil, fmt.Errorf("own %s: %w", path, bare(err))
	}
	return func() error { return disown(f) }, nil
}
