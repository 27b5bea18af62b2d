// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package server answers one question: what does the program offer over HTTP?
//
// add registers every route with its Access: the required permission and the objects in the path.
// Ownership is checked there, before the handler runs. A handler converts the request into a call
// of internal/app or of a package of the server (account, library, job), and converts the result
// into a response. It contains no rules.
//
//	request ─► headers, size ─► Access: who, role, scope, objects of the path ─► validation (huma) ─► handler ─► app, account, library, job
//
// The OpenAPI description is made from the Go types of the handlers. Errors are problem+json: the
// kind of an error (callvet.ErrInvalid, …) is its status, here and nowhere else.
package server
