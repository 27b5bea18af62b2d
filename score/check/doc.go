// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package check holds what a case asserts beside its plans. It answers: what
// stands at this path of a result, and what do the assertions on names, answer
// and budget say?
//
// A Path leads to members and elements (items[0].id, items[].id). Names, Answer
// and Budget append one callvet.Assertion per thing asserted, with what was
// expected and what was found. Failure reads of a call whether it failed, also where only
// its result says so. Conditions on results are in score/condition.
//
// It does not pair calls with expectations, does not decide verdicts, and does
// not compare by matching modes: two values are equal or they are not.
package check
