// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet/value"
)

// View is one line as a set of handles into it, for those who score many: it
// copies nothing and is valid until the next line is read. Byte slices are nil
// and values have kind Invalid or Null where the line does not tell.
type View struct {
	Head
	Call
	Raw []byte // the line without its end
	// Record is the whole line, that of a step not always; IsTask tells a task record
	// from a step.
	Record value.Value
	IsTask bool
	TurnID int // -1: not recorded
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
// by, in their order: a step.Input may be made of it without a copy.
type Call struct {
	// Tool is "name@vN" as it stands; SplitTool takes it apart.
	Tool                         []byte
	Args, ArgsRaw, Result, Error value.Value
	Status                       []byte
	// Needed is 1 or 0 as labelled, -1 when not.
	Needed                                      int
	GoldTool, GoldArgs, GoldResult, ResultCheck value.Value
}

// lineError is why a line is not a record.
type lineError struct{ reason string }

func (e *lineError) Error() string { return e.reason }

func badf(format string, args ...any) *lineError {
	return &lineError{fmt.Sprintf(format, args...)}
}

// fill reads the handles out of a parsed record. The names that the contract
// does not have are appended to strange.
func (v *View) fill(root value.Value, strange []string) ([]string, error) {
	if root.Kind() != value.Object {
		return strange, badf("the line is %s, not an object", withArticle(root.Kind()))
	}
	found, err := v.members(root, strange, false)
	if err == nil && v.IsTask {
		if first, _ := root.First(); !first.KeyIs("type") { // what came before it was read as a step's
			found, err = v.members(root, strange[:0], true)
		}
	}
	switch {
	case err != nil:
		return found, err
	case len(v.TaskID) == 0:
		return found, badf(`"task_id" is missing`)
	case !v.IsTask && len(v.Tool) == 0:
		return found, badf(`"tool" is missing`)
	}
	return found, nil
}

func (v *View) members(root value.Value, strange []string, task bool) ([]string, error) {
	raw, line := v.Raw, v.Line
	*v = View{
		Head: Head{Line: line, AcceptMS: -1, QueueMS: -1, ExecMS: -1}, Call: Call{Needed: -1},
		Raw: raw, Record: root, IsTask: task, TurnID: -1,
	}
	for m, ok := root.First(); ok; m, ok = root.Next(m) {
		known, err := v.member(m)
		if err != nil {
			if t, _ := root.Get("type"); !task && string(t.Bytes()) == "task" {
				return v.members(root, strange[:0], true)
			}
			return strange, err
		}
		if !known {
			strange = append(strange, m.Key())
			continue
		}
		strange = below(m, v.IsTask, strange)
	}
	return strange, nil
}

// below appends the names under a member that the contract does not have there:
// a label with a slip in its name would be no label, in silence.
func below(m value.Value, task bool, strange []string) []string {
	names := under(m.KeyBytes(), task)
	if names == nil || m.Kind() != value.Object {
		return strange
	}
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		if name := m.Key() + "." + e.Key(); !slices.Contains(names, name) {
			strange = append(strange, name)
		}
	}
	return strange
}

// kind reads what the record is.
func (v *View) kind(t value.Value) error {
	switch {
	case t.Kind() != value.String:
		return badf(`"type" is %s, not a string`, withArticle(t.Kind()))
	case string(t.Bytes()) == "task":
		v.IsTask = true
	case string(t.Bytes()) != "step":
		return badf(`"type" is %q; it must be "step" or "task"`, t.Str())
	}
	return nil
}

// member takes one member of the record; known is false when the contract does
// not have it.
func (v *View) member(m value.Value) (known bool, err error) {
	if !v.IsTask {
		if known, err := v.stepMember(m); known {
			return true, err
		}
	}
	switch string(m.KeyBytes()) {
	case "type":
		return true, v.kind(m)
	case "version":
		return true, v.version(m)
	case "task_id":
		return true, text(m, &v.TaskID)
	case "target":
		return true, text(m, &v.Target)
	case "attempt":
		return true, count(m, &v.Attempt)
	case "tags":
		v.Tags = m
		return true, stringsOnly(m)
	case "fields":
		v.Fields = m
		return true, kindOrNull(m, value.Object)
	}
	return v.IsTask && isTaskKey(m.KeyBytes()), nil
}

