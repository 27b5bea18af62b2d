// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package bigtool answers one question: do callvet's preset `bigtool` and its judging
// of decisions give what was measured of the system that the second document
// describes, on that system's own suites and catalog? Run prints the figures beside
// those recorded, and the default preset beside both.
package bigtool
