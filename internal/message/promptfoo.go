// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func isPromptfoo(v value.Value) bool {
	return has(v, "response") && (has(v, "promptIdx") || has(v, "testIdx")) || has(v, "failureReason")
}

// promptfoo reads one result row: its output is a text, an object with a message
// or a list of calls.
func (d *decoder) promptfoo(v value.Value) {
	resp, _ := v.Get("response")
	out, ok := resp.Get("output")
	if e, failed := v.Get("error"); failed && truthy(e) && !ok {
		d.fail(faultOf(e, 0)) // with an output it is an assertion that failed
		return
	}
	if e, failed := resp.Get("error"); failed && truthy(e) {
		d.fail(faultOf(e, 0))
		return
	}
	if !ok {
		d.fail(&callvet.Fault{Kind: callvet.FaultMissing, Message: "the result row has no output"})
		return
	}
	d.output(out)
	d.ends(resp)
	d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(first(resp, "raw")))
	if flagged := first(first(resp, "guardrails"), "flagged"); flagged.Kind() == value.Bool && flagged.Bool() {
		d.resp.FinishReason = "guardrail_intervened"
	}
	d.resp.Usage = usageOf(resp)
	var r UsageReader
	if c := r.USD(v, "cost"); c != nil && *c > 0 { // 0 is also written for providers without prices
		d.resp.Usage.CostUSD = c
	}
}

// output reads what a provider function of promptfoo returned. A text that is JSON of calls,
// parts or a message is read as such.
func (d *decoder) output(out value.Value) {
	if out.Kind() == value.String {
		var doc value.Doc
		if b := out.Bytes(); len(b) > 1 && (b[0] == '[' || b[0] == '{') && doc.Parse(b) == nil &&
			d.shapely(doc.Root()) {
			d.content(doc.Root())
			return
		}
	}
	d.content(out)
}

// shapely reports whether JSON in a string is an answer of its own: a list of calls, parts
// or messages, a call, or a message.
func (d *decoder) shapely(v value.Value) bool {
	if v.Kind() == value.Array {
		e, ok := v.First()
		return ok && (has(e, "type") || d.isAnswer(e))
	}
	return d.isAnswer(v)
}
