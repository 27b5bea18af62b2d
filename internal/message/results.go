// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

func resultKeys() []string {
	return []string{"result", "output", "tool_result", "toolResult", "tool_output", "response"}
}

// calledBy reads a part that is a call, with the turn of a result that is in it.
func (d *decoder) calledBy(e value.Value) (c callvet.Call, results []callvet.Turn) {
	if c = d.one(e); d.o.Kept {
		if in, ok := wrapped(e); ok {
			e = in
		}
		d.outcome(e, &c)
	}
	return c, ToolTurns([]callvet.Call{c})
}

// outcomeOf is outcome for calls in lists. For a kept call the caller or other turns contain the
// outcome.
func (d *decoder) outcomeOf(e value.Value, c *callvet.Call) {
	if !d.o.Kept {
		d.outcome(e, c)
	}
}

// outcome adds the end of the call, where the record contains it.
func (d *decoder) outcome(e value.Value, c *callvet.Call) {
	if s, ok := e.Get("status"); ok {
		switch st := callvet.Status(s.Str()); st {
		case callvet.StatusOK, callvet.StatusRejected, callvet.StatusExecErr, callvet.StatusTimeout:
			c.Status = st
		}
	}
	if r, ok := d.member(e, d.o.Fields.Result, resultKeys()); ok && r.Kind() != value.Null {
		if c.Status == "" && match.IsError(r.Str()) && !match.Passed(e) {
			c.Status, c.Error = callvet.StatusExecErr, r.Str()
			return
		}
		if c.Result = json.RawMessage(r.Raw()); d.o.Kept {
			c.Result = ResultJSON(resultText(r, d.separator()))
		}
		if c.Status == "" {
			c.Status = callvet.StatusOK
		}
	}
	if x, ok := d.member(e, d.o.Fields.Problem, []string{"error", "errorText"}); ok && truthy(x) {
		if c.Error = ProblemOf(e); x.Kind() != value.Bool && textOf(x) != "" {
			c.Error = textOf(x)
		}
		c.Error = cmp.Or(c.Error, match.NoReason)
	} else if c.Error = ProblemOf(e); c.Error == "" {
		return
	}
	if c.Status == "" || c.Status == callvet.StatusOK {
		c.Status = callvet.StatusExecErr
	}
}

// ProblemOf returns why a call failed, from a record of the call, of its result, or from a message
// with a result. It returns "" when the record reports no failure. A status "error" or "failed" is
// a failure, in addition to what match.Failed reads: here it is the status of the call.
func ProblemOf(v value.Value) string {
	if status := first(v, "status").Str(); !match.Failed(v) && status != "error" && status != "failed" {
		return ""
	}
	return cmp.Or(match.Reason(v), match.NoReason)
}

// took adds the time that the call took.
func (d *decoder) took(e value.Value, c *callvet.Call) {
	if ms, ok := firstOf(e, "exec_ms", "duration_ms", "durationMs", "latency_ms", "latencyMs"); ok {
		c.ExecMS, _ = ms.Float()
	}
}

// result is the turn of a tool for a part or an item with a result.
func (d *decoder) result(e value.Value) callvet.Turn {
	keys := answerKeys()
	if in := resultIn(e); d.o.Kept || in != e { // else a part may have an id of its own
		e, keys = in, append(keys, "id")
	}
	body, _ := firstOf(e, append(resultKeys(), "content", "error")...)
	t := callvet.Turn{Role: callvet.RoleTool, CallID: Str(e, keys...), Tool: Str(e, "name", "toolName"), Raw: recorded(e)}
	switch typ := first(body, "type").Str(); typ { // what the AI SDK and the OpenAI Agents SDK put around it
	case "error-text", "error-json", "execution-denied":
		t.Raw = FailedResult()
		body = first(body, "value", "reason")
	case "text", "json", "content":
		body = first(body, "value", "text")
	}
	t.Content = resultText(body, d.separator())
	switch strings.ReplaceAll(first(e, "type").Str(), "-", "_") {
	case "tool_error":
		t.Raw = FailedResult()
		if body.Kind() == value.Object { // an Error has no members in JSON
			t.Content = cmp.Or(textOf(first(body, "message")), match.NoReason)
		}
	case "function_call_result", "function_call_output":
		if strings.HasPrefix(t.Content, toolFailedText) {
			t.Raw = FailedResult()
		}
	}
	return t
}

