// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package cases answers one question: how do new cases get into a suite?
//
// MakeCase makes a case by hand, FromTrace and FromFailure make one from an attempt, DrawGold and
// ApplyGold make cases from tasks that people labelled. Add, Lock and Archive change the file of a
// suite; each writes it whole or not at all.
package cases
