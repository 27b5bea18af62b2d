// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package account answers one question: who sends this request, and what may they do?
//
// Accounts keeps users, their sessions and tokens in the store. A Principal is who was
// recognized; whether he may read or change something is decided by Principal.MayRead and
// Principal.MayChange, and nowhere else.
package account
