// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// request builds the body to send and the stored body: without secrets, and with a hash in place
// of the tools.
func (h *httpAgent) request(req *callvet.Request) (body []byte, shown json.RawMessage, err error) {
	p := &h.preset
	msg, alone := lastUser(req.Turns)
	if !alone && p.history == "" {
		return nil, nil, &callvet.Fault{
			Kind:    callvet.FaultUnsupport,
			Message: "the case has a conversation before its last message, and the agent takes one message: set the history field",
		}
	}
	id := session(h.cfg.SessionPrefix, req)
	type placed struct {
		path string
		v    any
	}
	own := []placed{{p.input, msg}}
	for _, path := range p.sessions {
		own = append(own, placed{path, id})
	}
	if p.history != "" {
		own = append(own, placed{p.history, p.messages(req.Turns, id)})
	}
	if req.System != "" {
		own = append(own, placed{h.cfg.SystemField, req.System})
	}
	if len(req.Stubs) > 0 {
		own = append(own, placed{h.cfg.StubsField, req.Stubs})
	}
	write := func(fields map[string]json.RawMessage, tools any) ([]byte, error) {
		full, err := h.template(fields)
		if err != nil {
			return nil, err
		}
		list := slices.Clip(own)
		if req.Tools != nil {
			list = append(list, placed{h.cfg.ToolsField, tools})
		}
		for _, o := range list {
			if o.path == "" {
				continue
			}
			if slices.Contains(strings.Split(o.path, "."), "") {
				return nil, fmt.Errorf("put %s: a part of the path is empty", o.path)
			}
			if full, err = put(full, strings.Split(o.path, "."), o.v); err != nil {
				return nil, fmt.Errorf("put %s: %w", o.path, err)
			}
		}
		return json.Marshal(full)
	}
	if body, err = write(h.body, tools(req.Tools)); err == nil {
		shown, err = write(h.cfg.Body, toolsRef(req.Tools))
	}
	if err != nil {
		return nil, nil, &callvet.Fault{Kind: callvet.FaultRequest, Message: "write the request: " + err.Error()}
	}
	return body, json.RawMessage(h.secrets.hide(string(shown))), nil
}

// template is the body before values are filled in: the preset's, overridden by the fields of the
// settings.
func (h *httpAgent) template(fields map[string]json.RawMessage) (any, error) {
	out, err := decoded([]byte(cmp.Or(h.preset.body, "{}")))
	if err != nil {
		return nil, err
	}
	for k, raw := range fields {
		v, err := decoded(raw)
		if err != nil {
			return nil, err
		}
		out = over(out, map[string]any{k: v})
	}
	return out, nil
}

// decoded reads JSON and keeps its numbers as they were written.
func decoded(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// lastUser is the text of the last user turn; alone: there is no other turn.
func lastUser(turns []callvet.Turn) (text string, alone bool) {
	n := 0
	for _, t := range turns {
		if t.Role == callvet.RoleUser {
			text = t.Content
		}
		if t.Role != callvet.RoleSystem {
			n++
		}
	}
	return text, n == 1
}

// session is the id of an attempt of a run: stable and unique.
func session(prefix string, req *callvet.Request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", prefix, req.CaseID, req.Repeat))
	return "callvet-" + hex.EncodeToString(sum[:8])
}

type msg struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Name       string     `json:"name,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// messages returns the conversation in the form of chat completions.
func messages(system string, turns []callvet.Turn) []msg {
	out := make([]msg, 0, len(turns)+1)
	if system != "" {
		out = append(out, msg{Role: "system", Content: system})
	}
	for _, t := range turns {
		m := msg{Role: string(t.Role), Content: t.Content, ToolCallID: t.CallID}
		if t.Role == callvet.RoleTool {
			m.Name = t.Tool
		}
		for i, c := range t.Calls {
			tc := toolCall{ID: c.ID, Type: "function"}
			if tc.ID == "" {
				tc.ID = fmt.Sprintf("call_%d", i)
			}
			tc.Function.Name, tc.Function.Arguments = c.Tool, string(c.Args)
			if c.Args == nil {
				tc.Function.Arguments = c.ArgsRaw
			}
			m.ToolCalls = append(m.ToolCalls, tc)
		}
		out = append(out, m)
	}
	return out
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	} `json:"function"`
}

func tools(ts *callvet.Toolset) []tool {
	if ts == nil {
		return []tool{}
	}
	out := make([]tool, len(ts.Tools))
	for i, t := range ts.Tools {
		out[i].Type = "function"
		out[i].Function.Name, out[i].Function.Description, out[i].Function.Parameters = t.Name, t.Description,
			t.Parameters
	}
	return out
}

func toolsRef(ts *callvet.Toolset) any {
	if ts == nil {
		return []tool{}
	}
	return map[string]string{"$tools": ts.Hash}
}
