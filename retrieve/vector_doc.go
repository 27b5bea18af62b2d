// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package vector answers one question: how near is a question to each text of a
// catalog, as vectors?
//
// An Embedder makes vectors of texts, a Matrix holds them and multiplies all of them
// with one, exactly, by brute force: a catalog of 100,000 tools needs no approximate
// index. NGram is the Embedder that needs no weights and no network; it knows how
// words are written, not what they mean.
//
// It does not call models over the network or keep files: those are adapters behind
// Embedder and Cache.
package retrieve
