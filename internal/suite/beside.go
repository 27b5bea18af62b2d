// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
)

// beside reads a file that a suite in the folder dir names, which is to lie in that folder:
// an absolute path, one that leads out by "..", and a symbolic link that does are refused,
// because a suite of a stranger would read any file of this machine. A path that is not
// there wraps os.ErrNotExist.
func (o *Options) beside(dir, name string) ([]byte, error) {
	if o.NoIncludes {
		return nil, fmt.Errorf("%w: this suite may not read other files", callvet.ErrDenied)
	}
	if o.Outside {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return o.readFile(name)
	}
	name = filepath.Clean(name)
	if !filepath.IsLocal(name) {
		return nil, outside(name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer root.Close()
	f, err := root.Open(name)
	var escape *os.PathError
	switch {
	case err == nil:
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("read %s: %w", name, err)
	case errors.As(err, &escape) && strings.Contains(escape.Err.Error(), "escapes"): // the only sign of it
		return nil, outside(name)
	default:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	return o.read(f, name)
}

func outside(name string) error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("%s leads out of the suite's folder: %w", name, callvet.ErrDenied),
		Hint: "copy the file there, or --allow-outside to read it where it is",
	}
}
