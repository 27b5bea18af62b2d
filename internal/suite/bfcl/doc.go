// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package bfcl reads the case files of the Berkeley Function Calling
// Leaderboard into suites that score by its rules.
//
// It answers one question: what does this file of questions expect? Import
// takes one file (official questions with possible_answer beside them, or rows
// with their ground_truth inside), ImportFolder a folder of them. Every case
// keeps its id and category; every tool keeps the declared BFCL types beside a
// real JSON Schema made of them.
//
// It does not read model outputs (package recorded does), and does not carry
// multi-turn categories, whose worlds are programs.
package bfcl
