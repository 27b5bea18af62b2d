// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package runs answers one question: how is a run carried out, and how is it judged?
//
//	app.RunRequest ─► Start ─► Session ─► Do ─► Outcome
//	                  check the request; read, lint and keep the suite; open the targets │ run.Run, sums, view, verdict
//
// Resume and StartReplay make a Session of a stored run, Judge one of the attempts of a run or of
// trace files. Judgings and labels: List and Show return the judgings of a run with their verdicts.
// Audit lets a judge judge changed answers, to measure its biases. LabelNext chooses what a person
// should label next; LabelImport, LabelExport and LabelStamp read, write and bind labels.
//
// Cancel ends a run of any process. Preview computes which requests a run would send.
package runs
