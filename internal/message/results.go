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

// Text returns the text of a content: a string, or the texts of its parts one per line.
func Text(v value.Value) string { return textWith(v, "\n") }

// textOf returns a readable text of any value. It is the text of a part, the texts of a list
// without a separator, like the pieces of one answer, or a number or a boolean as written.
func textOf(v value.Value) string {
	switch k := v.Kind(); {
	case k == value.Number || k == value.Bool:
		return string(v.Raw())
	case isText(v):
		return textWith(v, "")
	}
	return ""
}

// textWith is a string as it is, the text of a part or a message, or those of a list with sep between.
func textWith(v value.Value, sep string) string {
	switch v.Kind() {
	case value.String:
		return v.Str()
	case value.Object:
		return textWith(First(v, "text", "content", "refusal", "thinking"), sep)
	case value.Array:
		var texts []string
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			if t := textWith(e, sep); t != "" && isText(e) {
				texts = append(texts, t)
			}
		}
		return strings.Join(texts, sep)
	}
	return ""
}

// isText reports whether a part may be a text: no thought, no call and no result is one.
func isText(part value.Value) bool {
	typ := first(part, "type").Str()
	return typ != "thinking" && typ != "reasoning" && !strings.Contains(typ, "tool_")
}

// separator is what the texts of parts are joined with: those of an answer are pieces of one text, those
// of a kept message are lines.
func (d *decoder) separator() string {
	if d.o.Kept {
		return "\n"
	}
	return ""
}

// textOf is the text of a content of a message or of a part.
func (d *decoder) textOf(v value.Value) string {
	if d.o.Kept {
		return Text(v)
	}
	return textOf(v)
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

// toolFailedText is how a result begins that the OpenAI Agents SDK makes of a tool's error: nothing
// else in it records that.
const toolFailedText = "An error occurred while running the tool"

// resultText is a result as a text: a text as it is, the texts of a list of parts or of one part, other
// values as JSON.
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

// FailedResult marks a tool turn in its Raw as one of a call that failed, until Settle has given that
// to the call.
func FailedResult() json.RawMessage { return json.RawMessage(`{"is_error":true}`) }

// PassedResult is like FailedResult, for a call that is recorded as one that passed, whatever its
// result begins with.
func PassedResult() json.RawMessage { return json.RawMessage(`{"is_error":false}`) }

// Erred reports whether the turn of a tool is one of a call that failed: what is recorded of the
// call decides, else how the result begins.
func Erred(t *callvet.Turn) bool {
	return bytes.Equal(t.Raw, FailedResult()) || t.Raw == nil && match.IsError(t.Content)
}

// Attach gives each call without an answer the turn of a tool that answers it, by id. A turn
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

// Settle gives a call the answer that the turn of a tool has.
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

// ResultJSON is a tool's text as a JSON value: what it holds when it is JSON, else a string. An
// object or a list that can be repaired is JSON.
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
