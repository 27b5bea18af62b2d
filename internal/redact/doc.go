// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package redact answers one question: what in this value must not be kept, and which values of
// this process are secret?
//
// A Redactor replaces each finding in a text or a JSON value by a word with its kind, such as
// [REDACTED:email], and counts the replacements. What is found is decided by score/safety, so
// that what is hidden and what counts as an incident are the same. Names, addresses and other free
// text have no form and stay.
//
// A Keeper knows the secret values of the environment: it refuses settings and suites that hold
// one. RefuseSpelled does the same for the address and headers of a server. FillVariables puts values in
// the place of ${NAME}. CutText cuts a server's text so that no part of a secret is left. Nothing here
// sends a request. ChildEnvironment is the environment that a child process gets.
package redact
