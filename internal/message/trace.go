// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"

	jsonx "github.com/go-json-experiment/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

func isTrace(v value.Value) bool {
	return kindOf(v, "turns") == value.Array && (has(v, "outcome") || isList(v, "turns", "role")) ||
		has(v, "case_id") && has(v, "target") && has(v, "outcome")
}

// trace reads callvet's own export.
func (d *decoder) trace(v value.Value) {
	var t callvet.Trace
	if err := jsonx.Unmarshal(v.Raw(), &t); err != nil {
		d.refuse("read a trace: %v", doc.Explain(err))
		return
	}
	if t.Fault != nil {
		f := *t.Fault
		f.Retryable = false
		d.fail(&f)
		return
	}
	if t.Outcome == callvet.OutcomeNotRun {
		d.fail(&callvet.Fault{Kind: callvet.FaultMissing, Message: "the recorded attempt was not run"})
		return
	}
	r := d.resp
	r.Turns, r.Usage, r.Model, r.FinishReason = t.Turns, t.Usage, t.Model, t.FinishReason
	r.Repairs, r.ToolChoice = t.Repairs, t.ToolChoice
	r.FirstToken, r.Wall = millis(t.FirstTokenMS), millis(t.WallMS)
	r.Exchanges = t.Exchanges
	if len(r.Turns) == 0 && t.Answer != "" {
		r.Turns = []callvet.Turn{{Role: callvet.RoleAssistant, Content: t.Answer}}
	}
	if r.Notes = t.Notes; t.Outcome == callvet.OutcomeUnparseable {
		r.Why = cmp.Or(t.Reason, callvet.ReasonCall)
	}
	for _, c := range t.Calls() {
		if c.Malformed() {
			r.Why = "" // the call holds the reason itself
		}
	}
}
