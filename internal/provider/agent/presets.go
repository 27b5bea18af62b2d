// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// preset is the form of requests and answers of a protocol. Settings of the agent override it.
type preset struct {
	name, protocol string
	body           string // a JSON object
	input, history string // the path of the message, or of all messages
	sessions       []string
	messages       func(turns []callvet.Turn, session string) any
	headers        map[string]string
}

func presets() []preset {
	return []preset{
		{
			name: aiSDK, protocol: aiSDK, body: `{"trigger":"submit-message"}`, history: "messages",
			sessions: []string{"id"}, messages: uiMessages,
		},
		{
			name: agUI, protocol: agUI, body: `{"state":{},"tools":[],"context":[],"forwardedProps":{}}`,
			history: "messages", sessions: []string{"threadId", "runId"}, messages: agMessages,
		},
		{
			name: langGraph, protocol: langGraph, body: `{"assistant_id":"agent","stream_mode":["updates"]}`,
			history: "input.messages", messages: chatMessages,
		},
		{name: openAIAgents, protocol: openAIAgents, input: "message"},
		{
			name: a2a, protocol: a2a, input: "params.message.parts.0.text",
			sessions: []string{"id", "params.message.messageId"}, headers: map[string]string{"A2A-Version": "1.0"},
			body: `{"jsonrpc":"2.0","method":"SendMessage","params":{"message":{"role":"ROLE_USER"}}}`,
		},
		{
			name: "a2a-0.3", protocol: a2a, input: "params.message.parts.0.text",
			sessions: []string{"id", "params.message.messageId"},
			body:     `{"jsonrpc":"2.0","method":"message/send","params":{"message":{"kind":"message","role":"user","parts":[{"kind":"text"}]},"configuration":{"blocking":true}}}`,
		},
	}
}

// presetOf finds a preset; the one with the name "" only posts the message.
func presetOf(name string) (preset, error) {
	if name == "" {
		return preset{input: "message"}, nil
	}
	var names []string
	for _, p := range presets() {
		if p.name == name {
			return p, nil
		}
		names = append(names, p.name)
	}
	hint := "presets: " + strings.Join(names, ", ")
	if near := callvet.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return preset{}, &callvet.Hinted{
		Err:  fmt.Errorf("open agent: there is no preset %q: %w", name, callvet.ErrInvalid),
		Hint: hint,
	}
}

// overrule overrides the preset with the settings of an agent.
func (p *preset) overrule(c *HTTPConfig) {
	if c.InputField != "" {
		p.input, p.history = c.InputField, "" // the message has its own place
	}
	if c.HistoryField != "" {
		p.history = c.HistoryField
		if p.messages == nil {
			p.messages = chatMessages
		}
	}
	if c.SessionField != "" {
		p.sessions = []string{c.SessionField}
	}
}

func chatMessages(turns []callvet.Turn, _ string) any { return messages("", turns) }

// part is a part of a message of the AI SDK's user interface.
type part struct {
	Type       string          `json:"type"`
	Text       string          `json:"text,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	State      string          `json:"state,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     any             `json:"output,omitempty"`
}

// uiMessages writes a conversation as the AI SDK's useChat does: the results of tools are in the
// message that called them.
func uiMessages(turns []callvet.Turn, session string) any {
	type message struct {
		ID    string `json:"id"`
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	out := []message{}
	for i := range turns {
		t := &turns[i]
		if t.Role == callvet.RoleTool {
			continue
		}
		m := message{ID: fmt.Sprintf("%s-%d", session, i), Role: string(t.Role), Parts: []part{}}
		for j := range t.Calls {
			c := &t.Calls[j]
			p := part{
				Type: "tool-" + c.Tool, ToolCallID: cmp.Or(c.ID, fmt.Sprintf("call_%d_%d", i, j)),
				State: "input-available", Input: c.Args,
			}
			if answered := slices.IndexFunc(turns,
				func(o callvet.Turn) bool {
					return o.Role == callvet.RoleTool && o.CallID == c.ID &&
						c.ID != ""
				}); answered >= 0 {
				p.State, p.Output = "output-available", turns[answered].Content
			}
			m.Parts = append(m.Parts, p)
		}
		if t.Content != "" {
			m.Parts = append(m.Parts, part{Type: "text", Text: t.Content})
		}
		out = append(out, m)
	}
	return out
}

// agMessages writes a conversation in the form of AG-UI: like chat completions, with an id for
// each message and its own spelling of names.
func agMessages(turns []callvet.Turn, session string) any {
	type message struct {
		ID         string     `json:"id"`
		Role       string     `json:"role"`
		Content    string     `json:"content"`
		ToolCalls  []toolCall `json:"toolCalls,omitempty"`
		ToolCallID string     `json:"toolCallId,omitempty"`
	}
	out := []message{}
	for i, m := range messages("", turns) {
		out = append(out, message{
			ID: fmt.Sprintf("%s-%d", session, i), Role: m.Role, Content: m.Content,
			ToolCalls: m.ToolCalls, ToolCallID: m.ToolCallID,
		})
	}
	return out
}

// put sets the value at a dotted path of names and list indexes, and creates missing parts.
func put(at any, path []string, v any) (any, error) {
	if len(path) == 0 {
		return v, nil
	}
	place, err := strconv.Atoi(path[0])
	isPlace := err == nil && place >= 0
	switch t := at.(type) {
	case nil:
		if isPlace {
			return put([]any{}, path, v)
		}
		return put(map[string]any{}, path, v)
	case map[string]any:
		in, err := put(t[path[0]], path[1:], v)
		t[path[0]] = in
		return t, err
	case []any:
		if !isPlace || place > len(t) {
			return nil, fmt.Errorf("%q is no place in a list of %d", path[0], len(t))
		}
		if place == len(t) {
			t = append(t, nil)
		}
		in, err := put(t[place], path[1:], v)
		t[place] = in
		return t, err
	}
	return nil, fmt.Errorf("%q would be inside of a value that is no object and no list", path[0])
}

// over merges one JSON value into another: members of objects are joined, everything else is
// replaced.
func over(under, top any) any {
	a, ok := under.(map[string]any)
	b, also := top.(map[string]any)
	if !ok || !also {
		return top
	}
	for k, v := range b {
		if u, there := a[k]; there {
			v = over(u, v)
		}
		a[k] = v
	}
	return a
}
