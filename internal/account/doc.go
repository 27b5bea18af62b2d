// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package account answers one question: who sends this request, and what may they do?
//
// Accounts stores users, their sessions and tokens. A Principal is an identified user; only
// Principal.MayRead and Principal.MayChange decide what the user may read or change.
package account
