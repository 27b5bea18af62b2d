// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package runs answers one question: how is a run carried out?
//
//	app.RunRequest ─► Start ─► Session ─► Do ─► Outcome
//	                  check the request; read, lint and keep the suite; open the targets │ run.Run, sums, view, verdict
//
// Resume and StartReplay make a Session of a stored run, Judge one of the attempts of a run or of trace files.
// Cancel ends a run that any process carries out. Preview computes what a run would ask.
package runs
