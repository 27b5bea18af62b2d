// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package judge answers one question: what is the verdict of a model, or of the user's program, on
// an attempt?
//
//	attempt ─► Questions (evidence, fenced) ─► a model ─► Read ─► Verdict, or the reason why there is none
//	attempt ─► a line of JSON ─► a process ─► a line of JSON ─► Opinion, or the reason why there is none
//
// A Judge is a prompt, the schema of its verdict and its settings; any change makes a new judge,
// and calibrations of the old one do not apply. The gold answer and the automatic score are shown
// only with ShowGold. Texts of users, models and tools are between fences that no text can close.
//
// A ScorerPool runs commands, JavaScript and Python of a suite, one process for each attempt that
// is judged at the same time. A process that dies, is too slow or writes unreadable output is
// ended with its children, and a new one is started for the next attempt. MakeToolPrompt writes
// the system prompt for a set of tools.
//
// The package sends nothing to models and stores nothing: the evaluation loop does.
package judge
