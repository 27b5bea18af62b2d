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
	atGoldResult
	atCheck
	atTags
	atFields
)

func expected() value.Expected {
	return value.Expected{
		Places: []string{
			atTaskID: "task_id", atTarget: "target", atAttempt: "attempt", atTurnID: "turn_id", atCallID: "call_id", atTool: "tool",
			atStatus: "status", atArgs: "args", atArgsRaw: "args_raw", atResult: "result", atError: "error", atAccept: "accept_time_ms",
			atLatency: "latency_ms", atQueue: "latency_ms.queue", atExec: "latency_ms.exec", atGold: "gold", atNeeded: "gold.needed",
			atGoldTool: "gold.tool", atGoldArgs: "gold.args", atGoldResult: "gold.result", atCheck: "gold.result_check",
			atTags: "tags", atFields: "fields",
		},
		Echoes: map[string]string{"args_raw": "args", "gold.args": "args", "gold.result": "result"},
	}
}

// quick is fill for a step all of whose members are where steps have them and
// hold what they should. False says nothing, and leaves the View half filled:
// then fill reads it, and tells what is wrong.
func (v *View) quick(d *value.Doc) bool {
	if !d.Placed() {
		return false
	}
	v.Record, v.IsTask = d.Root(), false
	v.Args, v.ArgsRaw, v.Result, v.Error = d.At(atArgs), d.At(atArgsRaw), d.At(atResult), d.At(atError)
	v.GoldTool, v.GoldArgs, v.GoldResult, v.ResultCheck = d.At(atGoldTool), d.At(atGoldArgs), d.At(atGoldResult), d.At(atCheck)
	v.Tags, v.Fields = d.At(atTags), d.At(atFields)
	v.Attempt, v.TurnID, v.AcceptMS, v.QueueMS, v.ExecMS = 0, -1, -1, -1, -1
	return plainText(d.At(atTaskID), &v.TaskID) && plainText(d.At(atTarget), &v.Target) && plainText(d.At(atCallID), &v.CallID) &&
		plainText(d.At(atTool), &v.Tool) && plainText(d.At(atStatus), &v.Status) && len(v.TaskID) > 0 && len(v.Tool) > 0 &&
		v.numbers(d) && v.kinds(d) && knownStatus(v.Status)
}

func (v *View) numbers(d *value.Doc) bool {
	return plainCount(d.At(atAttempt), &v.Attempt) && plainCount(d.At(atTurnID), &v.TurnID) && plainMillis(d.At(atAccept), &v.AcceptMS) &&
		plainMillis(d.At(atQueue), &v.QueueMS) && plainMillis(d.At(atExec), &v.ExecMS)
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
		is(v.ArgsRaw, value.String) && is(v.GoldTool, value.String) && is(v.ResultCheck, value.String) &&
		(v.Tags.Kind() == value.Invalid || stringsOnly(v.Tags) == nil)
}

// is reports that a member is of that kind, null or absent.
func is(m value.Value, want value.Kind) bool {
	k := m.Kind()
	return k == want || k == value.Invalid || k == value.Null
}

func plainText(m value.Value, to *[]byte) bool {
	switch m.Kind() {
	case value.String:
		*to = m.Bytes()
	case value.Invalid, value.Null:
		*to = nil
	default:
		return false
	}
	return true
}

func plainCount(m value.Value, to *int) bool {
	return m.Kind() == value.Invalid || count(m, to) == nil
}

func plainMillis(m value.Value, to *float64) bool {
	return m.Kind() == value.Invalid || millis(m, to) == nil
}

func knownStatus(s []byte) bool {
	switch callvet.Status(s) {
	case "", callvet.StatusOK, callvet.StatusRejected, callvet.StatusExecErr, callvet.StatusTimeout:
		return s == nil || len(s) > 0
	}
	return false
}
