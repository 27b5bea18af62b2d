// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package text answers one question: which terms does a text have, so that a
// question and the description of a tool can meet?
//
// Words cuts texts and identifiers into folded words; an Analyzer drops function
// words and stems the rest in the languages that the text may be in (English,
// Spanish, Portuguese, Swedish, German). Reference and Plain are the tokenizers
// behind recorded figures of other programs and do what those do.
//
// It does not take compounds apart: that needs to know which words a catalog has,
// and is done where the catalog is (package bm25, Expand).
package retrieve
