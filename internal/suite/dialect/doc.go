// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package dialect reads and writes suite files of formats that are not callvet's own. It answers
// one question: what does this foreign file contain in callvet's nouns, and which parts cannot be
// expressed in them?
//
// Detect names a file's dialect by its content, Import returns a Suite with a list of Problems,
// Export writes a Suite back. Every case keeps its original in Case.Foreign and every suite its
// frame in Suite.Foreign. So a file that is imported and exported again is the same document,
// with the changes made in between applied.
//
// Node, Record and Frame are the tree that the dialects read and write.
//
// Inside, every file is JSON. Comments are blanked out in place and YAML is rewritten as JSON with
// a table of positions, so that each problem has the line and column of the original file.
//
// The files of the Berkeley leaderboard (BFCL) become suites that score by its rules: questions with
// possible_answer next to them, or rows with their ground_truth inside. Every tool keeps the declared BFCL
// types next to a JSON Schema made of them. Multi-turn categories are left out: their worlds are programs.
//
// It does not lint (are the tools known, does the gold pass?) or run anything. The files that it reads
// from disk are those that a promptfoo configuration names, inside the configuration's own directory, and
// the answers next to BFCL's questions.
package dialect
