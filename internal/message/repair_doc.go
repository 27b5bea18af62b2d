// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package repair turns what a model emitted into calls, without ever guessing.
//
// It answers one question: which call did this text mean? Args reads an
// argument payload, Call a native call, FromText the calls that a model wrote
// into its answer, PythonCalls those that it wrote as Python. Each repair is
// recorded on the call it mended. Broken JSON is never completed: what cannot be
// read strictly stays raw, and the attempt is unparseable rather than an abstention.
//
// A text is an attempt to call where all of it is calls, or where they stand in a
// code fence or behind a mark that models use for calls. Prose that has a call in
// it, or names a tool, is an answer: "You could call {…}, but you need not."
//
// It knows no provider, no schema and no score.
package message
