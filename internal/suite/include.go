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

// include reads a file that a suite in the folder dir names. The file must be in that folder.
// Absolute paths, paths that lead out by ".." and symbolic links that lead out are refused, because
// a stranger's suite could read any file of this machine. A missing file wraps os.ErrNotExist.
func (o *Options) include(dir, name string) ([]byte, error) {
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
