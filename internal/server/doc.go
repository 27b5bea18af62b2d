// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package server answers one question: what does the program do for those who ask over HTTP?
//
// Every route is made by add, which says who may use it (Access) and which objects its path names.
// Whose they are is decided there, before a handler sees the request. Handlers are methods that
// make a request for internal/app or for a room of the server (account, library, job), and
// tell its result; they hold no rule of their own.
//
//	request ─► headers, size ─► Access: who, role, scope, objects of the path ─► validation (huma) ─► handler ─► app, account, library, job
//
// The OpenAPI description is made from the Go types of the handlers. Errors are problem+json: the
// kind of an error (callvet.ErrInvalid, …) is its status, here and nowhere else.
package server
