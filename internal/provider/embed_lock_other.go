// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !unix

package disk

import "os"

// lock does nothing where there are no such locks: two processes that write at once
// may then lose vectors, which are made again, but never get wrong ones.
func lock(*os.File) error { return nil }

func unlock(*os.File) {}
