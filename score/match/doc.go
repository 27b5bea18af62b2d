// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package match answers one question: does a call match an expected one, and how near is it? It
// compares arguments by rules, and checks the assertions of a case outside its plans.
//
// Compile turns expected arguments, per-parameter matchers and the tool's schema into Args, a tree
// of rules made once per expected call. Args.Tally counts (fast, without allocation); Args.Diff
// explains. One is the rule for a single value, for assertions on a path. Assignment pairs calls
// with expectations, and Grounder finds values in texts.
//
// A Path leads to members and elements (items[0].id, items[].id). Names, Answer and Budget append
// one callvet.Assertion for each assertion, with the expected and the found value. Failure
// reports whether a call failed, even if only its result shows it. Conditions on results are in
// score/condition.
//
// Types are JSON's: 5 equals 5.0, 5 is not "5", true is not 1, null is not an
// absent key. It does not check schemas or decide verdicts.
package match
