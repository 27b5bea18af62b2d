// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package bigtool answers one question: does callvet reproduce the recorded figures of the second
// document's system on that system's own suites and catalog? Run prints the figures of the preset
// `bigtool`, the recorded ones, and those of the default preset.
package bigtool
