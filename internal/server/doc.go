// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package server answers one question: what does the program offer over HTTP?
//
//	request ─► headers, size ─► Access: who, role, scope, objects of the path ─► validation (huma) ─► handler ─► app, account, library, job
//
// New puts the routes together, and Serve runs them with the jobs, schedules and webhooks of users.
// Package api has the routes of the program itself (accounts, jobs, events, metrics, the page).
// Package assets has those for the objects that a user keeps. Those for evaluations are here: runs
// and their results, judgings, comparisons, gates, drills, experiments with timelines and trends,
// schedules with webhooks; ToolEval, ToolEvalShard and Judge are the jobs behind them. A handler
// converts the request into a call of internal/app or of a package of the server (account, library,
// job), and converts the result into a response. It contains no rules.
package server
