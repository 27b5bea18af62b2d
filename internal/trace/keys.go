// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// stepLine is the form of a step's line. A View has its values; the fields here are never filled.
type stepLine struct {
	Type    string  `json:"type"`
	Version int     `json:"version" form:"min=1"`
	TaskID  string  `json:"task_id" form:"required full"`
	Target  string  `json:"target"`
	Attempt int     `json:"attempt" form:"min=0 max=2147483647"`
	TurnID  int     `json:"turn_id" form:"min=0 max=2147483647"`
	CallID  string  `json:"call_id"`
	Tool    string  `json:"tool" form:"required full"`
	Accept  float64 `json:"accept_time_ms" form:"min=0 max=31622400000"`
	Start   float64 `json:"start_ms" form:"min=0 max=31622400000"`
	Latency struct {
		Queue float64 `json:"queue" form:"min=0 max=31622400000"`
		Exec  float64 `json:"exec" form:"min=0 max=31622400000"`
	} `json:"latency_ms"`
	Args    json.RawMessage  `json:"args"`
	ArgsRaw string           `json:"args_raw"`
	Result  json.RawMessage  `json:"result"`
	Error   json.RawMessage  `json:"error"`
	Status  string           `json:"status" form:"words=ok|rejected_by_contract|exec_error|timeout"`
	Env     string           `json:"env"`
	Guard   []callvet.Ruling `json:"guard"`
	Gold    struct {
		Needed  bool                       `json:"needed"`
		Tool    string                     `json:"tool"`
		Args    json.RawMessage            `json:"args"`
		Params  map[string]json.RawMessage `json:"params"`
		Scoring callvet.Comparison         `json:"scoring"`
		Result  json.RawMessage            `json:"result"`
		Check   string                     `json:"result_check"`
	} `json:"gold"`
	Tags     []string                   `json:"tags"`
	Fields   map[string]json.RawMessage `json:"fields"`
	Corrects bool                       `json:"corrects"`
}

// taskLine is the form of a task record's line.
type taskLine struct {
	Type    string `json:"type"`
	Version int    `json:"version" form:"min=1"`
	Task
}

// The members that a View contains, as positions in lineNames.
const (
	nameTaskID = iota
	nameTarget
	nameAttempt
	nameTags
	nameFields
	nameTurnID
	nameCallID
	nameTool
	nameArgs
	nameArgsRaw
	nameAccept
	nameStart
	nameResult
	nameError
	nameLatency
	nameStatus
	nameEnv
	nameGold
	nameCorrects
	nameGuard
	nameQueue
	nameExec
	nameNeeded
	nameParams
	nameScoring
	nameCheck
	viewNames // how many
)

// lineNames are the value.Doc.Names for reading a View's line.
func lineNames() *value.Names {
	names := [viewNames]string{
		nameTaskID: "task_id", nameTarget: "target", nameAttempt: "attempt", nameTags: "tags", nameFields: "fields",
		nameTurnID: "turn_id", nameCallID: "call_id", nameTool: "tool", nameArgs: "args", nameArgsRaw: "args_raw",
		nameAccept: "accept_time_ms", nameStart: "start_ms", nameResult: "result", nameError: "error",
		nameLatency: "latency_ms", nameStatus: "status", nameEnv: "env", nameGold: "gold", nameCorrects: "corrects",
		nameGuard: "guard", nameQueue: "queue", nameExec: "exec", nameNeeded: "needed", nameParams: "params",
		nameScoring: "scoring", nameCheck: "result_check",
	}
	return value.NamesOf(names[:])
}

// forms are the forms for checking lines.
type forms struct{ step, task *doc.Type }

// newForms compiles the forms. Null means "not recorded" everywhere in a line.
func newForms() forms {
	return forms{doc.Of[stepLine]().WithNulls(), doc.Of[taskLine]().WithNulls()}
}

// check returns the form of a record, or why the line is not a record. Unknown members are passed
// to strange: the line is used without them.
func (f forms) check(root value.Value, strange func(doc.Unknown)) (form *doc.Type, err error) {
	if root.Kind() != value.Object {
		return nil, fmt.Errorf("the line is %s, not an object", doc.WithArticle(root.Kind()))
	}
	form = f.step
	switch kind, found := root.Get("type"); {
	case !found || string(kind.Bytes()) == "step":
	case kind.Kind() != value.String:
		return nil, fmt.Errorf(`"type" is %s, not a string`, doc.WithArticle(kind.Kind()))
	case string(kind.Bytes()) != "task":
		return nil, fmt.Errorf(`"type" is %q; it must be step or task`, kind.Str())
	default:
		form = f.task
	}
	if n, ok := root.Get("version"); ok {
		if x, ok := n.Float(); ok && x > Version {
			return nil, fmt.Errorf("the record is of version %s; this callvet reads up to %d", n.Raw(), Version)
		}
	}
	if w := form.Check(root, strange); w != nil {
		return nil, w
	}
	return form, nil
}
