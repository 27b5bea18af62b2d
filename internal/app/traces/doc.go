// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package traces answers one question: what are attempts worth, wherever they are stored?
//
//	ScoreRequest ─► Score ─► results.Scored    DiffRequest   ─► Diff ─► panel.Comparison
//	GateRequest  ─► Gate  ─► GateResult        ImportRequest ─► OpenImport ─► Import ─► Do ─► ImportResult
//
// Each reads a run or trace files (app.Side). Plan computes how many cases and attempts a decision
// needs; Variance computes which sources make the verdicts of runs differ. An Exhibitor shows lines
// of trace files redacted.
package traces