// resultIn returns the result inside the object that Gemini and Amazon Bedrock put around it.
func resultIn(e value.Value) value.Value {
	if in := First(e, "functionResponse", "function_response", "toolResult"); in.Kind() == value.Object {
		return in
	}
	return e
}

// toolFailedText is the beginning of a result that the OpenAI Agents SDK makes from a tool's
// error: nothing else in the result records the error.
const toolFailedText = "An error occurred while running the tool"

// resultText is a result as a text: a text unchanged, the texts of a list of parts or of one
// part, other values as JSON.
func resultText(v value.Value, sep string) string {
	switch v.Kind() {
	case value.Invalid:
		return ""
	case value.Array, value.Object:
		if t := textWith(v, sep); t != "" && (v.Kind() == value.Array || Str(v, "type") == "text") {
			return t
		}
	}
	return written(v)
}

// recorded is FailedResult or PassedResult where a result records either, nil where it records
// neither.
func recorded(v value.Value) json.RawMessage {
	switch {
	case ProblemOf(v) != "":
		return FailedResult()
	case match.Passed(v):
		return PassedResult()
	}
	return nil
}

// FailedResult marks in the Raw of a tool turn that its call failed, until Settle has copied this
// to the call.
func FailedResult() json.RawMessage { return json.RawMessage(`{"is_error":true}`) }

// PassedResult is like FailedResult, for a call that is recorded as passed, whatever its result
// begins with.
func PassedResult() json.RawMessage { return json.RawMessage(`{"is_error":false}`) }

// Erred reports whether the call of a tool turn failed: by the record of the call, or else by the
// beginning of the result.
func Erred(t *callvet.Turn) bool {
	return bytes.Equal(t.Raw, FailedResult()) || t.Raw == nil && match.IsError(t.Content)
}

// Attach joins each call without an answer with the tool turn that answers it, by id. A turn
// without an id answers the earliest call (of the same tool where the turn names one).
func Attach(turns []callvet.Turn) []callvet.Turn {
	var open []*callvet.Call
	for i := range turns {
		t := &turns[i]
		for j := range t.Calls {
			if c := &t.Calls[j]; c.Result == nil && c.Error == "" {
				open = append(open, c)
			}
		}
		if t.Role != callvet.RoleTool {
			continue
		}
		for k, c := range open {
			if t.CallID != "" && c.ID != t.CallID || t.CallID == "" && t.Tool != "" && c.Tool != t.Tool {
				continue
			}
			Settle(c, t)
			open = append(open[:k], open[k+1:]...)
			break
		}
		t.Raw = nil
	}
	return turns
}

// Settle copies the answer in a tool turn to its call.
func Settle(c *callvet.Call, t *callvet.Turn) {
	failed := Erred(t)
	t.Raw, t.Tool, t.CallID = nil, c.Tool, cmp.Or(t.CallID, c.ID)
	if failed {
		c.Status, c.Error = callvet.StatusExecErr, cmp.Or(t.Content, match.NoReason)
		return
	}
	if c.Status == "" {
		c.Status = callvet.StatusOK
	}
	c.Result = ResultJSON(t.Content)
}

// ResultJSON is a tool's text as a JSON value: the parsed value if it is JSON, else a string. An
// object or a list that can be repaired counts as JSON.
func ResultJSON(text string) json.RawMessage {
	in := []byte(text)
	if value.Valid(in) {
		return in
	}
	if t := bytes.TrimLeft(in, " \t\r\n"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		if strict, _, ok := value.Repair(in); ok {
			return strict
		}
	}
	b, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return nil
	}
	return b
}

// ToolTurns are the tool turns for those calls that have a result or an error.
func ToolTurns(calls []callvet.Call) []callvet.Turn {
	var out []callvet.Turn
	for _, c := range calls {
		switch {
		case c.Result != nil:
			out = append(out,
				callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: plainText(c.Result)})
		case c.Error != "":
			out = append(out, callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: c.Error})
		}
	}
	return out
}

// plainText is a JSON string's text, any other JSON unchanged.
func plainText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
