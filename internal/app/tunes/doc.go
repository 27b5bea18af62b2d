// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package tunes answers one question: how is a search for better parameters or a better prompt carried
// out?
//
// A search is an ordered list of runs: rounds of the search, questions to the model that writes
// prompts, and a confirmation. The next step follows from the request and from the runs so far, so
// an interrupted search is resumed by reading them.
package tunes
