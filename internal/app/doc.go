// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package app answers one question: what may a request use, and what does it consist of?
//
// A client (the command line, a server, a worker) makes an App once: its Config has the store,
// the files, the permissions, the clock and the environment. It passes the App to the functions
// of the packages that import this one, with a request: a plain struct with a JSON form. It gets
// data back, and events while a request is carried out. A mistake in a request is a
// callvet.FieldError, which names the field; a suggested next step is an Action. The client
// decides how to show them, and the exit code or status.
//
//	package   carries out                                                        imports of the others
//	results   stored runs: list, show, page, sums, rank, calibrate               –
//	traces    score, compare and gate runs and trace files; import and export   results
//	runs      start, resume, cancel, judge, replay and drill runs                results, traces
//	judging   the verdicts of judges: lists, audits, labels of people            results, runs
//	catalogs  catalogues of tools: search, edits, coverage, MCP servers          results, runs
//	cases     new cases: by hand, from traces, failures and labelled tasks       all of them
//
// This package has what all of them use: requests, settings, targets and how they are opened, suites, files,
// scorers, and the reader of trace files.
//
// The package reads no flags, no environment and no file system of its own: Config has
// what it may use.
package app
