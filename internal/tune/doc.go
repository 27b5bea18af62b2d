// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tune answers one question: which parameters or prompt are better, and is that true of cases
// that the search has not seen?
//
//	Space ─► combinations ─► Matrix (each request once) ─► Search ─► rounds ─► Race ─► best candidate
//	cases ─► families ─► training half, held-out half ─► Confirm ─► promoted, or the reason why not
//
//	base prompt ─► Evolution ─► Questions ─► Answers of a model ─► Candidates (no copies) ─► Race
//
// A search works in rounds: some candidates run some cases of the training half. It drops
// candidates that are worse. The chosen candidate is then compared with the base once, on the
// held-out half.
//
// The package sends no requests, and reads and writes no files: package internal/app/tunes does.
package tune
