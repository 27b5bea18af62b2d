// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"

	"github.com/callvet/callvet"
)

// Attempt is the input of a suite's own scorer: one attempt at one case. Neither may be changed.
type Attempt struct {
	Case  *callvet.Case
	Trace *callvet.Trace
	// Blind scorers are not shown what the case expects.
	Blind bool
}

// MarshalJSON writes the attempt as expressions and programs see it. All members are always
// present, so that an expression can name them, except expect, unknown usage, and members that
// only some calls have.
func (a *Attempt) MarshalJSON() ([]byte, error) {
	c, t := a.Case, a.Trace
	out := attemptJSON{
		Case: caseJSON{
			ID: c.ID, Description: c.Description, Tier: string(c.Tier), Tags: orEmpty(c.Tags), Fields: c.Fields,
			AsOf: c.AsOf, Prompt: c.Question(), Input: turnsJSON(c.Input), Context: c.Context,
		},
		Target: t.Target, Model: t.Model, Repeat: t.Repeat, Outcome: t.Outcome, End: t.End, Format: t.Format,
		Answer: t.Answer, Turns: turnsJSON(t.Turns), Calls: []callJSON{}, WallMS: t.WallMS,
	}
	if out.Case.Fields == nil {
		out.Case.Fields = map[string]string{}
	}
	if !a.Blind {
		e := c.Expect
		e.Scorers = nil
		out.Case.Expect = &e
	}
	for _, call := range t.Calls() {
		out.Calls = append(out.Calls, ofCall(&call))
	}
	if t.Usage.Known {
		u := t.Usage
		out.Usage = &u
	}
	return json.Marshal(&out)
}

type attemptJSON struct {
	Case    caseJSON        `json:"case"`
	Target  string          `json:"target"`
	Model   string          `json:"model"`
	Repeat  int             `json:"repeat"`
	Outcome callvet.Outcome `json:"outcome"`
	End     callvet.End     `json:"end"`
	Format  callvet.Format  `json:"format"`
	Answer  string          `json:"answer"`
	Calls   []callJSON      `json:"calls"`
	Turns   []turnJSON      `json:"turns"`
	Usage   *callvet.Usage  `json:"usage,omitempty"`
	WallMS  float64         `json:"wall_ms"`
}

type caseJSON struct {
	ID          string            `json:"id"`
	Description string            `json:"description"`
	Tier        string            `json:"tier"`
	Tags        []string          `json:"tags"`
	Fields      map[string]string `json:"fields"`
	AsOf        string            `json:"as_of"`
	Prompt      string            `json:"prompt"`
	Input       []turnJSON        `json:"input"`
	Context     string            `json:"context"`
	Expect      *callvet.Expect   `json:"expect,omitempty"`
}

type turnJSON struct {
	Role    callvet.Role `json:"role"`
	Content string       `json:"content"`
	Calls   []callJSON   `json:"calls,omitempty"`
	CallID  string       `json:"call_id,omitempty"`
	Tool    string       `json:"tool,omitempty"`
}

// callJSON is a call. Args are null where they were not recorded or are no JSON; then ArgsRaw
// contains the emitted payload.
type callJSON struct {
	ID      string          `json:"id,omitempty"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	ArgsRaw string          `json:"args_raw,omitempty"`
	Status  callvet.Status  `json:"status"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
	ExecMS  float64         `json:"exec_ms,omitempty"`
}

func ofCall(c *callvet.Call) callJSON {
	return callJSON{
		ID: c.ID, Tool: c.Tool, Args: orNull(c.Args), ArgsRaw: c.ArgsRaw, Status: c.Status,
		Result: asJSON(c.Result), Error: c.Error, ExecMS: c.ExecMS,
	}
}

func turnsJSON(turns []callvet.Turn) []turnJSON {
	out := make([]turnJSON, len(turns))
	for i := range turns {
		t := &turns[i]
		out[i] = turnJSON{Role: t.Role, Content: t.Content, CallID: t.CallID, Tool: t.Tool}
		for j := range t.Calls {
			out[i].Calls = append(out[i].Calls, ofCall(&t.Calls[j]))
		}
	}
	return out
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil || !json.Valid(raw) {
		return json.RawMessage("null")
	}
	return raw
}

// asJSON is a result unchanged if it is JSON, otherwise as a JSON string.
func asJSON(raw json.RawMessage) json.RawMessage {
	if raw == nil || json.Valid(raw) {
		return raw
	}
	b, err := json.Marshal(string(raw))
	if err != nil { // a text always encodes
		return json.RawMessage("null")
	}
	return b
}
