// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package sys answers one question: what does the operating system give: goroutines, processes and files,
// and who owns each of them?
//
// Goroutines. A Group waits for the goroutines that it started, and a panic in one of them comes out
// of Wait, in the goroutine of the owner. InParallel does the same for a loop. A panic without a
// recover ends a Go process at once: with exit code 2, which means a user's mistake in callvet, and
// without closing the store. Recovering is possible only in the goroutine itself. So every goroutine
// of the product starts in group.go; house_test.go checks that. If the goroutines of a
// Group wait for one another, it needs Stop: without it the others may wait forever for one that is gone.
//
// Processes. Process is this one: it gives a command contexts that signals end, and leaves after a
// grace. CatchPanic turns a panic into an error, which BugReport describes. RunCommand carries out a
// child process, and ServeHTTP a local server, that end with it. A ProcessFamily is a user's command
// (an agent or a scorer), which ends with all processes that it has started.
//
// Files. The files file_*.go are the only place of the product that writes to the file system;
// house_test.go checks that too. WriteFile gives a path new content, all of it or none. A regular file
// is replaced by a temporary file in the same folder, and a symbolic link is followed. Anything else
// (a FIFO, a device, /dev/stdout) is written in place, never replaced. CreateFile and AppendFile are
// for growing files, PrivateFile for files that only their owner may read. A new file has the mode
// that the umask leaves, as of any other program; one that is replaced keeps its mode, and its owner
// where the system allows it.
package sys
