// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package judge asks models what attempts are worth, and reads what they say.
//
//	attempt ─► Questions (evidence, fenced) ─► a model ─► Read ─► Verdict, or why there is none
//
// A Judge is a prompt, the schema of its verdict and how it is asked; whatever of it changes
// makes it another judge, to which no calibration of the old one applies. The gold answer and
// the automatic score are not shown to it unless ShowGold says so, and what users, models and
// tools said is data between fences that no text can close.
//
// The room sends nothing and keeps nothing: who asks is the same loop as for any other model.
package judge
