// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// View is one line as a set of handles into it, for fast scoring: it copies nothing and is valid
// until the next line is read. For absent members, byte slices are nil and values have kind Invalid
// or Null.
type View struct {
	Head
	Call
	Raw []byte // the line without its end, repaired as Made lists
	// Made is what was repaired in the line so that it is JSON.
	Made value.Repairs
	// Record is the whole line; IsTask reports that it is a task record, not a step.
	Record value.Value
	IsTask bool
	TurnID int // -1: not recorded
	// Corrects reports that a step replaces earlier lines of its call.
	Corrects bool
	// StartMS is when the call was made, in milliseconds since the attempt began; -1: not recorded.
	StartMS float64
	// Env names who answered the call, Guard is the list of a guard's decisions.
	Env   []byte
	Guard value.Value
	form  *doc.Type // of Record, if it was checked against one
}

// Head are the members of a line other than the call. They have the same order as in steps.Head, so
// that a conversion needs no copy.
type Head struct {
	Line                   int64 // from 1 over the whole file
	TaskID, Target, CallID []byte
	Attempt                int
	// Milliseconds; -1: not recorded.
	AcceptMS, QueueMS, ExecMS float64
	Tags, Fields              value.Value
}

// Call are the members of a step about its call. They have the same order as in score.StepInput, so
// that a conversion needs no copy.
type Call struct {
	// Tool is "name@vN" as it stands; SplitTool takes it apart.
	Tool                         []byte
	Args, ArgsRaw, Result, Error value.Value
	Status                       []byte
	// Needed is 1 or 0 as labelled, -1 when not.
	Needed                                      int
	GoldTool, GoldArgs, GoldResult, ResultCheck value.Value
	GoldParams, GoldScoring                     value.Value
}

// fill reads the handles from a record, or returns why it is not a record. Unknown members are
// passed to strange. Most lines are plain steps: they are compared with the contract while they are
// read, which takes a third of the time of the form's check.
func (v *View) fill(root value.Value, f forms, strange func(doc.Unknown)) error {
	v.reset(root)
	if v.plain(root) {
		return nil
	}
	form, err := f.check(root, strange)
	if err != nil {
		return err
	}
	v.reset(root)
	v.IsTask, v.form = form == f.task, form
	for m, ok := root.First(); ok; m, ok = root.Next(m) {
		if key := m.KeyBytes(); !v.shared(key, m) && !v.IsTask {
			v.step(key, m)
		}
	}
	return nil
}

// reset empties all but the line and its text.
func (v *View) reset(root value.Value) {
	*v = View{
		Head: Head{Line: v.Line, AcceptMS: -1, QueueMS: -1, ExecMS: -1}, Call: Call{Needed: -1},
		Raw: v.Raw, Made: v.Made, Record: root, TurnID: -1, StartMS: -1,
	}
}

// plain fills the View if all members of the step are valid. False is not an error: then the form
// decides and reports errors.
func (v *View) plain(root value.Value) bool {
	for m, ok := root.First(); ok; m, ok = root.Next(m) {
		if key := m.KeyBytes(); !v.shared(key, m) && !v.step(key, m) {
			return false
		}
	}
	return root.Kind() == value.Object && len(v.TaskID) > 0 && len(v.Tool) > 0
}

// shared reads a member that steps and task records have; false if it is a different member, or has
// an unusual value.
func (v *View) shared(key []byte, m value.Value) bool {
	switch string(key) {
	case "task_id":
		return text(m, &v.TaskID)
	case "target":
		return text(m, &v.Target)
	case "attempt":
		return count(m, &v.Attempt)
	case "tags":
		v.Tags = m
		return texts(m)
	case "fields":
		v.Fields = m
		return is(m, value.Object)
	}
	return false
}

// step takes a member that only steps have; false as shared.
func (v *View) step(key []byte, m value.Value) bool {
	switch string(key) {
	case "turn_id":
		return count(m, &v.TurnID)
	case "call_id":
		return text(m, &v.CallID)
	case "tool":
		return text(m, &v.Tool)
	case "args":
		v.Args = m
	case "args_raw":
		v.ArgsRaw = m
		return is(m, value.String)
	case "accept_time_ms":
		return millis(m, &v.AcceptMS)
	case "start_ms":
		return millis(m, &v.StartMS)
	case "result":
		v.Result = m
	case "error":
		v.Error = m
	case "latency_ms":
		return v.latency(m)
	case "status":
		return text(m, &v.Status) && knownStatus(v.Status)
	case "env":
		return text(m, &v.Env)
	case "gold":
		return v.gold(m)
	case "corrects":
		v.Corrects = m.Bool()
		return is(m, value.Bool)
	case "guard":
		v.Guard = m
		return false
	default:
		return false
	}
	return true
}

func (v *View) latency(m value.Value) bool {
	plain := is(m, value.Object)
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		switch string(e.KeyBytes()) {
		case "queue":
			plain = millis(e, &v.QueueMS) && plain
		case "exec":
			plain = millis(e, &v.ExecMS) && plain
		default:
			plain = false
		}
	}
	return plain
}

func (v *View) gold(m value.Value) bool {
	plain := is(m, value.Object)
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		right := true
		switch string(e.KeyBytes()) {
		case "needed":
			if e.Kind() == value.Bool {
				v.Needed = 0
				if e.Bool() {
					v.Needed = 1
				}
			}
			right = is(e, value.Bool)
		case "args":
			v.GoldArgs = e
		case "params":
			v.GoldParams, right = e, is(e, value.Object)
		case "scoring":
			v.GoldScoring, right = e, e.Kind() == value.Null
		case "result":
			v.GoldResult = e
		case "tool":
			v.GoldTool, right = e, is(e, value.String)
		case "result_check":
			v.ResultCheck, right = e, is(e, value.String)
		default:
			right = false
		}
		plain = plain && right
	}
	return plain
}

// is reports that a value is of that kind, or null.
func is(m value.Value, want value.Kind) bool { k := m.Kind(); return k == want || k == value.Null }

// text takes a string; null is none.
func text(m value.Value, to *[]byte) bool {
	*to = m.Bytes()
	return is(m, value.String)
}

// texts reports a list of strings.
func texts(m value.Value) bool {
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		if e.Kind() != value.String {
			return false
		}
	}
	return is(m, value.Array)
}

func knownStatus(s []byte) bool {
	switch callvet.Status(s) {
	case callvet.StatusOK, callvet.StatusRejected, callvet.StatusExecErr, callvet.StatusTimeout:
		return true
	}
	return s == nil
}

// count takes a whole number; null leaves what was there.
func count(m value.Value, to *int) bool {
	f, ok := m.Float()
	if ok {
		*to = int(f)
	}
	return m.Kind() == value.Null || ok && f >= 0 && f <= 1<<31-1 && f == float64(int(f))
}

// millis takes a duration; null leaves what was there.
func millis(m value.Value, to *float64) bool {
	f, ok := m.Float()
	if ok {
		*to = f
	}
	return m.Kind() == value.Null || ok && f >= 0 && f <= maxMS
}
