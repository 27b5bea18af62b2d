// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package origin reads and writes the suite files of the four systems callvet
// grew from: tool suites, eval cases, tool selection suites and labelled tasks.
// What is imported and exported again is the same document.
//
// Import and Export are its whole surface; what a file looks like is decided in
// package dialect, the JSON underneath is package tree's.
package origin
