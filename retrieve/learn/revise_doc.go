// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package revise answers one question: what would a catalog of tools be with other
// texts, and may a text be trusted that far? An Edit changes the texts of one tool;
// Apply lays edits over a catalog in memory, Rewrite over its file, byte by byte as it
// was elsewhere. Leaks finds questions of a suite in what edits add, Split divides the
// questions in those that suggestions may be made of and those that they are measured
// on, Choose says which tools to revise, and Check what is wrong with a suggestion.
//
// The package asks no model, searches nothing and measures nothing: commands do, with
// package retrieve and the paired tests of package panel.
package learn
