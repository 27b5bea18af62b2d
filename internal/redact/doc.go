// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package redact answers one question: which parts of this value must not be stored, and which
// values of this process are secret?
//
// A Redactor replaces each finding in a text or a JSON value by a word with its kind, such as
// [REDACTED:email], and counts the replacements. score/safety finds them, so that exactly the
// findings that count as incidents are hidden. Names, addresses and other free text have no form
// and stay.
//
// A Keeper knows the secret values of the environment: it refuses settings and suites that
// contain one. RefuseSpelled does the same for the address and headers of a server. FillVariables
// replaces ${NAME} by values. CutText cuts a server's text so that no part of a secret is left.
// The package sends no requests. ChildEnvironment is the environment of a child process.
package redact
