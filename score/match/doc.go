// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package match compares the arguments of one actual call with the arguments
// that were expected, and holds what a case asserts next to its plans. It
// answers: does this value count as that one, by which rule, and how near is it?
//
// Compile turns expected arguments, per-parameter matchers and the tool's
// schema into Args, a tree of rules made once per expected call. Args.Tally
// counts (fast, without allocation); Args.Diff explains. One is the rule for a
// single value, as assertions on a path use it. Around that stand the other pure
// questions of matching: Assignment (which call answers which expectation) and
// Grounder (does a value occur in a text).
//
// A Path leads to members and elements (items[0].id, items[].id). Names, Answer
// and Budget append one callvet.Assertion for each thing asserted, with what was
// expected and what was found. Failure reports whether a call failed, also where only
// its result shows it. Conditions on results are in score/condition.
//
// Types are JSON's: 5 equals 5.0, 5 is not "5", true is not 1, null is not an
// absent key. It does not check schemas or decide verdicts.
package match
