// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package app answers one question: what does the program do, without a terminal?
//
// A client (the command line, a server, a worker) makes an App once and hands it
// requests: plain structs that JSON can spell. It gets data back, and events while a
// request goes on. A mistake in a request is a callvet.FieldError, which names the field; what
// helps now is an Action. How either is shown, and which exit code or status it gives,
// is the client's matter.
//
//	RunRequest ─► StartRun ─► Session ─► Do ─► Outcome
//	              check the request, read, lint and keep the suite, open the targets │ run.Run, sums, view, verdict
//
// A Run is a stored run with its suite: views, comparisons and gates read it.
//
//	ScoreRequest ─► Score ─► Scored          DiffRequest ─► Diff ─► panel.Comparison
//	GateRequest  ─► Gate  ─► GateResult      ImportRequest ─► OpenImport ─► Import ─► Do ─► ImportResult
//
// These read a run or a trace file (Side), which go through one sum (adding).
//
//	QueryRequest ─► Query ─► catalog.Answer   SweepRequest ─► Sweep, Curve ─► catalog.Sweep, Curve
//
// These and their like are about catalogues of tools. Where one asks models, it makes runs
// (asker), which the client shows by a Conclude. A request or a result that clients handle by
// name has a name here, though another room may define it.
//
// The package reads no flags, no environment and no file system of its own: Config has
// what it may use.
package app
