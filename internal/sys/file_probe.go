// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// probeBytes is how much ProbeFolder writes: more than the free rest of a block on the disk.
const probeBytes = 64 << 10

// ProbeFolder returns an error if no file can be written to a folder, for example on a full disk.
// It removes its file.
func ProbeFolder(folder string) error {
	f, err := temporaryFile(fileTarget{path: filepath.Join(folder, "probe")})
	if err != nil {
		return fmt.Errorf("write to %s: %w", folder, err)
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("write to %s: %w", folder, err)
	}
	return nil
}
