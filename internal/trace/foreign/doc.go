// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package foreign turns recordings of other tools into attempts, and attempts
// into what other tools read.
//
// It answers one question: what is in this file? Open looks at the content,
// never at the name, and gives an Importer whose Attempts come one after the
// other and whose Report says what was read, what could not be carried and
// which lines were no records; Export writes a format.
//
// The forms themselves are read by chats (conversations) and spans (traces of
// OpenTelemetry and its kin). It opens no file and judges nothing.
package foreign
