// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"io"
)

// Growing is a file that is read from its beginning and written at its end. What was written is
// kept when Sync has returned.
type Growing interface {
	io.ReaderAt
	io.Writer
	io.Closer
	Sync() error
}
