// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package file is the only place of the product that writes to the file system;
// house_test.go holds that.
//
// Write gives a path new content, all of it or none: a regular file is replaced by
// a temporary beside it, a symbolic link is followed to what it names, and whatever
// else a path may be (a FIFO, a device, /dev/stdout) is written in place, never
// replaced. Create and Append are for files that grow, Private for those that hold
// what nobody else should read.
//
// A new file has the mode that the umask leaves, as of any other program; one that
// is replaced keeps its mode, and its owner where the system allows it.
package file
