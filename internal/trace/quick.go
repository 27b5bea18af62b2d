// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// The places of a step's members; those of the record itself are all that it may
// have and still be read by quick.
const (
	atTaskID = iota
	atTarget
	atAttempt
	atTurnID
	atCallID
	atTool
	atStatus
	atArgs
	atArgsRaw
	atResult
	atError
	atAccept
	atLatency
	atQueue
	atExec
	atGold
	atNeeded
	atGoldTool
	atGoldArgs
	atGoldParams
	atGoldScoring
	atGoldResult
	atCheck
	atTags
	atFields
	atEnv
	atStart
)

func expected() value.Expected {
	const (
		text   = value.FitNull | value.FitPlain
		whole  = value.FitNull | value.FitWhole
		object = value.FitNull | value.FitObject
	)
	return value.Expected{
		Places: []string{
			atTaskID: "task_id", atTarget: "target", atAttempt: "attempt", atTurnID: "turn_id", atCallID: "call_id", atTool: "tool",
			atStatus: "status", atArgs: "args", atArgsRaw: "args_raw", atResult: "result", atError: "error", atAccept: "accept_time_ms",
			atLatency: "latency_ms", atQueue: "latency_ms.queue", atExec: "latency_ms.exec", atGold: "gold", atNeeded: "gold.needed",
			atGoldTool: "gold.tool", atGoldArgs: "gold.args", atGoldParams: "gold.params", atGoldScoring: "gold.scoring", atGoldResult: "gold.result", atCheck: "gold.result_check",
			atTags: "tags", atFields: "fields", atEnv: "env", atStart: "start_ms",
		},
		Fits: []value.Fit{
			atTaskID: text, atTarget: text, atAttempt: whole, atTurnID: whole, atCallID: text, atTool: text,
			atStatus: text, atArgs: value.FitAny, atArgsRaw: value.FitNull | value.FitText, atResult: value.FitAny, atError: value.FitAny,
			atAccept: whole, atLatency: object, atQueue: whole, atExec: whole, atGold: object, atNeeded: value.FitNull | value.FitBool,
			atGoldTool: value.FitNull | value.FitText, atGoldArgs: value.FitAny, atGoldParams: object, atGoldScoring: object, atGoldResult: value.FitAny,
			atCheck: value.FitNull | value.FitText, atTags: value.FitNull | value.FitTexts, atFields: object, atEnv: text, atStart: whole,
		},
		Echoes: map[string]string{"args_raw": "args", "gold.args": "args", "gold.result": "result"},
	}
}

// skimmed is fill for a line that was skimmed. False says nothing, and leaves the
// View half filled.
func (v *View) skimmed(d *value.Doc, line int64, raw []byte) bool {
	v.Line, v.Raw, v.Made, v.Record, v.IsTask, v.Corrects = line, raw, 0, value.Value{}, false, false
	v.Args, v.ArgsRaw, v.Result, v.Error = d.At(atArgs), d.At(atArgsRaw), d.At(atResult), d.At(atError)
	v.GoldTool, v.GoldArgs, v.GoldResult, v.ResultCheck = d.At(atGoldTool), d.At(atGoldArgs), d.At(atGoldResult), d.At(atCheck)
	v.GoldParams, v.GoldScoring = d.At(atGoldParams), d.At(atGoldScoring)
	v.Tags, v.Fields = d.At(atTags), d.At(atFields)
	v.TaskID, v.Target, v.CallID = d.PlainAt(atTaskID), d.PlainAt(atTarget), d.PlainAt(atCallID)
	v.Tool, v.Status, v.Env, v.Guard = d.PlainAt(atTool), d.PlainAt(atStatus), d.PlainAt(atEnv), value.Value{}
	v.Attempt, v.TurnID = d.WholeAt(atAttempt, 0), d.WholeAt(atTurnID, -1)
	v.AcceptMS, v.QueueMS, v.ExecMS = float64(d.WholeAt(atAccept, -1)), float64(d.WholeAt(atQueue, -1)), float64(d.WholeAt(atExec, -1))
	v.StartMS = float64(d.WholeAt(atStart, -1))
	v.Needed = d.BoolAt(atNeeded)
	// A line with settings of its own is not skimmed: they have not been read.
	return len(v.TaskID) > 0 && len(v.Tool) > 0 && knownStatus(v.Status) && v.GoldScoring.Kind() <= value.Null
}

