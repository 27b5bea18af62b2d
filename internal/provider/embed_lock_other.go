// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build !unix

package provider

import "os"

// lock does nothing on systems without such locks. Two concurrent writers may lose vectors, which
// are then computed again; vectors are never wrong.
func lock(*os.File) error { return nil }

func unlock(*os.File) {}
