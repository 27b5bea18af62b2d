// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/callvet/callvet"
)

// request builds the body to send and the one to keep: without secrets, and
// with the tools as their hash.
func (h *httpAgent) request(req *callvet.Request) (body []byte, shown json.RawMessage, err error) {
	msg, alone := lastUser(req.Turns)
	if !alone && h.cfg.HistoryField == "" {
		return nil, nil, &callvet.Fault{
			Kind:    callvet.FaultUnsupport,
			Message: "the case has a conversation before its last message, and the agent takes one message: set the history field",
		}
	}
	own := map[string]any{h.cfg.InputField: msg}
	if f := h.cfg.SessionField; f != "" {
		own[f] = session(h.cfg.SessionPrefix, req)
	}
	if f := h.cfg.HistoryField; f != "" {
		own[f] = messages("", req.Turns)
	}
	if f := h.cfg.SystemField; f != "" && req.System != "" {
		own[f] = req.System
	}
	if f := h.cfg.StubsField; f != "" && len(req.Stubs) > 0 {
		own[f] = req.Stubs
	}
	full, kept := maps.Clone(own), maps.Clone(own)
	for k, v := range h.body {
		full[k] = v
	}
	for k, v := range h.cfg.Body {
		kept[k] = v
	}
	if f := h.cfg.ToolsField; f != "" && req.Tools != nil {
		full[f], kept[f] = tools(req.Tools), toolsRef(req.Tools)
	}
	if body, err = json.Marshal(full); err == nil {
		shown, err = json.Marshal(kept)
	}
	if err != nil {
		return nil, nil, &callvet.Fault{Kind: callvet.FaultRequest, Message: "write the request: " + err.Error()}
	}
	return body, json.RawMessage(h.secrets.hide(string(shown))), nil
}

// lastUser is the text of the last user turn; alone tells that nothing else was said.
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

// session is the same for the same attempt of the same run, and for no other.
func session(prefix string, req *callvet.Request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", prefix, req.CaseID, req.Repeat))
	return "callvet-" + hex.EncodeToString(sum[:8])
}

type message struct {
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

// messages gives the conversation in the form of chat completions.
func messages(system string, turns []callvet.Turn) []message {
	out := make([]message, 0, len(turns)+1)
	if system != "" {
		out = append(out, message{Role: "system", Content: system})
	}
	for _, t := range turns {
		m := message{Role: string(t.Role), Content: t.Content, ToolCallID: t.CallID}
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
		out[i].Function.Name, out[i].Function.Description, out[i].Function.Parameters = t.Name, t.Description, t.Parameters
	}
	return out
}

func toolsRef(ts *callvet.Toolset) any {
	if ts == nil {
		return []tool{}
	}
	return map[string]string{"$tools": ts.Hash}
}
