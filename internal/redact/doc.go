// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package redact takes secrets and personal data out of texts and JSON values
// before they are written.
//
// It answers one question: what in this value must not be kept? A Redactor
// replaces each finding by a word that tells its kind, such as
// [REDACTED:email], and counts what it replaced. What is found, and how it is
// checked, is the detector's business (score/safety/pii): what is hidden here and
// what counts as an incident there are the same.
//
// It finds what has a form. Names, addresses and other free text are out of its
// reach, and it says nothing about whether a value was right to be there.
package redact
