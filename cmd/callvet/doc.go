// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package process ends the process as its user expects: soon after an interrupt,
// whatever it waits for, and with a plain message after a bug.
//
// A Process watches for signals beside the command. The first one ends the context
// Soft, which the command should heed; the second ends Hard. A command that has
// not returned a moment later is left where it is: a read of a pipe to which
// nobody writes, a full pipe that nobody reads, or a parser in the middle of a
// large file. That is safe because nothing is lost by it: a file is written whole
// or not at all (internal/file), and cells are durable before they count.
package callvet
