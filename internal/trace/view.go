// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// View is one line as a set of handles into it, for those who score many: it
// copies nothing and is valid until the next line is read. Byte slices are nil
// and values have kind Invalid or Null where the line does not tell.
type View struct {
	Head
	Call
	Raw []byte // the line without its end, repaired as Made lists
	// Made is what was repaired in the line so that it is JSON.
	Made value.Repairs
	// Record is the whole line, that of a step not always; IsTask tells a task record
	// from a step.
	Record value.Value
	IsTask bool
	TurnID int // -1: not recorded
	// Corrects reports that a step replaces earlier lines of its call.
	Corrects bool
	// StartMS is when the call was made, in milliseconds since the attempt began; -1: not recorded.
	StartMS float64
	// Env says who answered the call, Guard is a list of what a guard decided.
	Env   []byte
	Guard value.Value
	form  *doc.Type // of Record, where that was compared with one
}

// Head is what a line says beside the call. Its fields are those that steps are summed
// up by, in their order: a steps.Head may be made of it without a copy.
type Head struct {
	Line                   int64 // from 1 over the whole file
	TaskID, Target, CallID []byte
	Attempt                int
	// Milliseconds; -1: not recorded.
	AcceptMS, QueueMS, ExecMS float64
	Tags, Fields              value.Value
}

// Call is what a step tells of its call. Its fields are those that a call is scored
// by, in their order: a score.StepInput may be made of it without a copy.
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

// fill reads the handles out of a record, or says why it is none. Names that the
// contract does not have are given to strange.
func (v *View) fill(root value.Value, f forms, strange func(doc.Unknown)) error {
	form, err := f.check(root, strange)
	if err != nil {
		return err
	}
	task := form == f.task
	*v = View{
		Head: Head{Line: v.Line, AcceptMS: -1, QueueMS: -1, ExecMS: -1}, Call: Call{Needed: -1},
		Raw: v.Raw, Made: v.Made, Record: root, IsTask: task, TurnID: -1, StartMS: -1, form: form,
	}
	for m, ok := root.First(); ok; m, ok = root.Next(m) {
		switch string(m.KeyBytes()) {
		case "task_id":
			v.TaskID = m.Bytes()
		case "target":
			v.Target = m.Bytes()
		case "attempt":
			count(m, &v.Attempt)
		case "tags":
			v.Tags = m
		case "fields":
			v.Fields = m
		default:
			if !task {
				v.step(m)
			}
		}
	}
	return nil
}

// step takes a member that only steps have.
func (v *View) step(m value.Value) {
	switch string(m.KeyBytes()) {
	case "turn_id":
		count(m, &v.TurnID)
	case "call_id":
		v.CallID = m.Bytes()
	case "tool":
		v.Tool = m.Bytes()
	case "args":
		v.Args = m
	case "args_raw":
		v.ArgsRaw = m
	case "accept_time_ms":
		millis(m, &v.AcceptMS)
	case "start_ms":
		millis(m, &v.StartMS)
	case "result":
		v.Result = m
	case "error":
		v.Error = m
	case "latency_ms":
		queue, _ := m.Get("queue")
		exec, _ := m.Get("exec")
		millis(queue, &v.QueueMS)
		millis(exec, &v.ExecMS)
	case "status":
		v.Status = m.Bytes()
	case "corrects":
		v.Corrects = m.Bool()
	case "env":
		v.Env = m.Bytes()
	case "guard":
		v.Guard = m
	case "gold":
		v.gold(m)
	}
}

func (v *View) gold(m value.Value) {
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		switch string(e.KeyBytes()) {
		case "needed":
			if e.Kind() == value.Bool {
				v.Needed = 0
				if e.Bool() {
					v.Needed = 1
				}
			}
		case "args":
			v.GoldArgs = e
		case "params":
			v.GoldParams = e
		case "scoring":
			v.GoldScoring = e
		case "result":
			v.GoldResult = e
		case "tool":
			v.GoldTool = e
		case "result_check":
			v.ResultCheck = e
		}
	}
}

// count takes a whole number; null leaves what was there.
func count(m value.Value, to *int) {
	if f, ok := m.Float(); ok {
		*to = int(f)
	}
}

func wholeNumber(f float64) bool { return f >= 0 && f <= 1<<31-1 && f == float64(int(f)) }

func duration(ms float64) bool { return ms >= 0 && ms <= 366*24*3600*1000 }

// millis takes a duration; null leaves what was there.
func millis(m value.Value, to *float64) {
	if f, ok := m.Float(); ok {
		*to = f
	}
}

func stringsOnly(m value.Value) bool {
	if k := m.Kind(); k != value.Array {
		return k == value.Null
	}
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		if e.Kind() != value.String {
			return false
		}
	}
	return true
}
