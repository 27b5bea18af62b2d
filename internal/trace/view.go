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
	// Made are the repairs that make the line JSON.
	Made value.Repairs
	// Record is the whole line; IsTask reports that it is a task record, not a step.
	Record value.Value
	IsTask bool
	TurnID int // -1: not recorded
	// Corrects reports that a step replaces earlier lines of its call.
	Corrects bool
	// StartMS is when the call was made, in milliseconds since the attempt began; -1: not recorded.
	StartMS float64
	// Env names the source of the answer, Guard is the list of a guard's decisions.
	Env   []byte
	Guard value.Value
	form  *doc.Type // of Record, if it was checked against one
}

// Head are the members of a line except the call. They have the same order as in steps.Head, so
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
	// Tool is "name@vN" unchanged; SplitTool splits it.
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
	for m := root.Members(); m.Ok(); m = m.Next() {
		if v.IsTask {
			v.shared(m)
		} else {
			v.step(m)
		}
	}
	return nil
}

// reset empties all fields except the line and its text.
func (v *View) reset(root value.Value) {
	*v = View{
		Head: Head{Line: v.Line, AcceptMS: -1, QueueMS: -1, ExecMS: -1}, Call: Call{Needed: -1},
		Raw: v.Raw, Made: v.Made, Record: root, TurnID: -1, StartMS: -1,
	}
}

// plain fills the View if all members of the step are valid. False is not an error: then the form
// decides and reports errors.
func (v *View) plain(root value.Value) bool {
	for m := root.Members(); m.Ok(); m = m.Next() {
		if !v.step(m) {
			return false
		}
	}
	return root.Kind() == value.Object && len(v.TaskID) > 0 && len(v.Tool) > 0
}

// shared reads a member that steps and task records have; false if it is a different member, or has
// an unusual value.
func (v *View) shared(e value.Member) bool {
	m := e.Value()
	switch e.Place() {
	case nameTaskID:
		return text(m, &v.TaskID)
	case nameTarget:
		return text(m, &v.Target)
	case nameAttempt:
		return count(m, &v.Attempt)
	case nameTags:
		v.Tags = m
		return texts(m)
	case nameFields:
		v.Fields = m
		return is(m, value.Object)
	}
	return false
}

// step reads a member of a step; false as shared.
func (v *View) step(e value.Member) bool {
	m := e.Value()
	switch e.Place() {
	case nameTurnID:
		return count(m, &v.TurnID)
	case nameCallID:
		return text(m, &v.CallID)
	case nameTool:
		return text(m, &v.Tool)
	case nameArgs:
		v.Args = m
	case nameArgsRaw:
		v.ArgsRaw = m
		return is(m, value.String)
	case nameAccept:
		return millis(m, &v.AcceptMS)
	case nameStart:
		return millis(m, &v.StartMS)
	case nameResult:
		v.Result = m
	case nameError:
		v.Error = m
	case nameLatency:
		return v.latency(m)
	case nameStatus:
		return text(m, &v.Status) && knownStatus(v.Status)
	case nameEnv:
		return text(m, &v.Env)
	case nameGold:
		return v.gold(m)
	case nameCorrects:
		v.Corrects = m.Bool()
		return is(m, value.Bool)
	case nameGuard:
		v.Guard = m
		return false
	default:
		return v.shared(e)
	}
	return true
}

func (v *View) latency(m value.Value) bool {
	plain := is(m, value.Object)
	for e := m.Members(); e.Ok(); e = e.Next() {
		switch e.Place() {
		case nameQueue:
			plain = millis(e.Value(), &v.QueueMS) && plain
		case nameExec:
			plain = millis(e.Value(), &v.ExecMS) && plain
		default:
			plain = false
		}
	}
	return plain
}

func (v *View) gold(m value.Value) bool {
	plain := is(m, value.Object)
	for o := m.Members(); o.Ok(); o = o.Next() {
		right, e := true, o.Value()
		switch o.Place() {
		case nameNeeded:
			if e.Kind() == value.Bool {
				v.Needed = 0
				if e.Bool() {
					v.Needed = 1
				}
			}
			right = is(e, value.Bool)
		case nameArgs:
			v.GoldArgs = e
		case nameParams:
			v.GoldParams, right = e, is(e, value.Object)
		case nameScoring:
			v.GoldScoring, right = e, e.Kind() == value.Null
		case nameResult:
			v.GoldResult = e
		case nameTool:
			v.GoldTool, right = e, is(e, value.String)
		case nameCheck:
			v.ResultCheck, right = e, is(e, value.String)
		default:
			right = false
		}
		plain = plain && right
	}
	return plain
}

// is reports that a value has this kind, or is null.
func is(m value.Value, want value.Kind) bool { k := m.Kind(); return k == want || k == value.Null }

// text accepts a string; null means none.
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

// count accepts a whole number; null changes nothing.
func count(m value.Value, to *int) bool {
	f, ok := m.Float()
	if ok {
		*to = int(f)
	}
	return m.Kind() == value.Null || ok && f >= 0 && f <= 1<<31-1 && f == float64(int(f))
}

// millis accepts a duration; null changes nothing.
func millis(m value.Value, to *float64) bool {
	f, ok := m.Float()
	if ok {
		*to = f
	}
	return m.Kind() == value.Null || ok && f >= 0 && f <= maxMS
}
