// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package server answers one question: what does the program offer over HTTP?
//
//	request ─► headers, size ─► Access: who, role, scope, objects of the path ─► validation (huma) ─► handler ─► app, account, library, job
//
// New puts the routes together, and Serve runs them with the jobs, schedules and webhooks of users. The routes of this
// program's own are in package api (accounts, jobs, events, metrics, the page), those of what a user keeps in assets,
// and those of what is evaluated in evals. A handler converts the request into a call of
// internal/app or of a package of the server (account, library, job), and converts the result into
// a response. It contains no rules.
package server
