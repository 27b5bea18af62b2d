// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package suite answers: what does this suite file say, and is it a sound
// suite?
//
// Load reads a file, a folder or standard input into a callvet.Suite and says
// with file, line and column what it could not accept; Open also finds what is
// readable but wrong (tools that do not exist, cases that assert nothing, gold
// that does not pass its own case); Export writes the native format back
// without loss. Schema is the published JSON Schema of the native format and
// Template a commented suite to start from.
//
// The package does not know foreign formats (internal/suite/dialect does), runs
// nothing and talks to nobody.
package suite
