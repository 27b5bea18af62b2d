// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package cases answers one question: how do new cases get into a suite?
//
// MakeCase writes one by hand, FromTrace and FromFailure make one of an attempt, DrawGold and ApplyGold make cases of
// tasks that people labelled. Add, Lock and Archive change the file of a suite; each writes it whole or not at all.
package cases
