// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package repair turns what a model emitted into calls, without ever guessing.
//
// It answers one question: which call did this text mean? Args reads an
// argument payload, Call a native call, FromText the calls that a model wrote
// into its answer. Three repairs exist ("Scoring rules", Outcome first) and each
// is recorded on the call it mended. Broken JSON is never completed: what cannot
// be read strictly stays raw, and the attempt is unparseable rather than an
// abstention.
//
// It knows no provider, no schema and no score.
package repair
