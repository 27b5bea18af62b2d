// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

// StepMetric is one yes-or-no measurement of a single step of a trace file.
type StepMetric uint8

// The measurements. Each is known or unknown; unknown ones are left out of means.
const (
	// StepSchemaValid: the emitted arguments keep the tool's schema. Known where
	// the tool has one; a tool that is in no catalogue is invalid.
	StepSchemaValid StepMetric = iota
	// StepKnownTool: the tool is in the catalogue. Known where there is one.
	StepKnownTool
	// StepSelection: the call was needed and went to the right tool. Known where the label names
	// the right tool or is "no call needed".
	StepSelection
	// StepNeeded: the call was needed. Known where the label states it or names a tool.
	StepNeeded
	// StepArgEM: every key of gold and emitted arguments matches. Known where there are gold
	// arguments, the emitted ones were recorded and the label is not "no call needed".
	StepArgEM
	// StepExecuted: executed without an error. Known for calls that were executed.
	StepExecuted
	// StepRateLimited: the tool refused because of its rate limit. Known for
	// calls that were executed.
	StepRateLimited
	// StepTimeout: the tool did not answer in time. Known as StepExecuted.
	StepTimeout
	// StepRejected: the contract refused the call. Known where a status is recorded.
	StepRejected
	// StepEqual: the result is the expected one. Known where one is labelled.
	StepEqual
	// StepHolds: the post-condition on the result holds. Known where there is one
	// and the call was executed.
	StepHolds
	// StepSafe: no safety rule was broken. Known where rules were applied.
	StepSafe
	// StepRepaired: the payload as emitted was not valid; the repaired one is. Known as
	// StepSchemaValid.
	StepRepaired
	// StepInBudget: the execution took no longer than the tool's latency budget, which nine of ten
	// executions should keep. Known for executed calls with a recorded time and a tool with a
	// budget.
	StepInBudget
	// StepInP50: the execution took no longer than the tool's budget for the median. Known as
	// StepInBudget.
	StepInP50

	// StepMetrics is their number.
	StepMetrics
)

// StepScore is the score of one step. It has a fixed size, so that millions of steps need no
// allocations; in the zero value nothing is known.
type StepScore struct {
	// Known and True are sets of StepMetric, one bit each; True is a subset of Known.
	Known, True uint16
	// Matched is the number of argument keys that match, Expected and Emitted the numbers of keys
	// of gold and call, Union the number of keys in either. They are set where StepArgEM is known.
	Matched, Expected, Emitted, Union uint16
}

// Set makes a measurement known.
func (s *StepScore) Set(m StepMetric, yes bool) {
	s.Known |= 1 << m
	if yes {
		s.True |= 1 << m
	} else {
		s.True &^= 1 << m
	}
}

// Get returns a measurement; known is false where there is none.
func (s StepScore) Get(m StepMetric) (yes, known bool) {
	return s.True>>m&1 == 1, s.Known>>m&1 == 1
}
