// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package process answers one question: how does a command end?
//
// Process gives it contexts that signals end, and leaves after a grace. Recover turns a panic into an error, which Bug
// describes. Run carries out a child process, and Serve a local server, that end with it.
package process