// stepMember takes a member that only steps have, or that most of them have.
func (v *View) stepMember(m value.Value) (known bool, err error) {
	switch string(m.KeyBytes()) {
	case "task_id":
		return true, text(m, &v.TaskID)
	case "tags":
		v.Tags = m
		return true, stringsOnly(m)
	case "turn_id":
		return true, count(m, &v.TurnID)
	case "call_id":
		return true, text(m, &v.CallID)
	case "tool":
		return true, text(m, &v.Tool)
	case "args":
		v.Args = m
	case "args_raw":
		v.ArgsRaw = m
		return true, kindOrNull(m, value.String)
	case "accept_time_ms":
		return true, millis(m, &v.AcceptMS)
	case "result":
		v.Result = m
	case "error":
		v.Error = m
	case "latency_ms":
		return true, v.latency(m)
	case "status":
		return true, v.status(m)
	case "gold":
		return true, v.gold(m)
	default:
		return false, nil
	}
	return true, nil
}

func (v *View) version(m value.Value) error {
	n := 0
	if err := count(m, &n); err != nil {
		return err
	}
	if n > Version {
		return badf("the record is of version %d; this callvet reads up to %d", n, Version)
	}
	return nil
}

func (v *View) status(m value.Value) error {
	if err := text(m, &v.Status); err != nil || v.Status == nil {
		return err
	}
	if knownStatus(v.Status) {
		return nil
	}
	return badf(`"status" is %q; it must be ok, rejected_by_contract, exec_error or timeout`, v.Status)
}

func (v *View) latency(m value.Value) error {
	if err := kindOrNull(m, value.Object); err != nil {
		return err
	}
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		var err error
		switch string(e.KeyBytes()) {
		case "queue":
			err = millis(e, &v.QueueMS)
		case "exec":
			err = millis(e, &v.ExecMS)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *View) gold(m value.Value) error {
	if err := kindOrNull(m, value.Object); err != nil {
		return err
	}
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		switch string(e.KeyBytes()) {
		case "needed":
			switch e.Kind() {
			case value.Bool:
				v.Needed = 0
				if e.Bool() {
					v.Needed = 1
				}
			case value.Null:
			default:
				return badf(`"gold.needed" is %s, not a boolean`, withArticle(e.Kind()))
			}
		case "args":
			v.GoldArgs = e
		case "result":
			v.GoldResult = e
		case "tool":
			v.GoldTool = e
			if err := kindOrNull(e, value.String); err != nil {
				return err
			}
		case "result_check":
			v.ResultCheck = e
			if err := kindOrNull(e, value.String); err != nil {
				return err
			}
		}
	}
	return nil
}

func withArticle(k value.Kind) string {
	switch k {
	case value.Array, value.Object:
		return "an " + k.String()
	case value.Null, value.Invalid:
		return k.String()
	}
	return "a " + k.String()
}

func kindOrNull(m value.Value, want value.Kind) error {
	if k := m.Kind(); k != want && k != value.Null {
		return badf("%q is %s, not %s", m.Key(), withArticle(k), withArticle(want))
	}
	return nil
}

func text(m value.Value, to *[]byte) error {
	if m.Kind() == value.String {
		*to = m.Bytes()
		return nil
	}
	return kindOrNull(m, value.String)
}

// count reads an integer from 0 to 2^31-1; null leaves what was there.
func count(m value.Value, to *int) error {
	if m.Kind() == value.Null {
		return nil
	}
	f, ok := m.Float()
	if !ok || !wholeNumber(f) {
		return badf("%q must be a whole number from 0", m.Key())
	}
	*to = int(f)
	return nil
}

func wholeNumber(f float64) bool { return f >= 0 && f <= 1<<31-1 && f == float64(int(f)) }

func duration(ms float64) bool { return ms >= 0 && ms <= 366*24*3600*1000 }

// millis reads a duration from 0 to a year; null leaves what was there.
func millis(m value.Value, to *float64) error {
	if m.Kind() == value.Null {
		return nil
	}
	f, ok := m.Float()
	if !ok || !duration(f) {
		return badf("%q must be milliseconds from 0", m.Key())
	}
	*to = f
	return nil
}

func stringsOnly(m value.Value) error {
	if err := kindOrNull(m, value.Array); err != nil {
		return err
	}
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		if e.Kind() != value.String {
			return badf("%q holds %s; it must hold strings only", m.Key(), withArticle(e.Kind()))
		}
	}
	return nil
}
