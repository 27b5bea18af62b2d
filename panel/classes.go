// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

var outcomes = [5]callvet.Outcome{
	callvet.OutcomeCalled, callvet.OutcomeAbstained, callvet.OutcomeUnparseable, callvet.OutcomeError,
	callvet.OutcomeNotRun,
}

// classes in order of precedence.
var classes = [20]callvet.Class{
	callvet.ClassProvider, callvet.ClassUnparseable, callvet.ClassUnknownTool, callvet.ClassMissedCall,
	callvet.ClassUnneededCall, callvet.ClassWrongTool, callvet.ClassContract, callvet.ClassUnknownArg,
	callvet.ClassWrongArgs, callvet.ClassMissingPrereq, callvet.ClassWrongOrder, callvet.ClassLoop,
	callvet.ClassIncomplete, callvet.ClassPolicy, callvet.ClassBudget, callvet.ClassAnswer,
	callvet.ClassRoute, callvet.ClassSubRoute, callvet.ClassAgents, callvet.ClassSelected,
}

// reasons why attempts are unparseable, and then the kinds of errors.
var reasons = [28]Reasoned{
	unread(callvet.ReasonTokens), unread(callvet.ReasonContext), unread(callvet.ReasonCut), unread(callvet.ReasonEmpty),
	unread(callvet.ReasonThoughts), unread(callvet.ReasonCall), unread(callvet.ReasonCutCall),
	unread(callvet.ReasonArguments),
	failed(callvet.FaultFiltered), failed(callvet.FaultRefused), failed(callvet.FaultFailed),
	failed(callvet.FaultDropped),
	failed(callvet.FaultNoCall), failed(callvet.FaultUnknown),
	failed(callvet.FaultRateLimit), failed(callvet.FaultServer), failed(callvet.FaultAuth),
	failed(callvet.FaultRequest),
	failed(callvet.FaultTimeout), failed(callvet.FaultNetwork), failed(callvet.FaultMalformed),
	failed(callvet.FaultTooLarge),
	failed(callvet.FaultProcess), failed(callvet.FaultMissing), failed(callvet.FaultTool),
	failed(callvet.FaultCanceled),
	failed(callvet.FaultUnsupport), failed(callvet.FaultLost),
}

func unread(r callvet.Reason) Reasoned {
	return Reasoned{Outcome: callvet.OutcomeUnparseable, Reason: string(r)}
}

func failed(k callvet.FaultKind) Reasoned {
	return Reasoned{Outcome: callvet.OutcomeError, Reason: string(k)}
}

// Reasons lists why attempts are unparseable, and then the kinds of errors; N is 0.
func Reasons() []Reasoned { return slices.Clone(reasons[:]) }

// Outcomes lists the outcomes of attempts.
func Outcomes() []callvet.Outcome { return slices.Clone(outcomes[:]) }

// Classes lists the error classes in order of precedence.
func Classes() []callvet.Class { return slices.Clone(classes[:]) }

// Word is a class, a reason or a kind of error as people read it, in every report and page.
func Word(name string) string { return strings.ReplaceAll(name, "_", " ") }
