// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package remote answers one question: what does a callvet server answer?
//
// Client uses the API of a server as a user with a token. It contains no rules: the server checks
// requests, and its errors have the same kinds as local ones (callvet.ErrInvalid, …).
package remote
