// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package file is the only place of the product that writes to the file system;
// house_test.go holds that.
//
// Write gives a path new content, all of it or none. A regular file is replaced by a temporary file
// in the same folder, a symbolic link is followed, and anything else (a FIFO, a device,
// /dev/stdout) is written in place, never replaced. Create and Append are for growing files,
// Private for files that only their owner may read.
//
// A new file has the mode that the umask leaves, as of any other program; one that
// is replaced keeps its mode, and its owner where the system allows it.
package file
