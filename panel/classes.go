// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"

	"github.com/callvet/callvet"
)

var outcomes = [5]callvet.Outcome{
	callvet.OutcomeCalled, callvet.OutcomeAbstained, callvet.OutcomeUnparseable, callvet.OutcomeError, callvet.OutcomeNotRun,
}

// classes in order of precedence.
var classes = [20]callvet.Class{
	callvet.ClassProvider, callvet.ClassUnparseable, callvet.ClassUnknownTool, callvet.ClassMissedCall,
	callvet.ClassUnneededCall, callvet.ClassWrongTool, callvet.ClassContract, callvet.ClassUnknownArg,
	callvet.ClassWrongArgs, callvet.ClassMissingPrereq, callvet.ClassWrongOrder, callvet.ClassLoop,
	callvet.ClassIncomplete, callvet.ClassPolicy, callvet.ClassBudget, callvet.ClassAnswer,
	callvet.ClassRoute, callvet.ClassSubRoute, callvet.ClassAgents, callvet.ClassSelected,
}

// Outcomes lists the outcomes of attempts.
func Outcomes() []callvet.Outcome { return slices.Clone(outcomes[:]) }

// Classes lists the error classes in order of precedence.
func Classes() []callvet.Class { return slices.Clone(classes[:]) }