func (v *View) values(d *value.Doc) {
	v.Args, v.ArgsRaw, v.Result, v.Error = d.At(atArgs), d.At(atArgsRaw), d.At(atResult), d.At(atError)
	v.GoldTool, v.GoldArgs, v.GoldResult, v.ResultCheck = d.At(atGoldTool), d.At(atGoldArgs), d.At(atGoldResult), d.At(atCheck)
	v.GoldParams, v.GoldScoring = d.At(atGoldParams), d.At(atGoldScoring)
	v.Tags, v.Fields = d.At(atTags), d.At(atFields)
}

// quick is fill for a step all of whose members are where steps have them and
// hold what they should. False says nothing, and leaves the View half filled:
// then fill reads it, and tells what is wrong.
func (v *View) quick(d *value.Doc) bool {
	if !d.Placed() {
		return false
	}
	v.Record, v.IsTask, v.Corrects = d.Root(), false, false // a line that corrects is not quick
	v.values(d)
	return v.texts(d) && v.numbers(d) && v.kinds(d)
}

func (v *View) texts(d *value.Doc) bool {
	var task, target, call, tool, status, env bool
	v.Env, env = d.TextAt(atEnv)
	v.Guard = value.Value{} // a line that has it is not quick
	v.TaskID, task = d.TextAt(atTaskID)
	v.Target, target = d.TextAt(atTarget)
	v.CallID, call = d.TextAt(atCallID)
	v.Tool, tool = d.TextAt(atTool)
	v.Status, status = d.TextAt(atStatus)
	return task && target && call && tool && status && env && len(v.TaskID) > 0 && len(v.Tool) > 0 && knownStatus(v.Status)
}

func (v *View) numbers(d *value.Doc) bool {
	var accept, queue, exec, start bool
	v.AcceptMS, accept = d.NumberAt(atAccept, -1)
	v.QueueMS, queue = d.NumberAt(atQueue, -1)
	v.ExecMS, exec = d.NumberAt(atExec, -1)
	v.StartMS, start = d.NumberAt(atStart, -1)
	attempt, known := d.NumberAt(atAttempt, 0)
	turn, ordered := d.NumberAt(atTurnID, -1)
	v.Attempt, v.TurnID = int(attempt), int(turn)
	// What is not recorded is -1, which is no duration either.
	return accept && queue && exec && start && known && ordered && wholeNumber(attempt) && (wholeNumber(turn) || d.At(atTurnID).Kind() <= value.Null) &&
		(duration(v.AcceptMS) || d.At(atAccept).Kind() <= value.Null) && (duration(v.QueueMS) || d.At(atQueue).Kind() <= value.Null) &&
		(duration(v.ExecMS) || d.At(atExec).Kind() <= value.Null) && (duration(v.StartMS) || d.At(atStart).Kind() <= value.Null)
}

func (v *View) kinds(d *value.Doc) bool {
	needed := d.At(atNeeded)
	switch needed.Kind() {
	case value.Bool:
		v.Needed = 0
		if needed.Bool() {
			v.Needed = 1
		}
	case value.Invalid, value.Null:
		v.Needed = -1
	default:
		return false
	}
	return is(d.At(atGold), value.Object) && is(d.At(atLatency), value.Object) && is(v.Fields, value.Object) &&
		is(v.GoldParams, value.Object) && v.GoldScoring.Kind() <= value.Null && is(v.ArgsRaw, value.String) &&
		is(v.GoldTool, value.String) && is(v.ResultCheck, value.String) &&
		(v.Tags.Kind() == value.Invalid || stringsOnly(v.Tags))
}

// is reports that a member is of that kind, null or absent.
func is(m value.Value, want value.Kind) bool {
	k := m.Kind()
	return k == want || k == value.Invalid || k == value.Null
}

func knownStatus(s []byte) bool {
	switch callvet.Status(s) {
	case "", callvet.StatusOK, callvet.StatusRejected, callvet.StatusExecErr, callvet.StatusTimeout:
		return s == nil || len(s) > 0
	}
	return false
}
