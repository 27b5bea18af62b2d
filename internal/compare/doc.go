// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package compare answers one question: what does a trace file have that another one
// can be held against, task by task? A Side takes its task records and, where a
// metric or a slice needs them, its scored steps, and gives a panel.Ledger. It reads
// no files; how two ledgers differ is panel's matter.
package compare
