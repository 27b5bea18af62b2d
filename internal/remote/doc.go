// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package remote answers one question: what does a callvet server say?
//
// Client asks the API of a server as a user with a token. It holds no rule of its own: what is
// wrong with a request is told by the server, and comes back as an error of the same kind that
// the request would have given here (callvet.ErrInvalid, …).
package remote
