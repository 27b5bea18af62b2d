// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package api answers one question: who may send which request, and how is it answered?
//
// Add registers a route with its Access: the required permission and the objects in the path. Ownership is checked
// there, before the handler runs; With makes a handler of a function that takes the Server. The OpenAPI description is
// made from the Go types of the handlers. Errors are problem+json: the kind of an error (callvet.ErrInvalid, …) is its
// status, here and nowhere else.
package api
